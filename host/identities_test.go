package host_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A fakeProvider is an identity provider of the process. It answers with the identity that a test names in the parameter
// "who", and refuses a Finish whose private bytes are not those of its Begin.
type fakeProvider struct {
	mu       sync.Mutex
	begun    []pluginsdk.BeginRequest
	finished []pluginsdk.FinishRequest
	// people are whom the provider knows, by the word for them, and fails are its errors.
	people map[string]pluginsdk.IdentityResult
	fails  map[string]error
	// private is how many further private bytes a Begin has.
	private int
	// during is called within each Finish; may be nil.
	during func()
}

func (f *fakeProvider) Begin(_ context.Context, r pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun = append(f.begun, r)
	if err := f.fails["begin"]; err != nil {
		return pluginsdk.Authorization{}, err
	}
	return pluginsdk.Authorization{URL: "https://idp.example.com/authorize?state=" + r.State, Private: []byte("private " + r.State + strings.Repeat("p", f.private))}, nil
}

func (f *fakeProvider) Finish(_ context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	if f.during != nil {
		f.during()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finished = append(f.finished, r)
	if !strings.HasPrefix(string(r.Private), "private "+r.Parameters["state"]) {
		return pluginsdk.IdentityResult{}, errors.New("the private bytes are those of another Begin")
	}
	who := r.Parameters["who"]
	if err := f.fails[who]; err != nil {
		return pluginsdk.IdentityResult{}, err
	}
	result, ok := f.people[who]
	if !ok {
		return pluginsdk.Refused("Nobody is named " + who + "."), nil
	}
	return result, nil
}

// somebody returns an identity with a verified address.
func somebody(subject, email string) pluginsdk.IdentityResult {
	return pluginsdk.Identified(pluginsdk.Identity{Subject: subject, Email: email, EmailVerified: email != "", Name: "Name of " + subject})
}

// newProvider knows Ada, Bob, and Ada without a verified address.
func newProvider() *fakeProvider {
	unverified := pluginsdk.Identified(pluginsdk.Identity{Subject: "ada", Email: adaEmail, Name: "Ada"})
	return &fakeProvider{fails: map[string]error{}, people: map[string]pluginsdk.IdentityResult{
		"ada": somebody("ada", adaEmail), "bob": somebody("bob", "bob@example.com"), "unverified": unverified, "nameless": somebody("nameless", ""),
	}}
}

// withIdentity returns a change of options: a host with the identity "company".
func withIdentity(f *fakeProvider, link string, create bool, changes ...func(*host.Options)) func(*host.Options) {
	return func(o *host.Options) {
		o.Identities = append(o.Identities, host.Identity{Name: "company", Label: "Company account", Provider: f, Link: link, Create: create})
		for _, change := range changes {
			change(o)
		}
	}
}

// leaves begins a sign-in with an identity and returns the state that goes to the provider.
func (b *browser) leaves(name, query string) string {
	b.t.Helper()
	a := b.get("/auth/identity/" + name + query)
	a.want(b.t, 302, "")
	return stateIn(b.t, a.Header.Get("Location"))
}

// stateIn returns the state in an address of the provider.
func stateIn(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, "https://idp.example.com/authorize?") || len(u.Query().Get("state")) != 43 {
		t.Fatalf("leads to %q, %v", address, err)
	}
	return u.Query().Get("state")
}

// returns comes back from the provider as somebody.
func (b *browser) returns(name, state, who string, header ...string) answer {
	b.t.Helper()
	return b.get("/auth/identity/"+name+"/callback?"+url.Values{"state": {state}, "who": {who}}.Encode(), header...)
}

// by goes to the provider and comes back.
func (b *browser) by(name, who string) answer {
	b.t.Helper()
	return b.returns(name, b.leaves(name, ""), who)
}

// links links an identity to who is signed in.
func (b *browser) links(name, who string) answer {
	b.t.Helper()
	a := b.post("/auth/account/identities/"+name, map[string]any{})
	a.want(b.t, 200, "")
	return b.returns(name, stateIn(b.t, a.json(b.t)["url"].(string)), who)
}

