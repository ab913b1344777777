package form_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/form"
)

func TestIsAddress(t *testing.T) {
	for s, ok := range map[string]bool{
		"ada@example.com": true, "a.b+c@example.com": true, "o'hara@example.co.uk": true, "ada@localhost": true,
		"ü@example.com": true, "ada@bücher.example": true,
		"": false, "ada": false, "@a.b": false, "a@": false, "a@b@c": false, "a b@c.d": false, "a@b c": false,
		`"a"@b.c`: false, "<a@b.c>": false, "Ada <a@b.c>": false, "a@b.c,d@e.f": false, "a@b.c\r\nBcc: x@y.z": false,
		"a@[127.0.0.1]": false, ".a@b.c": false, "a.@b.c": false, "a..b@c.d": false, "😀@example.com": false, "ab\u200B@example.com": false, "a@xn--a.com": false, "a@١.com": false, "a@.b": false, "a@b..c": false,
		"a@-b.c": false, "a@b-.c": false, "a(x)@b.c": false, "a@b_c.d": false,
		strings.Repeat("a", 65) + "@b.c": false, "a@" + strings.Repeat("b", 64) + ".c": false, "a@b\x00.c": false,
	} {
		if got := form.IsAddress(s); got != ok {
			t.Errorf("%q: %v, want %v", s, got, ok)
		}
	}
}

func FuzzIsAddress(f *testing.F) {
	for _, seed := range []string{"a@b.c", "a@b@c", "\"a\"@b", "a@b\n", "a,b@c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if form.IsAddress(s) && (strings.Count(s, "@") != 1 || strings.ContainsAny(s, " \t\r\n\x00,;<>\"\\()")) {
			t.Errorf("%q passed", s)
		}
	})
}
