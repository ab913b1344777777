package lex_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// FuzzDecode checks that every decoded byte is found again in the raw text, and
// that an OffsetMap agrees.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "A/b?c=d+e", "%41%2Fb?c=%c3%a4+%2B%", "a%20b%", "%%%", "%00"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, raw string, query int) {
		query = max(0, min(query, len(raw)))
		s, err := lex.Decode(raw, query)
		if err != nil {
			return
		}
		offsets := lex.NewOffsetMap(s)
		at := 0
		for i := range len(s.Text) {
			if got := s.RawPos(i); got != at {
				t.Fatalf("byte %d of %q: raw position %d, want %d", i, s.Text, got, at)
			}
			if got := offsets.At(at); got != i {
				t.Fatalf("raw position %d of %q: byte %d, want %d", at, raw, got, i)
			}
			switch sent := s.SentAs(i); {
			case sent == '%':
				at += 3
			case sent == '+' && at >= query:
				if s.Text[i] != ' ' {
					t.Fatalf("a plus in the query became %q", s.Text[i])
				}
				at++
			case sent != s.Text[i]:
				t.Fatalf("%q became %q", sent, s.Text[i])
			default:
				at++
			}
		}
		if at != len(raw) || s.RawPos(len(s.Text)) != len(raw) {
			t.Fatalf("%q ends at %d", raw, at)
		}
	})
}