// leadsTo fails unless the answer is a redirect to a place.
func (a answer) leadsTo(t *testing.T, place string) {
	t.Helper()
	if got := a.Header.Get("Location"); a.StatusCode != 302 || got != place || a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Referrer-Policy") != "no-referrer" || a.body != "" {
		t.Fatalf("%d to %q, want %q: %v %s", a.StatusCode, got, place, a.Header, a.body)
	}
}

// linkedTo returns the identities that there are, as "name subject user".
func (s *testSite) linkedTo(t *testing.T) []string {
	t.Helper()
	list, err := s.db.Identities().List(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, i := range list {
		found = append(found, i.Name+" "+i.Subject+" "+i.UserID)
	}
	return sorted(found)
}

// has fails unless these are all identities, and the number of users is as given.
func (s *testSite) has(t *testing.T, users int, want ...string) {
	t.Helper()
	if got := s.linkedTo(t); !slices.Equal(got, want) {
		t.Errorf("identities %q, want %q", got, want)
	}
	if n := len(rows(t, s.db, "users")); n != users {
		t.Errorf("%d users, want %d", n, users)
	}
}

// nobody fails if the browser is signed in.
func (b *browser) nobody(t *testing.T) {
	t.Helper()
	b.get("/auth/intents/current").want(t, 401, "unauthenticated")
}

// isUser fails unless the browser is signed in as the user.
func (b *browser) isUser(t *testing.T, id string) {
	t.Helper()
	if user := b.account(t)["user"].(map[string]any); user["id"] != id {
		t.Errorf("signed in as %v, want %s", user, id)
	}
}

// Somebody links an identity, signs in with it, and comes to the page that they wanted.
func TestIdentities(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		s := newSite(t, open(), withIdentity(f, "never", false))
		b := s.signedIn(t)
		if shown := fmt.Sprint(b.account(t)["identities"]); shown != "[map[label:Company account linked:<nil> name:company]]" {
			t.Errorf("shown %s", shown)
		}
		b.links("company", "ada").leadsTo(t, "/login?account")
		if shown := fmt.Sprint(b.account(t)["identities"]); shown != "[map[label:Company account linked:2026-05-04T12:00:00Z name:company]]" {
			t.Errorf("shown %s", shown)
		}
		s.has(t, 1, "company ada "+s.user.ID)
		b.post("/auth/account/identities/company", map[string]any{}).want(t, 409, "identity_known")

		guest := s.browser(t)
		guest.get("/dashboard?tab=2").want(t, 302, "")
		state := guest.leaves("company", "")
		back := guest.returns("company", state, "ada")
		back.leadsTo(t, "/dashboard?tab=2")
		guest.isUser(t, s.user.ID)
		for _, c := range back.Cookies() {
			if c.Name == "vestibule_identity" && c.MaxAge >= 0 {
				t.Errorf("cookie %v", c)
			}
		}
		begun, finished := f.begun[len(f.begun)-1], f.finished[len(f.finished)-1]
		callback := s.URL + "/auth/identity/company/callback"
		if begun.Callback != callback || begun.Locale != "en" || begun.Fresh || begun.LoginHint != "" || begun.ID == "" ||
			finished.Callback != callback || finished.Fresh || finished.Parameters["who"] != "ada" || finished.Parameters["state"] != state || len(finished.Parameters) != 2 {
			t.Errorf("asked %+v, %+v", begun, finished)
		}
		if f.begun[0].LoginHint != adaEmail {
			t.Errorf("linking hints %q", f.begun[0].LoginHint)
		}
		if sent := s.letters(t, 1); !strings.Contains(sent[0], "account elsewhere was linked") {
			t.Errorf("mail %s", sent[0])
		}

		guest.delete("/auth/account/identities/company").want(t, 204, "")
		guest.delete("/auth/account/identities/company").want(t, 404, "not_found")
		s.has(t, 1)
		s.browser(t).by("company", "ada").want(t, 403, "identity_unknown")
		var audited []string
		if err := s.db.Reader().Select(&audited, `SELECT act FROM vestibule_audit ORDER BY at, act`); err != nil || !slices.Equal(sorted(audited), []string{"identity_link", "identity_unlink"}) {
			t.Errorf("audited %v, %v", audited, err)
		}
		for _, line := range []string{"event=login ", "by=identity:company", "event=identity_link ", "event=identity_unlink ", "reason=unknown"} {
			if !strings.Contains(s.log.String(), line) {
				t.Errorf("the log lacks %q", line)
			}
		}
	})
}

