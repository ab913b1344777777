package web_test

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/web"
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
		got, ok := web.Readings(encoded)
		if !ok || len(got) == 0 || got[0] != want[0] {
			t.Errorf("%s: %q, %v, want %q first", encoded, got, ok, want[0])
		}
		for _, reading := range want {
			if !slices.Contains(got, reading) {
				t.Errorf("%s: %q lacks %q", encoded, got, reading)
			}
		}
	}
	if _, ok := web.Readings("/%" + strings.Repeat("25", 200)); ok {
		t.Error("a path with endless readings has few")
	}
}

func TestAmbiguity(t *testing.T) {
	for encoded, want := range map[string]string{
		"/a/b": "", "/a//b": "", "/a.b/.well-known": "", "/%C3%A4": "", "/a%2Fb": "encoded_slash", "/a%5cb": "backslash", `/a\b`: "backslash",
		"/a;b": "parameter", "/a%3Bb": "parameter", "/a/../b": "dot_segment", "/a/%2e": "dot_segment", "/%252e": "encoded_twice",
	} {
		if got := web.Ambiguity(encoded); got != want {
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
		readings, ok := web.Readings(encoded)
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
