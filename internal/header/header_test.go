package header_test

import (
	"slices"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/internal/header"
)

func TestParsePrefer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		size  int64
		cont  bool
	}{
		{"nothing", nil, 0, false},
		{"prefixed", []string{"odata.maxpagesize=50"}, 50, false},
		{"plain", []string{"maxpagesize=50"}, 50, false},
		{"plain wins when last", []string{"odata.maxpagesize=5, maxpagesize=7"}, 7, false},
		{"plain wins when first", []string{"maxpagesize=7, odata.maxpagesize=5"}, 7, false},
		{"bad plain leaves prefixed", []string{"maxpagesize=x, odata.maxpagesize=5"}, 5, false},
		{"two lines", []string{"return=minimal", "odata.maxpagesize=9"}, 9, false},
		{"first of two counts", []string{"odata.maxpagesize=3,odata.maxpagesize=4"}, 3, false},
		{"case of the name", []string{"OData.MaxPageSize=12"}, 12, false},
		{"blanks", []string{" odata.maxpagesize = 12 ; x=y , wait=3"}, 12, false},
		{"quoted", []string{`odata.maxpagesize="12"`}, 12, false},
		{"comma in a quoted value", []string{`odata.include-annotations="a,odata.maxpagesize=3",maxpagesize=4`}, 4, false},
		{"zero", []string{"odata.maxpagesize=0"}, 0, false},
		{"negative", []string{"odata.maxpagesize=-1"}, 0, false},
		{"plus sign", []string{"odata.maxpagesize=+5"}, 0, false},
		{"leading zero", []string{"odata.maxpagesize=05"}, 0, false},
		{"fraction", []string{"odata.maxpagesize=5.0"}, 0, false},
		{"no value", []string{"odata.maxpagesize"}, 0, false},
		{"largest", []string{"odata.maxpagesize=9223372036854775807"}, 9223372036854775807, false},
		{"over int64", []string{"odata.maxpagesize=9223372036854775808"}, 0, false},
		{"continue", []string{"odata.continue-on-error"}, 0, true},
		{"continue plain true", []string{"continue-on-error=true"}, 0, true},
		{"continue false", []string{"continue-on-error=false"}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := header.ParsePrefer(tt.lines)
			got.IncludeAnnotations, got.Return, got.StopOnError = "", "", false // see TestOtherPreferences
			want := header.Preferences{MaxPageSize: tt.size, ContinueOnError: tt.cont}
			if got != want {
				t.Errorf("ParsePrefer(%q) = %+v, want %+v", tt.lines, got, want)
			}
		})
	}
}

func TestOtherPreferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want header.Preferences
	}{
		{"continue-on-error=false", header.Preferences{StopOnError: true}},
		{"odata.continue-on-error=FALSE", header.Preferences{StopOnError: true}},
		{"omit-values=nulls", header.Preferences{OmitNulls: true}},
		{"omit-values=defaults", header.Preferences{}},
		{`odata.include-annotations="*"`, header.Preferences{IncludeAnnotations: "*"}},
		{"return=minimal, return=representation", header.Preferences{Return: "minimal"}},
		{"Return=representation", header.Preferences{Return: "representation"}},
		{"return=all", header.Preferences{}},
		{`include-annotations="a.*,-b.*"`, header.Preferences{IncludeAnnotations: "a.*,-b.*"}},
	}
	for _, tt := range tests {
		if got := header.ParsePrefer([]string{tt.line}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.line, got, tt.want)
		}
	}
}