// What one host begins the other ends, over https, and only once.
func TestIdentityOnTwoHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		change := withIdentity(f, "verified_email", false, func(o *host.Options) { o.Server.PublicURL = mustURL("https://app.example.com") })
		one, two := newSite(t, open(), change), newSite(t, open(), change)
		verify(t, one)
		b := one.browser(t)
		b.Jar = secureJar{}
		a := b.get("/auth/identity/company")
		a.want(t, 302, "")
		if c := a.Cookies(); len(c) != 1 || c[0].Name != "__Host-vestibule_identity" || !c[0].Secure || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode || c[0].Path != "/" || c[0].MaxAge != 600 {
			t.Errorf("cookies %v", c)
		}
		state := stateIn(t, a.Header.Get("Location"))
		stolen := one.browser(t)
		stolen.Jar = secureJar{}
		for name, cookie := range b.Jar.(secureJar) {
			stolen.Jar.(secureJar)[name] = cookie
		}
		b.base = two.URL
		b.returns("company", state, "ada").leadsTo(t, "/dashboard")
		b.isUser(t, one.user.ID)
		one.has(t, 1, "company ada "+one.user.ID)
		stolen.returns("company", state, "ada").want(t, 400, "identity_state")
		stolen.nobody(t)
		if got := f.begun[0].Callback; got != "https://app.example.com/auth/identity/company/callback" || len(f.finished) != 1 {
			t.Errorf("callback %q, %d finished", got, len(f.finished))
		}
		if !strings.Contains(one.log.String(), "reason=spent") {
			t.Error("the log does not say that the state was spent")
		}
	})
}

// The callback redirects to the sign-in page if that has asked for it, and the language that was chosen stays.
func TestIdentityReturnsToThePage(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	linkedAda(t, s)
	b := s.browser(t)
	b.returns("company", b.leaves("company", "?return=login&lang=de&redirect=/dashboard%3Fx=1"), "ada").leadsTo(t, "/login?lang=de")
	b.get("/login").leadsOn(t, "/dashboard?x=1")
	if begun, finished := f.begun[len(f.begun)-1], f.finished[len(f.finished)-1]; begun.Locale != "de" || finished.Locale != "de" {
		t.Errorf("asked in %q and %q", begun.Locale, finished.Locale)
	}
	guest := s.browser(t)
	guest.returns("company", guest.leaves("company", "?return=login"), "ada").leadsTo(t, "/login")
	for _, query := range []string{"?lang=%2f%2fevil.example", "?lang=" + strings.Repeat("a", 36), "?return=https://evil.example", "?redirect=//evil.example"} {
		guest := s.browser(t)
		guest.returns("company", guest.leaves("company", query), "ada").leadsTo(t, "/dashboard")
	}
	a := b.post("/auth/account/confirm/company?lang=de", map[string]any{})
	f.people["fresh"] = proof("ada", s.clock.Now())
	b.returns("company", stateIn(t, a.json(t)["url"].(string)), "fresh").leadsTo(t, "/login?account&lang=de")
}

// leadsOn fails unless a program is redirected to a place.
func (a answer) leadsOn(t *testing.T, place string) {
	t.Helper()
	if a.StatusCode != 302 || a.Header.Get("Location") != place {
		t.Errorf("%d to %q, want %q", a.StatusCode, a.Header.Get("Location"), place)
	}
}

// verify marks the address of Ada as verified.
func verify(t *testing.T, s *testSite) {
	t.Helper()
	if err := s.db.Users().SetColumns(t.Context(), s.user.ID, map[string]any{"email_verified_at": "2026-01-02T03:04:05Z"}); err != nil {
		t.Fatal(err)
	}
}

