package password_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// newHash makes a hash with the library's defaults.
func newHash(t testing.TB, plain string) string {
	t.Helper()
	hash, err := password.New(password.Options{}).Hash(context.Background(), "", "", plain)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// bcryptOf makes a cheap bcrypt hash with a prefix of another program.
func bcryptOf(t testing.TB, prefix, plain string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(plain), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return prefix + string(hash[4:])
}

func TestVerify(t *testing.T) {
	h := password.New(password.Options{})
	ours, php := newHash(t, "correct horse"), bcryptOf(t, "$2y$", "correct horse")
	long := strings.Repeat("a", 72)
	cut := bcryptOf(t, "$2y$", long)
	tests := []struct {
		name, stored, password string
		ok                     bool
	}{
		{"argon2id", ours, "correct horse", true},
		{"argon2id, wrong", ours, "correct house", false},
		{"argon2id, empty", ours, "", false},
		{"bcrypt", "$2b$" + php[4:], "correct horse", true},
		{"bcrypt of PHP", php, "correct horse", true},
		{"bcrypt, wrong", php, "x", false},
		{"72 bytes", cut, long, true},
		{"73 bytes, as the application cuts it", cut, long + "b", true},
		{"71 bytes of 72", cut, long[1:], false},
		{"empty hash", "", "x", false},
		{"plain text", "correct horse", "correct horse", false},
		{"bcrypt cut short", php[:59], "correct horse", false},
		{"bcrypt of absurd cost", "$2b$31$" + php[7:], "correct horse", false},
		{"argon2i", strings.Replace(ours, "argon2id", "argon2i", 1), "correct horse", false},
		{"absurd memory", strings.Replace(ours, "m=19456", "m=4194304", 1), "correct horse", false},
		{"absurd time", strings.Replace(ours, "t=2", "t=4000000", 1), "correct horse", false},
		{"no memory", strings.Replace(ours, "m=19456", "m=0", 1), "correct horse", false},
		{"other version", strings.Replace(ours, "v=19", "v=16", 1), "correct horse", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ok, err := h.Verify(t.Context(), password.Attempt{Stored: test.stored, Password: test.password})
			if ok != test.ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
			if ok, err = h.Verify(t.Context(), password.Attempt{Stored: test.stored, Password: test.password, Refuse: true}); ok || err != nil {
				t.Errorf("refused: %v, %v", ok, err)
			}
		})
	}
}

// counted is a hasher that knows three formats, and a function that returns the
// formats of the hashes computed since the last call.
func counted(t *testing.T) (h *password.Hasher, argon, php string, since func() []string) {
	var mu sync.Mutex
	var computed []string
	h = password.New(password.Options{Observe: func(format string) {
		mu.Lock()
		defer mu.Unlock()
		computed = append(computed, format)
	}})
	argon, php = newHash(t, "correct horse"), bcryptOf(t, "$2y$", "correct horse")
	for _, hash := range []string{argon, php, strings.Replace(argon, "t=2", "t=1", 1), "garbage", ""} {
		h.Learn(hash)
	}
	return h, argon, php, func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := slices.Sorted(slices.Values(computed))
		computed = nil
		return out
	}
}

// A failure computes one hash of each format in use, whatever made it fail and
// however the password is stored.
func TestFailedAttemptsDoTheSameWork(t *testing.T) {
	h, argon, php, computed := counted(t)
	want := []string{"argon2id/19456/1/1", "argon2id/19456/2/1", "bcrypt/4"}
	for name, a := range map[string]password.Attempt{
		"nobody":                {Password: "correct horse"},
		"wrong, argon2id":       {Stored: argon, Password: "wrong"},
		"wrong, bcrypt":         {Stored: php, Password: "wrong"},
		"disabled, argon2id":    {Stored: argon, Password: "correct horse", Refuse: true},
		"disabled, bcrypt":      {Stored: php, Password: "correct horse", Refuse: true},
		"garbage":               {Stored: "garbage", Password: "garbage"},
		"longer than bcrypt is": {Stored: php, Password: strings.Repeat("x", 200)},
	} {
		if ok, err := h.Verify(t.Context(), a); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if got := computed(); !slices.Equal(got, want) {
			t.Errorf("%s: computed %v, want %v", name, got, want)
		}
	}
	if ok, err := h.Verify(t.Context(), password.Attempt{Stored: php, Password: "correct horse"}); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if got := computed(); !slices.Equal(got, []string{"bcrypt/4"}) {
		t.Errorf("a right password computed %v", got)
	}
}

