package jsontext_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/jsontext"
)

func TestToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"a"`: "a", ` "" `: "", `"\u00e4\"\\\/\b\f\n\r\t"`: "ä\"\\/\b\f\n\r\t", `"x\ud834\udd1ey"`: "x𝄞y", `-0.5e+10`: "-0.5e+10", `0`: "0", `true`: "true", "\n\tnull": "null",
	} {
		s := &jsontext.Scanner{Text: []byte(text)}
		got, err := s.Token()
		if err == nil {
			err = s.End()
		}
		if err != nil || string(got.Text) != want {
			t.Errorf("%s: %q, %v", text, got.Text, err)
		}
	}
}

func TestFaultsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, ` `: 1, `x`: 0, `"a`: 0, "\"a\n\"": 2, `"a\x"`: 2, `"\ud834"`: 1, `"\ud834\u0041"`: 1, `"\udd1e\ud834"`: 1, `"\u12"`: 1, `01`: 0, `1.`: 0, `-`: 0, `1e`: 0, `tru`: 0,
		`1 2`: 2, `{`: 1, `{"a"}`: 4, `{"a":}`: 5, `{"a":1,}`: 7, `{"a":1 "b"}`: 7, `{1:2}`: 1, `[1,]`: 3, `[1 2]`: 3, `[`: 1, `{"a":1,"\u0061":2}`: 7, `{"a":[[1]]}`: 6,
	} {
		s := &jsontext.Scanner{Text: []byte(text)}
		err := read(s)
		var f *jsontext.Fault
		if !errors.As(err, &f) || f.Pos != want {
			t.Errorf("%s: %v, want the place %d", text, err, want)
		}
	}
}

// read reads a whole text, whose outermost object or array is visited.
func read(s *jsontext.Scanner) (err error) {
	switch s.Peek() {
	case '{':
		err = s.Object(nil, func([]byte, int) error { return s.Skip(1) })
	case '[':
		err = s.Array(func(int) error { return s.Skip(1) })
	default:
		_, err = s.Token()
	}
	if err != nil {
		return err
	}
	return s.End()
}

// No object has a name twice, however many others it has, and names are compared as they mean.
func TestNamesOfAnObject(t *testing.T) {
	t.Parallel()
	const n = 200
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"n%d":0`, i)
	}
	for i := range n {
		twice := append(append([]string{}, members...), fmt.Sprintf(`"\u006e%d":0`, i))
		s := &jsontext.Scanner{Text: []byte("{" + strings.Join(twice, ",") + "}")}
		if err := read(s); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`"n%d" is there twice`, i)) {
			t.Errorf("n%d: %v", i, err)
		}
	}
	s, count := &jsontext.Scanner{Text: []byte("{" + strings.Join(members, ",") + "}")}, 0
	if err := s.Object(nil, func(name []byte, _ int) error {
		if want := fmt.Sprintf("n%d", count); string(name) != want {
			t.Errorf("got %s, want %s", name, want)
		}
		count++
		return s.Skip(0)
	}); err != nil || count != n {
		t.Errorf("%d members, %v", count, err)
	}
}

func TestSkipBoundsTheDepth(t *testing.T) {
	t.Parallel()
	for depth, ok := range map[int]bool{0: false, 2: false, 3: true, 10000: true} {
		s := &jsontext.Scanner{Text: []byte(`[{"a":[1,"x"]}]`)}
		if err := s.Skip(depth); (err == nil) != ok {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	s, since := &jsontext.Scanner{Text: []byte(strings.Repeat("[", 1<<20))}, time.Now()
	if _, err := s.Raw(10000); err == nil || time.Since(since) > 10*time.Second {
		t.Errorf("%v, after %v", err, time.Since(since))
	}
}

// Raw takes the texts that encoding/json takes, and no others.
func FuzzRaw(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e3,true,null,"\ud834\udd1e"],"b":{}}`, `"\ud800"`, `"\ud800\u0041"`, `[1,]`, `{"a":1,"a":2}`, `01`, `"a`, `"a\`, "\"\t\"", ` { } `, `[[[[`, `"\u00"`, `nul`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := &jsontext.Scanner{Text: []byte(text)}
		if s.Valid() != nil {
			if utf8.ValidString(text) {
				t.Fatalf("%q is UTF-8", text)
			}
			return
		}
		raw, err := s.Raw(10000)
		if err == nil {
			err = s.End()
		}
		if (err == nil) != json.Valid([]byte(text)) {
			t.Fatalf("%q: %v, and encoding/json says %v", text, err, json.Valid([]byte(text)))
		}
		if err == nil && string(raw) != strings.Trim(text, " \t\n\r") {
			t.Fatalf("%q: the value is %q", text, raw)
		}
		s = &jsontext.Scanner{Text: []byte(text)}
		if got, tokenErr := s.Token(); err == nil && tokenErr == nil && got.Kind == jsontext.String {
			var want string
			if json.Unmarshal([]byte(text), &want) != nil || want != string(got.Text) {
				t.Fatalf("%q: %q, and encoding/json says %q", text, got.Text, want)
			}
		}
	})
}
