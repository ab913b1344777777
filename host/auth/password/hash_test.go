package password_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

func TestVerify(t *testing.T) {
	h := password.New()
	ours, err := h.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	old, err := bcrypt.GenerateFromPassword([]byte("correct horse"), 4)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 72)
	cut, err := bcrypt.GenerateFromPassword([]byte(long), 4)
	if err != nil {
		t.Fatal(err)
	}
	php := "$2y$" + string(old)[4:]
	tests := []struct {
		name, stored, password string
		ok, unusable           bool
	}{
		{"argon2id", ours, "correct horse", true, false},
		{"argon2id, wrong", ours, "correct house", false, false},
		{"argon2id, empty", ours, "", false, false},
		{"bcrypt", string(old), "correct horse", true, false},
		{"bcrypt of PHP", php, "correct horse", true, false},
		{"bcrypt, wrong", php, "x", false, false},
		{"72 bytes", string(cut), long, true, false},
		{"73 bytes", string(cut), long + "b", false, false},
		{"empty hash", "", "x", false, true},
		{"plain text", "correct horse", "correct horse", false, true},
		{"bcrypt cut short", php[:59], "correct horse", false, true},
		{"bcrypt of absurd cost", "$2b$31$" + php[7:], "correct horse", false, true},
		{"argon2i", strings.Replace(ours, "argon2id", "argon2i", 1), "correct horse", false, true},
		{"absurd memory", strings.Replace(ours, "m=19456", "m=4194304", 1), "correct horse", false, true},
		{"absurd time", strings.Replace(ours, "t=2", "t=4000000", 1), "correct horse", false, true},
		{"no memory", strings.Replace(ours, "m=19456", "m=0", 1), "correct horse", false, true},
		{"other version", strings.Replace(ours, "v=19", "v=16", 1), "correct horse", false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ok, err := h.Verify(t.Context(), test.stored, test.password)
			if ok != test.ok || errors.Is(err, password.ErrUnusable) != test.unusable {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
}

func TestStale(t *testing.T) {
	ours, err := password.New().Hash(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for stored, want := range map[string]bool{
		ours: false, strings.Replace(ours, "m=19456", "m=65536", 1): false, strings.Replace(ours, "t=2", "t=1", 1): true,
		"$2y$12$" + strings.Repeat("a", 53): true,
	} {
		if got, err := password.Stale(stored); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", stored, got, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	known := []string{"ada.lovelace@example.com", "Ada Lovelace"}
	for word, want := range map[string]string{
		"short": "password_too_short", "ääääääääää": "password_too_short",
		"password1234": "password_too_common", "Passw0rd!2024": "password_too_common", "123456789012": "password_too_common",
		"qwertyuiopas": "password_too_common", "aaaaaaaaaaaaa": "password_too_common", "abcabcabcabcabc": "password_too_common",
		"ada.lovelace@example.com": "password_too_common", "ADA.LOVELACE": "password_too_common", "Ada Lovelace 2024!": "password_too_common",
		"correct horse battery": "", "engine-of-analysis-1843": "", "8f3kd92jfo1x": "", "grüne Wiesen im Mai": "",
	} {
		if got := password.Check(word, 12, known...); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// No stored hash makes the program panic, or spend more than the limits.
func FuzzVerify(f *testing.F) {
	for _, seed := range []string{
		"", "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2U", "$2y$04$" + strings.Repeat("a", 53), "$argon2id$v=19$m=x$$",
	} {
		f.Add(seed)
	}
	h := password.New()
	f.Fuzz(func(t *testing.T, stored string) {
		if strings.Contains(stored, "$1") || len(stored) > 200 {
			t.Skip("would only spend time: costs of ten and more")
		}
		if ok, err := h.Verify(t.Context(), stored, "x"); ok && err != nil {
			t.Errorf("%v beside %v", ok, err)
		}
	})
}

// A login costs little more than the bare hash.
func BenchmarkVerify(b *testing.B) {
	h := password.New()
	stored, err := h.Hash(context.Background(), "correct horse")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			argon2.IDKey([]byte("correct horse"), []byte("sixteen bytes ok"), 2, 19*1024, 1, 32)
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if ok, err := h.Verify(context.Background(), stored, "correct horse"); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
}
