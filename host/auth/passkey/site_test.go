package passkey_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey/passkeytest"
)

const origin = "https://app.example.com"

func site(t testing.TB) passkey.Site {
	t.Helper()
	s, ok := passkey.NewSite(origin, "", "App")
	if !ok {
		t.Fatal("the site has no passkeys")
	}
	return s
}

func TestSite(t *testing.T) {
	for _, tc := range []struct{ name, origin, id, want string }{
		{"https", origin, "", "app.example.com"},
		{"https with a port", "https://app.example.com:8443", "", "app.example.com"},
		{"the end of the name", origin, "example.com", "example.com"},
		{"localhost", "http://localhost:8080", "", "localhost"},
		{"plain http", "http://app.example.com", "", ""},
		{"an address", "http://127.0.0.1:8080", "", ""},
		{"an address on https", "https://192.0.2.1", "", ""},
		{"IPv6", "https://[::1]:8080", "", ""},
		{"another site", origin, "example.org", ""},
		{"a part of a label", origin, "pp.example.com", ""},
		{"a name below", origin, "www.app.example.com", ""},
		{"no address", "", "", ""},
		{"rubbish", "https://%", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, ok := passkey.NewSite(tc.origin, tc.id, "App")
			if s.ID != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q, %v; want %q", s.ID, ok, tc.want)
			}
		})
	}
}

var challenge = []byte("0123456789abcdef0123456789abcdef") //nolint:gochecknoglobals // a constant

