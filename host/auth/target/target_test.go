package target_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/target"
)

func TestLocalPath(t *testing.T) {
	for path, ok := range map[string]bool{
		"/": true, "/a/b?c=d#e": true, "/ä": true, "/a?u=http://x//y": true, "/100%25": true, "/%": false,
		"": false, "a": false, "//a": false, "/a//b": false, `/\a`: false, `\a`: false, "/\ta": false, "/%0aa": false,
		"/%5Ca": false, "/%255Ca": false, "/%2F%2Fa": false, "http://a/": false, "javascript:a": false, "/\u2028": false,
		"/a\xff": false, "/%00": false,
	} {
		if got := target.LocalPath(path) != ""; got != ok {
			t.Errorf("%q: %v, want %v", path, got, ok)
		}
	}
}

func TestCheckComparesOriginsAsBrowsersDo(t *testing.T) {
	origins := []string{"https://CRM.example.com:443", "http://intra.example.com:8080", "http://old.example.com"}
	for to, ok := range map[string]bool{
		"https://crm.example.com/a": true, "https://crm.EXAMPLE.com:443": true, "http://intra.example.com:8080/": true, "http://old.example.com:80/": true,
		"http://crm.example.com/": false, "https://crm.example.com:8443/": false, "http://intra.example.com/": false, "https://old.example.com/": false,
		"https://crm.example.com.evil.example/": false, "https://evil.example/crm.example.com": false, "https://u@crm.example.com/": false, "/local": true,
	} {
		if err := target.Check(to, origins); (err == nil) != ok {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// What is let through resolves to the same origin for a browser that ignores
// tabs and newlines, reads backslashes as slashes, and has decoded once.
func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/", "//evil", "/%2Fevil", `/\evil`, "/a?b", "/%09/evil", "/%252F/evil", "/..//x"} {
		f.Add(seed)
	}
	base, err := url.Parse("https://app.example/login")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		kept := target.LocalPath(path)
		if kept == "" {
			return
		}
		if kept != path {
			t.Fatalf("%q was changed to %q", path, kept)
		}
		once, err := url.PathUnescape(path)
		if err != nil {
			once = path
		}
		for _, form := range []string{path, once} {
			lax := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(form)
			head, _, _ := strings.Cut(lax, "?")
			head, _, _ = strings.Cut(head, "#")
			u, err := base.Parse(head)
			if err != nil {
				continue // a lone percent sign
			}
			if u.Host != base.Host || u.Scheme != base.Scheme || strings.HasPrefix(lax, "//") {
				t.Errorf("%q leads to %s", path, u)
			}
		}
	})
}
