package syntax_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Split first, decode once, then parse (OData-URL 2.2).
func TestDecoding(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plus is a space", "$filter=a+eq+'b+c'", "filter (a eq 'b c')"},
		{"encoded plus is a plus", "$filter=a eq 'b%2Bc'", "filter (a eq 'b+c')"},
		{"encoded percent is decoded once", "$filter=a eq '%2541'", "filter (a eq '%41')"},
		{"encoded quote delimits", "$filter=a eq %27b%27%27c%27", "filter (a eq 'b''c')"},
		{"encoded ampersand is data", "$filter=a eq 'b%26$top=1'", "filter (a eq 'b&$top=1')"},
		{"encoded equals sign is data", "$filter=a eq 'b%3Dc=d'", "filter (a eq 'b=c=d')"},
		{"semicolon is data", "$filter=a eq 'b;c'&$top=1", "filter (a eq 'b;c'); top 1"},
		{"encoded tab separates", "$filter=a%09eq%091", "filter (a eq 1)"},
		{"encoded letters", "%24fi%6cter=%61%20eq%201", "filter (a eq 1)"},
		{"small hexadecimal digits", "$filter=a eq '%c3%a4'", "filter (a eq 'ä')"},
		{"unencoded text beyond ASCII", "$filter=a eq 'ä'", "filter (a eq 'ä')"},
		{"line break in text", "$filter=a eq 'b%0D%0Ac'", "filter (a eq 'b\r\nc')"},
		{"control characters in text", "$filter=a eq 'it''s%01%7F'", "filter (a eq 'it''s\x01\x7f')"},
		{"question mark and slash", "$filter=a eq 'b/c?d'", "filter (a eq 'b/c?d')"},
		{"plus as the sign of an offset", "$filter=a eq 2012-09-03T12:53+01:00", "filter (a eq 2012-09-03T12:53+01:00)"},
		{"encoded sign of an offset", "$filter=a eq 2012-09-03T12:53%2B01:00", "filter (a eq 2012-09-03T12:53+01:00)"},
		{"plus as the sign of an exponent", "$filter=a eq 1e+5", "filter (a eq 1e5)"},
		{"encoded sign of a number", "$filter=a eq %2B5", "filter (a eq 5)"},
		{"encoded colon", "$filter=a eq 11%3A22", "filter (a eq 11:22)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, err := parseQuery(tt.in, v40)
			if err != nil {
				t.Fatal(err)
			}
			if got := showQuery(q); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDecodingRejected(t *testing.T) {
	tests := []struct {
		name, in string
		pos      int
		code     string
		msg      string
	}{
		{"percent sign alone", "A?a=100%", 7, "encoding", "a percent sign itself is %25"},
		{"percent signs only", "%%%", 0, "encoding", "two hexadecimal digits"},
		{"one digit", "A?a=%4", 4, "encoding", "two hexadecimal digits"},
		{"no digits", "A?a=%zz", 4, "encoding", "two hexadecimal digits"},
		{"in the path", "A('%')", 3, "encoding", "two hexadecimal digits"},
		{"NUL", "A?a=%00", 4, "encoding", "control character U+0000"},
		{"NUL in the path", "A(%00)", 2, "encoding", "control character U+0000"},
		{"NUL behind escapes", "A?%61=%20%00", 9, "encoding", "control character U+0000"},
		{"NUL in a string", "A?a='%00'", 5, "encoding", "control character U+0000"},
		{"control character behind a string", "A?a='it''s%01'%01", 14, "encoding", "control character U+0001"},
		{"escape", "A?a=\x1b", 4, "encoding", "control character U+001B"},
		{"delete", "A?a=%7F", 4, "encoding", "control character U+007F"},
		{"not UTF-8", "A?a=%C3%A4&b=%FF", 13, "encoding", "not valid UTF-8"},
		{"overlong UTF-8", "A?a=%C0%AF", 4, "encoding", "not valid UTF-8"},
		{"surrogate in UTF-8", "A?a=%ED%A0%80", 4, "encoding", "not valid UTF-8"},
		{"raw byte", "A?a=\xff", 4, "encoding", "not valid UTF-8"},
		{"blank in place of the sign", "A?$filter=a eq 2012-09-03T12:53%2001:00", 31, "malformed", "sent as %2B"},
		{"line break between words", "A?$filter=a%0Aeq 1", 11, "malformed", "unexpected text"},
		{"fragment", "A?a=b#c", 5, "malformed", "sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := syntax.Parse(tt.in, v40)
			if tt.name == "fragment" {
				wantError(t, err, tt.pos, tt.code, "%23")
				return
			}
			wantError(t, err, tt.pos, tt.code, tt.msg)
		})
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		name string
		in   string
		o    syntax.Options
		ok   bool
	}{
		{"length reached", "A?a=" + strings.Repeat("b", 65532), v40, true},
		{"length passed", "A?a=" + strings.Repeat("b", 65533), v40, false},
		{"own length passed", "A?a=b", syntax.Options{MaxLength: 4}, false},
		{"depth reached", "A?$filter=" + strings.Repeat("(", 49) + "a" + strings.Repeat(")", 49), v40, true},
		{"depth passed", "A?$filter=" + strings.Repeat("(", 50) + "a" + strings.Repeat(")", 50), v40, false},
		{"not", "A?$filter=" + strings.Repeat("not ", 1000) + "a", v40, false},
		{"minus", "A?$filter=" + strings.Repeat("-", 1000) + "a", v40, false},
		{"calls", "A?$filter=" + strings.Repeat("trim(", 1000) + "a", v40, false},
		{"casts", "A?$filter=" + strings.Repeat("cast(", 1000) + "a", v40, false},
		{"cases", "A?$filter=" + strings.Repeat("case(", 1000) + "a", v40, false},
		{"lambdas", "A?$filter=" + strings.Repeat("a/any(x:", 1000) + "a", v40, false},
		{"arrays", "A?$filter=" + strings.Repeat("[", 1000), v40, false},
		{"objects", "A?$filter=" + strings.Repeat(`{"a":`, 1000), v40, false},
		{"lists", "A?$filter=" + strings.Repeat("a in (", 1000), v40, false},
		{"arguments", "A?$filter=" + strings.Repeat("f(a=", 1000), v40, false},
		{"expands", "A?$expand=" + strings.Repeat("a($expand=", 1000), v40, false},
		{"selects", "A?$select=" + strings.Repeat("a($select=", 1000), v40, false},
		{"counts", "A?$filter=" + strings.Repeat("a/$count($filter=", 1000), v40, false},
		{"search groups", "A?$search=" + strings.Repeat("(", 1000) + "a", v40, false},
		{"search NOT", "A?$search=" + strings.Repeat("NOT ", 1000) + "a", v40, false},
		{"nodes reached", "A?$filter=a" + strings.Repeat(" or a", 3), syntax.Options{MaxNodes: 8}, true},
		{"nodes passed", "A?$filter=a" + strings.Repeat(" or a", 4), syntax.Options{MaxNodes: 9}, false},
		{"nodes over all options", "A?$filter=a eq 1&$orderby=b", syntax.Options{MaxNodes: 4}, false},
		{"long path", "A" + strings.Repeat("/a", 1000), v40, false},
		{"long path in an expression", "A?$filter=a" + strings.Repeat("/a", 1000), v40, false},
		{"many items", "A?$filter=a in (1" + strings.Repeat(",1", 1000) + ")", v40, false},
		{"many aliases", "A?@a=1" + strings.Repeat("&@b=1", 1000), v40, false},
		{"many words", "A?$search=a" + strings.Repeat(" a", 1000), v40, false},
		{"many incomplete words", "A?$search='a" + strings.Repeat(" a", 1000) + "'", v40, false},
		{"many custom options", "A?a=1" + strings.Repeat("&a=1", 10000), v40, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := syntax.Parse(tt.in, tt.o)
			if (err == nil) != tt.ok {
				t.Fatalf("got %v", err)
			}
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"A?$filter=Name Eq 'x'", `operators are lower case in OData 4.0: write eq (at position 15: "Eq 'x'")`},
		{"A?$filter=contains(Name,'x'", `expected ')' or "," behind an argument of contains (at position 27, the end)`},
		{"A?$top=" + strings.Repeat("%41", 20), `$top must be a whole number, 0 or more, without a sign (at position 7: "%41%41%41%41%41%41%41%41…")`},
		{"A?$" + strings.Repeat("ä", 100) + "=1", "unknown option $" + strings.Repeat("ä", 49) + "…; custom options start neither with $ nor with @ (at position 2: \"$" + strings.Repeat("ä", 11) + "…\")"},
	}
	for _, tt := range tests {
		_, err := syntax.Parse(tt.in, v40)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}