// A decoy has the format of new hashes and is one that bcrypt and argon2id work through:
// a text that they refuse at once would cost a failed attempt nothing.
func TestDecoys(t *testing.T) {
	for format, want := range map[password.Format]string{
		"": "argon2id/19456/2/1", password.Argon2id: "argon2id/19456/2/1", password.Bcrypt: "bcrypt/12", password.Keep: "argon2id/19456/2/1",
	} {
		decoy := format.Decoy()
		if decoy == format.Decoy() {
			t.Errorf("%q: twice the decoy %s", format, decoy)
		}
		if format == password.Bcrypt {
			if err := bcrypt.CompareHashAndPassword([]byte("$2b$"+decoy[4:]), []byte("x")); !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
				t.Errorf("%s: %v", decoy, err)
			}
		}
		var learned, computed []string
		h := password.New(password.Options{
			Format: format, Observe: func(format string) { computed = append(computed, format) },
			Learned: func(format string) { learned = append(learned, format) },
		})
		h.Learn(decoy)
		h.Learn(decoy)
		if !slices.Equal(learned, []string{want}) {
			t.Errorf("%q: learned %v, want %s once", format, learned, want)
		}
		if ok, err := h.Verify(t.Context(), password.Attempt{Password: "correct horse"}); ok || err != nil {
			t.Errorf("%q: %v, %v", format, ok, err)
		}
		made, err := h.Hash(t.Context(), "", "", "correct horse")
		if err != nil || len(made) != len(decoy) || !slices.Equal(computed, []string{want, want}) {
			t.Errorf("%q: computed %v, want %s twice; the decoy is %s, a hash is %s (%v)", format, computed, want, decoy, made, err)
		}
	}
}

// The work is the same for guesses in parallel.
func TestFailedAttemptsInParallelDoTheSameWork(t *testing.T) {
	h, argon, php, computed := counted(t)
	var all sync.WaitGroup
	for i := range 9 {
		all.Go(func() {
			stored := []string{argon, php, ""}[i%3]
			if ok, err := h.Verify(t.Context(), password.Attempt{Stored: stored, Password: "wrong"}); ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		})
	}
	all.Wait()
	count := map[string]int{}
	for _, format := range computed() {
		count[format]++
	}
	for _, format := range []string{"argon2id/19456/1/1", "argon2id/19456/2/1", "bcrypt/4"} {
		if count[format] != 9 {
			t.Errorf("%s: %d times, want 9", format, count[format])
		}
	}
}

// What becomes of a stored hash at sign-in, and in which format a new password is
// stored that replaces it.
func TestFormats(t *testing.T) {
	argon, weak := newHash(t, "x"), "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$"+strings.Repeat("a", 22)
	php4, node12, php13 := bcryptOf(t, "$2y$", "x"), "$2b$12$"+strings.Repeat("a", 53), "$2y$13$"+strings.Repeat("a", 53)
	const ours, twelve = "$argon2id$v=19$m=19456,t=2,p=1$", "$2y$12$"
	for _, test := range []struct {
		format      password.Format
		name, old   string
		stale       bool
		replacement string
	}{
		{"", "argon2id", argon, false, ours},
		{"", "weak argon2id", weak, true, ours},
		{"", "bcrypt", php13, true, ours},
		{"", "none", "", false, ours},
		{password.Argon2id, "bcrypt", php4, true, ours},
		{password.Argon2id, "stronger argon2id", strings.Replace(argon, "m=19456", "m=65536", 1), false, ours},
		{password.Bcrypt, "argon2id", argon, true, twelve},
		{password.Bcrypt, "weak bcrypt", php4, true, twelve},
		{password.Bcrypt, "bcrypt of another program", node12, true, twelve},
		{password.Bcrypt, "stronger bcrypt", php13, false, twelve},
		{password.Bcrypt, "none", "", false, twelve},
		{password.Bcrypt, "garbage", "garbage", false, twelve},
		{password.Keep, "argon2id", argon, false, ours},
		{password.Keep, "weak argon2id", weak, false, ours},
		{password.Keep, "weak bcrypt", php4, false, twelve},
		{password.Keep, "bcrypt of another program", node12, false, "$2b$12$"},
		{password.Keep, "none", "", false, ours},
		{password.Keep, "garbage", "garbage", false, ours},
	} {
		t.Run(string(test.format)+" "+test.name, func(t *testing.T) {
			h := password.New(password.Options{Format: test.format})
			if got := h.Stale(test.old, "x"); got != test.stale {
				t.Errorf("stale %v, want %v", got, test.stale)
			}
			made, err := h.Hash(t.Context(), "", test.old, "correct horse")
			if err != nil || !strings.HasPrefix(made, test.replacement) {
				t.Fatalf("%s, %v; want %s…", made, err, test.replacement)
			}
			if test.old == "" || test.old == node12 {
				if ok, err := h.Verify(t.Context(), password.Attempt{Stored: made, Password: "correct horse"}); !ok || err != nil {
					t.Errorf("the new hash does not verify: %v", err)
				}
			}
			if h.Stale(made, "correct horse") {
				t.Error("the new hash is stale")
			}
		})
	}
}