// A callback that does not belong to the browser, the session, the provider or the time in which it was begun changes
// nothing, and the plugin is not even asked.
func TestIdentityStates(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false, func(o *host.Options) {
		o.Auth.ClientAttempts = 1000
		o.Identities = append(o.Identities, host.Identity{Name: "other", Provider: f})
	}))
	s.signedIn(t).links("company", "ada").leadsTo(t, "/login?account")
	asked := len(f.finished)
	for name, lie := range map[string]func(t *testing.T, b *browser) answer{
		"no state": func(_ *testing.T, b *browser) answer {
			b.leaves("company", "")
			return b.returns("company", "", "ada")
		},
		"a state of our own making": func(_ *testing.T, b *browser) answer {
			b.leaves("company", "")
			return b.returns("company", strings.Repeat("A", 43), "ada")
		},
		"another browser": func(t *testing.T, b *browser) answer { // login CSRF
			return b.returns("company", s.browser(t).leaves("company", ""), "ada")
		},
		"another browser that is away, too": func(t *testing.T, b *browser) answer {
			b.leaves("company", "")
			return b.returns("company", s.browser(t).leaves("company", ""), "ada")
		},
		"another provider": func(_ *testing.T, b *browser) answer { // mix-up
			return b.returns("other", b.leaves("company", ""), "ada")
		},
		"ten minutes later": func(_ *testing.T, b *browser) answer {
			state := b.leaves("company", "")
			s.clock.Advance(10 * time.Minute)
			return b.returns("company", state, "ada")
		},
		"again": func(t *testing.T, b *browser) answer { // replay
			state := b.leaves("company", "")
			cookie := b.cookie("vestibule_identity")
			b.returns("company", state, "ada").leadsTo(t, "/dashboard")
			asked++
			b.forget(sessionName)
			b.setCookie("vestibule_identity", cookie)
			return b.returns("company", state, "ada")
		},
		"begun before a sign-in": func(t *testing.T, b *browser) answer {
			state := b.leaves("company", "")
			cookie := b.cookie("vestibule_identity")
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			b.setCookie("vestibule_identity", cookie)
			a := b.returns("company", state, "ada")
			b.forget(sessionName)
			return a
		},
		"begun to link, after signing out": func(t *testing.T, b *browser) answer {
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			a := b.post("/auth/account/identities/other", map[string]any{})
			a.want(t, 200, "")
			b.do("POST", "/logout", "", "").want(t, 303, "")
			return b.returns("other", stateIn(t, a.json(t)["url"].(string)), "ada")
		},
		"begun to confirm, after signing out": func(t *testing.T, b *browser) answer {
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			a := b.post("/auth/account/confirm/company", map[string]any{})
			a.want(t, 200, "")
			b.do("POST", "/logout", "", "").want(t, 303, "")
			return b.returns("company", stateIn(t, a.json(t)["url"].(string)), "ada")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := s.browser(t)
			lie(t, b).want(t, 400, "identity_state")
			b.nobody(t)
			if len(f.finished) != asked {
				t.Errorf("the plugin was asked %d times, want %d", len(f.finished), asked)
			}
			s.has(t, 1, "company ada "+s.user.ID)
		})
	}
}

// A query with more than one meaning, or too large for one, is refused before anything else.
func TestIdentityCallbackParameters(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	for name, query := range map[string]string{
		"twice":          "code=a&code=b",
		"states":         "&state=x",
		"a semicolon":    "a=1;b=2",
		"a bad escape":   "code=%zz",
		"no text":        "code=%ff",
		"too many":       strings.Repeat("&a", 1) + manyParameters(40),
		"too long":       "code=" + strings.Repeat("x", 17<<10),
		"no text name":   "%ff=1",
		"two empty ones": "&=1&=2",
	} {
		t.Run(name, func(t *testing.T) {
			b := s.browser(t)
			state := b.leaves("company", "")
			b.get("/auth/identity/company/callback?state="+state+"&"+strings.TrimPrefix(query, "&")).want(t, 400, "malformed_request")
			b.nobody(t)
		})
	}
	b := s.browser(t)
	state := b.leaves("company", "")
	for _, path := range []string{"/auth/identity/company", "/auth/identity/company/callback?who=eve&state=" + state} {
		if a := b.do("HEAD", path, "", ""); a.StatusCode != 405 || a.Header.Get("Allow") != "GET" {
			t.Errorf("HEAD %s: %d, Allow %q", path, a.StatusCode, a.Header.Get("Allow"))
		}
	}
	if len(f.finished) > 0 {
		t.Errorf("the plugin was asked: %v", f.finished)
	}
	b.returns("company", state, "eve").want(t, 403, "identity_refused") // the state is not spent
}

func manyParameters(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "&p%d=1", i)
	}
	return b.String()
}