func text(t testing.TB, o passkey.Options) []byte {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// enrolled makes a passkey.
func enrolled(t testing.TB, a *passkeytest.Authenticator) passkey.Passkey {
	t.Helper()
	person := passkey.Person{Handle: []byte("handle of thirty-two random byte"), Login: "ada@example.com", Name: "Ada"}
	answer, err := a.Create(text(t, site(t).CreateOptions(challenge, person, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := passkey.ParseCreation(answer)
	if err != nil {
		t.Fatal(err)
	}
	p, err := site(t).Create(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Handle = person.Handle
	return p
}

func use(t *testing.T, a *passkeytest.Authenticator, p passkey.Passkey) (passkey.Passkey, error) {
	t.Helper()
	answer, err := a.Get(text(t, site(t).GetOptions(challenge, nil)))
	if err != nil {
		t.Fatal(err)
	}
	assertion, err := passkey.ParseAssertion(answer)
	if err != nil {
		t.Fatal(err)
	}
	if string(assertion.Challenge) != string(challenge) || string(assertion.Credential) != string(p.Credential) || string(assertion.Handle) != string(p.Handle) {
		t.Errorf("parsed %+v", assertion)
	}
	return site(t).Use(assertion, p)
}

func TestOptions(t *testing.T) {
	known := passkey.Passkey{Credential: []byte("known"), Transports: []string{"usb"}}
	person := passkey.Person{Handle: []byte("h"), Login: "ada@example.com", Name: "Ada"}
	want := `{"publicKey":{"rp":{"name":"App","id":"app.example.com"},"user":{"name":"ada@example.com","displayName":"Ada","id":"aA"},` +
		`"challenge":"` + base64.RawURLEncoding.EncodeToString(challenge) + `","pubKeyCredParams":[{"type":"public-key","alg":-8},{"type":"public-key","alg":-7},{"type":"public-key","alg":-257}],` +
		`"timeout":300000,"excludeCredentials":[{"type":"public-key","id":"a25vd24","transports":["usb"]}],` +
		`"authenticatorSelection":{"requireResidentKey":true,"residentKey":"required","userVerification":"required"},"attestation":"none"}}`
	if got := string(text(t, site(t).CreateOptions(challenge, person, []passkey.Passkey{known}))); got != want {
		t.Errorf("create:\n%s, want\n%s", got, want)
	}
	want = `{"publicKey":{"challenge":"` + base64.RawURLEncoding.EncodeToString(challenge) + `","timeout":300000,"rpId":"app.example.com","userVerification":"required"}}`
	if got := string(text(t, site(t).GetOptions(challenge, nil))); got != want {
		t.Errorf("get:\n%s, want\n%s", got, want)
	}
}

func TestUse(t *testing.T) {
	for _, tc := range []struct {
		name  string
		made  func(a *passkeytest.Authenticator)
		later func(a *passkeytest.Authenticator)
		want  error
	}{
		{name: "no counter"},
		{name: "a counter", made: func(a *passkeytest.Authenticator) { a.Count, a.Counter = true, 7 }},
		{name: "a counter that goes back", made: func(a *passkeytest.Authenticator) { a.Count, a.Counter = true, 7 }, later: func(a *passkeytest.Authenticator) { a.Counter = 3 }, want: passkey.ErrCounter},
		{name: "a counter that stays", made: func(a *passkeytest.Authenticator) { a.Counter = 7 }, want: passkey.ErrCounter},
		{name: "a counter that is 0 again", made: func(a *passkeytest.Authenticator) { a.Counter = 7 }, later: func(a *passkeytest.Authenticator) { a.Counter = 0 }, want: passkey.ErrCounter},
		{name: "copied meanwhile", made: func(a *passkeytest.Authenticator) { a.BackupEligible = true }, later: func(a *passkeytest.Authenticator) { a.BackedUp = true }},
		{name: "can be copied now", later: func(a *passkeytest.Authenticator) { a.BackupEligible = true }, want: passkey.ErrBackup},
		{name: "cannot be copied now", made: func(a *passkeytest.Authenticator) { a.BackupEligible = true }, later: func(a *passkeytest.Authenticator) { a.BackupEligible = false }, want: passkey.ErrBackup},
		{name: "another origin", later: func(a *passkeytest.Authenticator) { a.Origin = "https://evil.example.com" }, want: errAny},
		{name: "the same host on another port", later: func(a *passkeytest.Authenticator) { a.Origin = origin + ":444" }, want: errAny},
		{name: "the origin in capitals", later: func(a *passkeytest.Authenticator) { a.Origin = "HTTPS://APP.EXAMPLE.COM" }, want: errAny},
		{name: "in a frame", later: func(a *passkeytest.Authenticator) { a.CrossOrigin = true }, want: errAny},
		{name: "not verified", later: func(a *passkeytest.Authenticator) { a.Unverified = true }, want: errAny},
		{name: "copied but not able to", later: func(a *passkeytest.Authenticator) { a.BackedUp = true }, want: errAny},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := passkeytest.New(origin)
			if tc.made != nil {
				tc.made(a)
			}
			p := enrolled(t, a)
			if tc.later != nil {
				tc.later(a)
			}
			got, err := use(t, a, p)
			switch {
			case errors.Is(tc.want, errAny):
				if err == nil || errors.Is(err, passkey.ErrCounter) || errors.Is(err, passkey.ErrBackup) {
					t.Errorf("got %v, want another error", err)
				}
			case !errors.Is(err, tc.want):
				t.Errorf("got %v, want %v", err, tc.want)
			case err == nil && (got.Counter != a.Counter || got.BackedUp != a.BackedUp):
				t.Errorf("kept %d, %v; the authenticator has %d, %v", got.Counter, got.BackedUp, a.Counter, a.BackedUp)
			}
		})
	}
}

// errAny is an error that has no name.
var errAny = errors.New("any")

func TestUseOfAnotherKey(t *testing.T) {
	a := passkeytest.New(origin)
	p := enrolled(t, a)
	p.Key = passkey.Decoy().Key
	if _, err := use(t, a, p); err == nil {
		t.Error("the key of a decoy has verified")
	}
}

func TestCreateRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		lie  func(a *passkeytest.Authenticator)
	}{
		{"another origin", func(a *passkeytest.Authenticator) { a.Origin = "https://evil.example.com" }},
		{"the origin in capitals", func(a *passkeytest.Authenticator) { a.Origin = strings.ToUpper(origin) }},
		{"in a frame", func(a *passkeytest.Authenticator) { a.CrossOrigin = true }},
		{"not verified", func(a *passkeytest.Authenticator) { a.Unverified = true }},
		{"copied but not able to", func(a *passkeytest.Authenticator) { a.BackedUp = true }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := passkeytest.New(origin)
			tc.lie(a)
			answer, err := a.Create(text(t, site(t).CreateOptions(challenge, passkey.Person{Handle: []byte("h")}, nil)))
			if err != nil {
				t.Fatal(err)
			}
			c, err := passkey.ParseCreation(answer)
			if err != nil {
				t.Fatal(err)
			}
			if p, err := site(t).Create(c); err == nil {
				t.Errorf("made %+v", p)
			}
		})
	}
}

// Neither parser panics, and what is parsed and not signed is never accepted.
func FuzzParse(f *testing.F) {
	a := passkeytest.New(origin)
	p := enrolled(f, a)
	creation, _ := passkeytest.New(origin).Create(text(f, site(f).CreateOptions(challenge, passkey.Person{Handle: []byte("h")}, nil)))
	f.Add([]byte(creation))
	other := passkeytest.New(origin)
	enrolled(f, other)
	assertion, _ := other.Get(text(f, site(f).GetOptions(challenge, nil)))
	f.Add([]byte(assertion))
	for _, seed := range []string{`{}`, `[]`, `{"id":"AA","rawId":"AA","type":"public-key","response":{}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, credential []byte) {
		if c, err := passkey.ParseCreation(credential); err == nil {
			_, _ = site(t).Create(c)
		}
		if a, err := passkey.ParseAssertion(credential); err == nil {
			if _, err := site(t).Use(a, p); err == nil {
				t.Errorf("accepted %s", credential)
			}
		}
	})
}

func BenchmarkUse(b *testing.B) {
	a := passkeytest.New(origin)
	p := enrolled(b, a)
	answer, err := a.Get(text(b, site(b).GetOptions(challenge, nil)))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		assertion, err := passkey.ParseAssertion(answer)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := site(b).Use(assertion, p); err != nil {
			b.Fatal(err)
		}
	}
}