// bcrypt would cut what is longer than 72 bytes: such a password gets no bcrypt
// hash, neither when it is new nor in place of an argon2id one.
func TestTooLongForBcrypt(t *testing.T) {
	argon, php := newHash(t, "x"), bcryptOf(t, "$2y$", "x")
	for _, test := range []struct {
		format  password.Format
		old     string
		plain   string
		tooLong bool
	}{
		{password.Bcrypt, "", strings.Repeat("ä", 36), false},
		{password.Bcrypt, argon, strings.Repeat("ä", 36) + "b", true},
		{password.Keep, php, strings.Repeat("b", 73), true},
		{password.Keep, argon, strings.Repeat("b", 73), false},
		{password.Argon2id, php, strings.Repeat("b", 73), false},
	} {
		h := password.New(password.Options{Format: test.format})
		_, err := h.Hash(t.Context(), "", test.old, test.plain)
		policy, refused := errors.AsType[*password.PolicyError](err)
		if h.TooLong(test.old, test.plain) != test.tooLong || refused != test.tooLong || refused && policy.Code != "password_too_long" {
			t.Errorf("%s, %.10s, %d bytes: %v, want too long: %v", test.format, test.old, len(test.plain), err, test.tooLong)
		}
	}
	if password.New(password.Options{Format: password.Bcrypt}).Stale(argon, strings.Repeat("b", 73)) {
		t.Error("the argon2id hash of a long password would be replaced by one of its first 72 bytes")
	}
}

func TestCheck(t *testing.T) {
	known := []string{"ada.lovelace@example.com", "Ada Lovelace"}
	for word, want := range map[string]string{
		"short": "password_too_short", "ääääääääää": "password_too_short",
		"password1234": "password_too_common", "Passw0rd!2024": "password_too_common", "123456789012": "password_too_common",
		"qwertyuiopas": "password_too_common", "aaaaaaaaaaaaa": "password_too_common", "abcabcabcabcabc": "password_too_common",
		"ada.lovelace@example.com": "password_too_common", "ADA.LOVELACE": "password_too_common", "Ada Lovelace 2024!": "password_too_common",
		"passwordpassword": "password_too_common", "PasswordPassword1!": "password_too_common", "password-password": "password_too_common",
		"password1password1": "password_too_common", "Password1Password2": "password_too_common", "P@ssw0rdP@ssw0rd": "password_too_common",
		"letmeinletmein": "password_too_common", "123456123456": "password_too_common", "iloveyou iloveyou": "password_too_common",
		"sunshinesunshinesunshine": "password_too_common", "AdaLovelaceAdaLovelace": "password_too_common", "Ada Lovelace, Ada Lovelace": "password_too_common",
		"correct horse battery": "", "horsehorse-of-the-north": "", "gx7qv9gx7qv9": "", "engine-of-analysis-1843": "", "8f3kd92jfo1x": "", "grüne Wiesen im Mai": "",
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
	h := password.New(password.Options{})
	f.Fuzz(func(t *testing.T, stored string) {
		if strings.Contains(stored, "$1") || len(stored) > 200 {
			t.Skip("would only spend time: costs of ten and more")
		}
		if _, err := h.Verify(t.Context(), password.Attempt{Stored: stored, Password: "x"}); err != nil {
			t.Error(err)
		}
	})
}

// A login costs little more than the bare hash.
func BenchmarkVerify(b *testing.B) {
	h, stored := password.New(password.Options{}), newHash(b, "correct horse")
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			argon2.IDKey([]byte("correct horse"), []byte("sixteen bytes ok"), 2, 19*1024, 1, 32)
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if ok, err := h.Verify(context.Background(), password.Attempt{Stored: stored, Password: "correct horse"}); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
}
