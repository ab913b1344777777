package reading_test

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/web/internal/reading"
)

func TestReadings(t *testing.T) {
	for encoded, want := range map[string][]string{
		"/":                     {"/"},
		"/app/main.js":          {"/app/main.js"},
		"/app/%C3%A4":           {"/app/ä"},
		"/front/admin;x=1":      {"/front/admin;x=1", "/front/admin"},
		"/front/..;/app":        {"/front/..;/app", "/front/../app", "/app"},
		"/front/..%5capp":       {`/front/..\app`, `/front/..%5capp`, "/front/../app", "/app"},
		"/front/a%2Fb":          {"/front/a/b", "/front/a%2Fb"},
		"/front/%2e%2e/app":     {"/front/../app", "/app"},
		"/front/%252e%252e/app": {"/front/%2e%2e/app", "/front/../app", "/app"},
		"/front//../app":        {"/front//../app", "/front/app", "/app"},
		"/front/..":             {"/front/..", "/"},
		"/front//admin":         {"/front//admin", "/front/admin"},
	} {
		got, ok := reading.All(encoded)
		if !ok || len(got) == 0 || got[0] != want[0] {
			t.Errorf("%s: %q, %v, want %q first", encoded, got, ok, want[0])
		}
		for _, one := range want {
			if !slices.Contains(got, one) {
				t.Errorf("%s: %q lacks %q", encoded, got, one)
			}
		}
	}
	if _, ok := reading.All("/%" + strings.Repeat("25", 200)); ok {
		t.Error("a path with endless readings has few")
	}
}

func TestAmbiguity(t *testing.T) {
	for encoded, want := range map[string]string{
		"/a/b": "", "/a//b": "", "/a.b/.well-known": "", "/%C3%A4": "", "/a%2Fb": "encoded_slash", "/a%5cb": "backslash", `/a\b`: "backslash",
		"/a;b": "parameter", "/a%3Bb": "parameter", "/a/../b": "dot_segment", "/a/%2e": "dot_segment", "/%252e": "encoded_twice",
	} {
		if got := reading.Ambiguity(encoded); got != want {
			t.Errorf("%s: %q, want %q", encoded, got, want)
		}
	}
}

