package reserved_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

func TestAddress(t *testing.T) {
	for s, want := range map[string]string{
		"ada@example.com": "ada@example.com", "a.b+c@example.com": "a.b+c@example.com", "ada@localhost": "ada@localhost",
		"ü@example.com": "ü@example.com", "ada@bücher.example": "ada@xn--bcher-kva.example",
		strings.Repeat("a", 64) + "@b.c": strings.Repeat("a", 64) + "@b.c",

		"😀@example.com": "", "ab\u200B@example.com": "", "a@xn--a.com": "", "a@١.com": "", "a@b\u200B.com": "",
		"o'hara@example.co.uk": "o'hara@example.co.uk",
		"Ada <a@b.c>":          "", "a@b.c,d@e.f": "", ".a@b.c": "", "a.@b.c": "", "a@.b": "", "a@b..c": "", "a@b-.c": "", "a(x)@b.c": "",
		"": "", "ada": "", "@a.b": "", "a@": "", "a@b@c": "", "a b@c.d": "", `"a"@b.c`: "", "<a@b.c>": "",
		"a@b.c\r\nBcc: x@y.z": "", "a@[127.0.0.1]": "", "a..b@c.d": "", "a@-b.c": "", "a@b_c.d": "", "a@b\x00.c": "", "\xff@b.c": "",
		strings.Repeat("a", 65) + "@b.c": "", "a@" + strings.Repeat("b", 64) + ".c": "", "a@" + strings.Repeat("b.", 130) + "c": "",
	} {
		got, err := reserved.Address(s)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, reserved.ErrAddress) {
			t.Errorf("%q: %q, %v, want %q", s, got, err, want)
		}
		if reserved.IsAddress(s) != (want != "") {
			t.Errorf("IsAddress(%q) disagrees", s)
		}
	}
}

// The reason of a refusal goes to the log, which must not hold addresses.
func TestAddressErrorsDoNotRepeatTheAddress(t *testing.T) {
	for _, s := range []string{"secret", "secret person@example.com", "secret@-x", "secret@" + strings.Repeat("b.", 130) + "c"} {
		if _, err := reserved.Address(s); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestSender(t *testing.T) {
	name, address, err := reserved.Sender("Bücher <no-reply@bücher.example>")
	if err != nil || name != "Bücher" || address != "no-reply@xn--bcher-kva.example" {
		t.Errorf("%q, %q, %v", name, address, err)
	}
	for _, s := range []string{"", "nobody", "Shop <😀@example.com>", "a@b.c, d@e.f"} {
		if _, _, err := reserved.Sender(s); !errors.Is(err, reserved.ErrAddress) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzIsAddress(f *testing.F) {
	for _, seed := range []string{"a@b.c", "a@b@c", "\"a\"@b", "a@b\n", "a,b@c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if reserved.IsAddress(s) && (strings.Count(s, "@") != 1 || strings.ContainsAny(s, " \t\r\n\x00,;<>\"\\()")) {
			t.Errorf("%q passed", s)
		}
	})
}