func TestAcceptJSON(t *testing.T) {
	t.Parallel()
	const minimal = "application/json;odata.metadata=minimal"
	tests := []struct{ name, accept, want string }{
		{"anything", "*/*", minimal},
		{"application", "application/*", minimal},
		{"json", "application/json", minimal},
		{"UI5", "application/json;odata.metadata=minimal;IEEE754Compatible=true", minimal + ";IEEE754Compatible=true"},
		{"full", "application/json;odata.metadata=full", "application/json;odata.metadata=full"},
		{"short name", "application/json;metadata=none", "application/json;odata.metadata=none"},
		{"spaces and case", "Application/JSON ; OData.Metadata=None ; charset=UTF-8", "application/json;odata.metadata=none"},
		{"streaming", "application/json;odata.streaming=true", minimal + ";odata.streaming=true"},
		{"streaming of 4.01", "application/json;streaming=true;IEEE754Compatible=true", minimal + ";odata.streaming=true;IEEE754Compatible=true"},
		{"no streaming", "application/json;odata.streaming=false", minimal},
		{"exponents", "application/json;ExponentialDecimals=true", minimal},
		{"behind the quality", "application/json;q=0.5;level=1", minimal},
		{"browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", minimal},
		{"quality", "application/json;odata.metadata=none;q=0.2, application/json;odata.metadata=full;q=0.9", "application/json;odata.metadata=full"},
		{"next range", "application/json;odata.metadata=verbose, application/json;q=0.1", minimal},
		{"xml only", "application/xml", ""},
		{"unknown level", "application/json;odata.metadata=verbose", ""},
		{"charset", "application/json;charset=latin1", ""},
		{"quality zero", "application/json;q=0", ""},
		{"quality zero and anything", "application/json;q=0, */*", ""},
		{"quality zero of a wider range", "application/json, */*;q=0", minimal},
		{"quality zero of one level", "application/json;odata.metadata=full;q=0, application/json", minimal},
		{"quality zero of what would be sent", "application/json;odata.metadata=minimal;q=0, application/json;odata.metadata=full;q=0.1", "application/json;odata.metadata=full"},
		{"unknown parameter", "application/json;foo=bar", ""},
		{"unknown parameter and less", "application/json;odata=verbose, application/json;q=0.5", minimal},
		{"unknown streaming", "application/json;odata.streaming=maybe", ""},
		{"bad quality", "application/json;q=NaN", ""},
		{"garbage", "json", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, ok := header.ParseAccept([]string{tt.accept}).JSON()
			got := ""
			if ok {
				got = j.ContentType()
			}
			if got != tt.want {
				t.Errorf("%q gives %q, want %q", tt.accept, got, tt.want)
			}
		})
	}
	if _, ok := header.ParseAccept(nil).JSON(); !ok {
		t.Error("a request without Accept gets no JSON")
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	tests := []struct{ format, want string }{
		{"json", "application/json"},
		{"JSON", "application/json"},
		{"xml", "application/xml"},
		{"application/json;odata.metadata=full", "application/json"},
		{"atom", ""},
		{"csv", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got := header.ParseFormat(tt.format).Best("application/xml", "application/json")
		if got != tt.want {
			t.Errorf("$format=%s gives %q, want %q", tt.format, got, tt.want)
		}
	}
}

func TestBestPrefersFirstOffer(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, accept, want string }{
		{"wildcard", "*/*", "application/json"},
		{"browser", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html"},
		{"specific before wildcard", "*/*, text/html", "text/html"},
		{"none", "image/png", ""},
		{"refused", "text/html;q=0, */*;q=0.1", "application/json"},
		{"all refused", "*/*;q=0", ""},
		{"the order of the client", "text/html, application/json", "text/html"},
	}
	for _, tt := range tests {
		if got := header.ParseAccept([]string{tt.accept}).Best("application/json", "text/html"); got != tt.want {
			t.Errorf("%s: %q gives %q, want %q", tt.name, tt.accept, got, tt.want)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"4.0": "4.0", "4": "", "4.01": "4.01", "4.1": "4.01", "5.0": "4.01", "10.0": "4.01",
		"3.0": "", "": "", "x.y": "", "4.x": "", " 4.0 ": "4.0", "-4.0": "",
	}
	for in, want := range tests {
		if got, _ := header.Version([]string{in}); got != want {
			t.Errorf("OData-MaxVersion %q gives %q, want %q", in, got, want)
		}
	}
	if got, ok := header.Version(nil); got != "4.0" || !ok {
		t.Errorf("no OData-MaxVersion gives %q", got)
	}
}

func TestCodingOfOneOffer(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct{ gzip, br bool }{
		"gzip": {gzip: true}, "gzip, deflate, br": {true, true}, "GZIP;q=0.5": {gzip: true}, "x-gzip": {gzip: true}, "*": {true, true},
		"*;q=0": {}, "gzip;q=0": {}, "gzip;q=0, *": {br: true}, "*, gzip; q=0.000": {br: true}, "br;q=0.001": {br: true}, "identity": {}, "": {},
	} {
		if got, _ := header.Coding([]string{in}, "gzip"); (got != "") != want.gzip {
			t.Errorf("Accept-Encoding %q, gzip: %v", in, got)
		}
		if got, _ := header.Coding([]string{in}, "br"); (got != "") != want.br {
			t.Errorf("Accept-Encoding %q, br: %v", in, got)
		}
	}
}

func TestCoding(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		coding   string
		identity bool
	}{
		"gzip, deflate, br":            {"br", true},
		"br;q=0.5, gzip":               {"gzip", true},
		"br;q=0.5, gzip;q=0.5":         {"br", true},
		"br;q=0, gzip":                 {"gzip", true},
		"*":                            {"br", true},
		"br;q=0, *":                    {"gzip", true},
		"identity;q=0":                 {"", false},
		"gzip, identity;q=0":           {"gzip", false},
		"gzip, *;q=0":                  {"gzip", false},
		"gzip, *;q=0, identity;q=0.1":  {"gzip", true},
		"identity, gzip;q=0.5":         {"", true},
		"identity;q=0.5, gzip;q=0.500": {"gzip", true},
		"*;q=0":                        {"", false},
		"zstd":                         {"", true},
		"":                             {"", true},
	} {
		if coding, identity := header.Coding([]string{in}, "br", "gzip"); coding != want.coding || identity != want.identity {
			t.Errorf("Accept-Encoding %q: %q, identity %v", in, coding, identity)
		}
	}
}

func TestRefusesLanguage(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct{ en, de bool }{
		"": {}, "de": {}, "en;q=0": {en: true}, "de;q=0, *": {de: true}, "en;q=0, de-AT": {en: true}, "*;q=0": {true, true}, "*;q=0, de": {en: true},
		"de-AT, de;q=0": {}, "de-AT;q=0": {}, "DE;q=0.000, en;q=0.1": {de: true}, "*;q=0, de-CH;q=0.5": {en: true},
	} {
		if got := header.RefusesLanguage([]string{in}, "en"); got != want.en {
			t.Errorf("Accept-Language %q, en: %v", in, got)
		}
		if got := header.RefusesLanguage([]string{in}, "de"); got != want.de {
			t.Errorf("Accept-Language %q, de: %v", in, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"text/html,*/*;q=0.8": true, "text/html;q=0, */*": false, "*/*": false, "text/*": false, "TEXT/HTML;level=1": true, "": false, "text/html;q=nope": false,
	} {
		if got := header.ParseAccept([]string{in}).Names("text/html"); got != want {
			t.Errorf("Accept %q names text/html: %v", in, got)
		}
	}
}

func TestMatchesETag(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want bool
	}{
		{`W/"a"`, true},
		{`"a"`, true},
		{`"b", W/"a"`, true},
		{`*`, true},
		{`"b"`, false},
		{`W/"A"`, false},
		{`"b,a"`, false},
		{``, false},
	}
	for _, tt := range tests {
		if got := header.MatchesETag([]string{tt.line}, `W/"a"`); got != tt.want {
			t.Errorf("If-None-Match %s: %v, want %v", tt.line, got, tt.want)
		}
	}
}

func TestETags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lines []string
		tags  []string
		any   bool
		bad   bool
	}{
		{lines: []string{`W/"a"`}, tags: []string{"a"}},
		{lines: []string{`"a", W/"b,c"`, `"d"`}, tags: []string{"a", "b,c", "d"}},
		{lines: []string{`*`}, any: true},
		{lines: []string{`""`}, tags: []string{""}},
		{lines: []string{`*, "a"`}, tags: []string{"a"}, any: true, bad: true},
		{lines: []string{`a`}, bad: true},
		{lines: []string{`"a`}, bad: true},
		{lines: []string{`w/"a"`}, bad: true},
		{lines: []string{`"a" "b"`}, bad: true},
		{lines: []string{``}, bad: true},
	}
	for _, tt := range tests {
		tags, all, ok := header.ETags(tt.lines)
		if ok == tt.bad || ok && (!slices.Equal(tags, tt.tags) || all != tt.any) {
			t.Errorf("If-Match %q: %q, %v, %v", tt.lines, tags, all, ok)
		}
	}
}

func FuzzParsePrefer(f *testing.F) {
	for _, s := range []string{"odata.maxpagesize=5", `a="\",";b=c,maxpagesize=9`, "continue-on-error", `"`, `\`, ",,;="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if p := header.ParsePrefer([]string{s}); p.MaxPageSize < 0 {
			t.Errorf("ParsePrefer(%q) gives the page size %d", s, p.MaxPageSize)
		}
	})
}

func FuzzParseAccept(f *testing.F) {
	for _, s := range []string{"*/*", "application/json;odata.metadata=full;q=0.3,text/html", `a/b;c="d,e`, ";;,/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := header.ParseAccept([]string{s})
		j, ok := a.JSON()
		if best := a.Best("application/json"); ok && best == "" {
			t.Errorf("%q accepts %q but not application/json", s, j.ContentType())
		}
		header.ParseFormat(s)
	})
}