// Whatever a server makes of a path by steps that servers are known for, is one of
// the readings.
func FuzzReadings(f *testing.F) {
	for _, seed := range []string{"/a/..;/b", "/a/..%5cb", "/a%2F..%2Fb", "/a/%252e%252e/b", "/a//../b", "/a/.;x/b;y", "/%5c..%2f;%3b", "/a/%2e%2E;/b"} {
		f.Add(seed, uint32(0x1234))
		f.Add(seed, uint32(0x4321))
	}
	steps := []func(string) string{
		func(s string) string { // decode, all or nothing as most libraries do
			if plain, err := url.PathUnescape(s); err == nil {
				return plain
			}
			return s
		},
		func(s string) string { return strings.Join(strings.Split(s, `\`), "/") },
		func(s string) string { // cut parameters
			var out strings.Builder
			inside := false
			for i := range len(s) {
				inside = s[i] == ';' || inside && s[i] != '/'
				if !inside {
					out.WriteByte(s[i])
				}
			}
			return out.String()
		},
		func(s string) string { // resolve and collapse
			if strings.HasSuffix(s, "/") && path.Clean(s) != "/" {
				return path.Clean(s) + "/"
			}
			return path.Clean(s)
		},
	}
	f.Fuzz(func(t *testing.T, encoded string, order uint32) {
		plain, err := url.PathUnescape(encoded)
		if err != nil || !strings.HasPrefix(encoded, "/") || !strings.HasPrefix(plain, "/") {
			t.Skip()
		}
		readings, ok := reading.All(encoded)
		if !ok {
			return // refused
		}
		read := plain
		for ; order > 0; order >>= 4 {
			read = steps[order&3](read)
			if !slices.Contains(readings, read) {
				t.Fatalf("%q can be read as %q, and not among %q", encoded, read, readings)
			}
		}
	})
}

// Whatever a server makes of a path that folds it, by steps that servers are known for in
// any order, is one of the readings.
func FuzzFolded(f *testing.F) {
	for _, seed := range []string{"/A/..%20/b", "/a/b.", "/a/%2541%20./", "/a%23/b%3fc", "/a/.%20./%2e%2e%20/x", "/%C4%B1/%E2%84%AA;x. /%2F", "/a/%2523x"} {
		f.Add(seed, uint64(0x12345670))
		f.Add(seed, uint64(0x7651234))
	}
	steps := []func(string) string{
		func(s string) string {
			if plain, err := url.PathUnescape(s); err == nil {
				return plain
			}
			return s
		},
		func(s string) string { return strings.ReplaceAll(s, `\`, "/") },
		func(s string) string { // as many servers do: ASCII alone
			return strings.Map(func(c rune) rune {
				if c >= 'A' && c <= 'Z' {
					c += 'a' - 'A'
				}
				return c
			}, s)
		},
		func(s string) string {
			at := strings.IndexByte(s, '#')
			if at < 0 {
				at = len(s)
			}
			s, _, _ = strings.Cut(s[:at], "?")
			return s
		},
		func(s string) string { // the end of each segment
			return regexp.MustCompile(`[. ]+(/|$)`).ReplaceAllString(s, "$1")
		},
		func(s string) string { return regexp.MustCompile(` +(/|$)`).ReplaceAllString(s, "$1") },
		func(s string) string {
			if strings.HasSuffix(s, "/") && path.Clean(s) != "/" {
				return path.Clean(s) + "/"
			}
			return path.Clean(s)
		},
		func(s string) string { return s },
	}
	f.Fuzz(func(t *testing.T, encoded string, order uint64) {
		plain, err := url.PathUnescape(encoded)
		if err != nil || !strings.HasPrefix(encoded, "/") || !strings.HasPrefix(plain, "/") {
			t.Skip()
		}
		folded, ok := reading.Folded(encoded)
		if !ok {
			return // refused
		}
		odd := func(c rune) bool { return c < ' ' || c > 0x7e } // are blanks, or fold, in more ways than the steps below know
		if slices.ContainsFunc(folded, func(one string) bool { return strings.ContainsFunc(one, odd) }) {
			t.Skip()
		}
		read := plain
		for ; order > 0 && strings.HasPrefix(read, "/"); order >>= 3 {
			read = steps[order&7](read)
			if strings.HasPrefix(read, "/") && !slices.Contains(folded, reading.FoldCase(read)) {
				t.Fatalf("%q can be read as %q, and not among %q", encoded, read, folded)
			}
		}
	})
}

func TestFold(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b": "/a/b", "/A/ b": "/a/ b", "/a./b. ./": "/a/b/", "/.well-known": "/.well-known", "/KELVIN/\u212A": "/kelvin/k", "/\u017F": "/s", "/İı": "/ii", "/Größe": "/größe", "/ΣΑΣΣ": "/σασσ", "/ς": "/σ",
		"/\uFF21": "/\uFF41", "/a\u00a0": "/a", "/\xff": "/\uFFFD", "/a..": "/a", "/..": "/", "/ﬁ": "/ﬁ",
	} {
		if got := reading.Fold(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]bool{
		"/": true, "/a/b-c.js": true, "/.well-known/x": true, "/a/.b": true, "/A": false, "/a.": false, "/a./b": false, "/a//b": false, "/a%20": false, "/ä": false, "/a;b": false, "/a/..": false, "/./a": false,
	} {
		if got := reading.IsFolded(path); got != want {
			t.Errorf("%q is folded: %v", path, got)
		}
		if folded, ok := reading.Folded(path); want && (!ok || len(folded) != 1 || folded[0] != path) {
			t.Errorf("%q is folded, and has the readings %q", path, folded)
		}
	}
	folded := true
	if n := testing.AllocsPerRun(100, func() { folded = folded && reading.IsFolded("/front/assets/main-0a1b2c3d.js") }); n != 0 || !folded {
		t.Errorf("a plain path takes %v allocations; folded: %v", n, folded)
	}
}
