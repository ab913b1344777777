package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// What becomes of an identity that nobody has: linked, made or refused, by the configuration, by what the provider has
// verified, and by the users who have the address.
func TestUnknownIdentities(t *testing.T) {
	for name, tt := range map[string]struct {
		link    string
		create  bool
		who     string
		prepare func(t *testing.T, s *testSite)
		// status and code are those of a page; a sign-in otherwise, linked or made as in has.
		status int
		code   string
		users  int
		has    []string
	}{
		"never":                      {link: "never", who: "ada", prepare: verify, status: 403, code: "identity_unknown", users: 1},
		"the zero rule":              {who: "ada", prepare: verify, status: 403, code: "identity_unknown", users: 1},
		"by address":                 {link: "verified_email", who: "ada", prepare: verify, users: 1, has: []string{"company ada 1"}},
		"by address in another case": {link: "verified_email", who: "ADA", prepare: verify, users: 1, has: []string{"company ADA 1"}},
		"by an address that is not verified there": {link: "verified_email", who: "unverified", prepare: verify, status: 403, code: "identity_unknown", users: 1},
		"by an address that is not verified here":  {link: "verified_email", who: "ada", status: 403, code: "identity_unknown", users: 1}, // an account made in advance
		"by no address":                               {link: "verified_email", who: "nameless", prepare: verify, status: 403, code: "identity_unknown", users: 1},
		"by an address that two users have":           {link: "verified_email", create: true, who: "ada", prepare: twoAdas, status: 403, code: "identity_unknown", users: 2},
		"by the address of somebody disabled":         {link: "verified_email", create: true, who: "ada", prepare: disabledAda, status: 403, code: "identity_unknown", users: 1},
		"by the address of somebody inactive":         {link: "verified_email", create: true, who: "ada", prepare: inactiveAda, status: 403, code: "identity_unknown", users: 1},
		"by the address of somebody with another one": {link: "verified_email", create: true, who: "second", prepare: linkedAda, status: 403, code: "identity_unknown", users: 1, has: []string{"company ada 1"}},
		"made":                           {create: true, who: "bob", users: 2, has: []string{"company bob 2"}},
		"made where links go by address": {link: "verified_email", create: true, who: "bob", users: 2, has: []string{"company bob 2"}},
		"not made for a taken address":   {create: true, who: "ada", prepare: verify, status: 403, code: "identity_unknown", users: 1},
		"not made for a taken address in another case":  {create: true, who: "ADA", status: 403, code: "identity_unknown", users: 1},
		"not made for the address of somebody disabled": {create: true, who: "ada", prepare: disabledAda, status: 403, code: "identity_unknown", users: 1},
		"not made for an address that is not verified":  {create: true, who: "unverified bob", status: 403, code: "identity_unknown", users: 1},
		"not made without an address":                   {create: true, who: "nameless", status: 403, code: "identity_unknown", users: 1},
		"not made for what is no address":               {create: true, who: "odd", status: 403, code: "identity_unknown", users: 1},
		"not made where links are confirmed":            {link: "confirm", create: true, who: "bob", status: 302, code: "/login", users: 1},
		"somebody disabled":                             {who: "ada", prepare: both(linkedAda, disabledAda), status: 403, code: "identity_inactive", users: 1, has: []string{"company ada 1"}},
		"somebody inactive":                             {who: "ada", prepare: both(linkedAda, inactiveAda), status: 403, code: "identity_inactive", users: 1, has: []string{"company ada 1"}},
		"refused there":                                 {create: true, who: "eve", status: 403, code: "identity_refused", users: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newProvider()
			f.people["ADA"], f.people["second"] = somebody("ADA", "ADA@Example.com"), somebody("second", adaEmail)
			f.people["odd"] = somebody("odd", "Bob <bob@example.com>")
			f.people["unverified bob"] = pluginsdk.Identified(pluginsdk.Identity{Subject: "bob", Email: "bob@example.com"})
			active := func(o *host.Options) {
				o.Auth.Active = func(columns map[string]any, _ time.Time) bool { return columns["name"] != "Gone" }
			}
			s := newSite(t, sqliteStore(t), withIdentity(f, tt.link, tt.create, active))
			if tt.prepare != nil {
				tt.prepare(t, s)
			}
			b := s.browser(t)
			before := len(rows(t, s.db, "vestibule_sessions"))
			a := b.by("company", tt.who)
			s.has(t, tt.users, tt.has...)
			switch {
			case tt.status == 302:
				a.leadsTo(t, tt.code)
				b.nobody(t)
			case tt.status != 0:
				a.want(t, tt.status, tt.code)
				b.nobody(t)
				if len(rows(t, s.db, "vestibule_sessions")) > before || !strings.Contains(s.log.String(), "event=identity_refused") {
					t.Error("there is a session, or no audit line")
				}
			default:
				a.leadsTo(t, "/dashboard")
				b.isUser(t, strings.Fields(tt.has[0])[2])
				again := s.browser(t)
				again.by("company", tt.who).leadsTo(t, "/dashboard")
				s.has(t, tt.users, tt.has...)
			}
		})
	}
}

func both(first, second func(*testing.T, *testSite)) func(*testing.T, *testSite) {
	return func(t *testing.T, s *testSite) {
		t.Helper()
		first(t, s)
		second(t, s)
	}
}

func twoAdas(t *testing.T, s *testSite) {
	t.Helper()
	verify(t, s)
	s.execute(t, `DROP INDEX users_email_lower`) // of the stock table; an application's own may have none
	s.execute(t, `INSERT INTO users (name, email, email_verified_at, password) VALUES ('Eve', 'Ada@example.com', '2026-01-01 00:00:00', '!')`)
}

func disabledAda(t *testing.T, s *testSite) {
	t.Helper()
	verify(t, s)
	if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
		t.Fatal(err)
	}
}

func inactiveAda(t *testing.T, s *testSite) {
	t.Helper()
	verify(t, s)
	s.execute(t, `UPDATE users SET name = 'Gone'`)
}

func linkedAda(t *testing.T, s *testSite) {
	t.Helper()
	verify(t, s)
	s.signedIn(t).links("company", "ada").leadsTo(t, "/login?account")
}

func (s *testSite) execute(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.db.Writer().Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// A user who is made has a name, an address and no password, on each database.
func TestIdentityMakesAUser(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		f.people["bob"] = f.people["bob"].With(pluginsdk.SetUser("name", "Robert"))
		s := newSite(t, open(), withIdentity(f, "never", true))
		b := s.browser(t)
		b.by("company", "bob").leadsTo(t, "/dashboard")
		user, err := s.admin.FindUser(t.Context(), "bob@example.com")
		if err != nil || user.Name != "Robert" || user.Password != "!" {
			t.Errorf("made %+v, %v", user, err)
		}
		b.isUser(t, user.ID)
		if password := b.account(t)["password"]; password != false {
			t.Errorf("password %v", password)
		}
		b.delete("/auth/account/identities/company").want(t, 409, "last_way_to_sign_in")
		s.has(t, 2, "company bob "+user.ID)
		if log := s.log.String(); !strings.Contains(log, "event=identity_create ") {
			t.Error("no audit line")
		}
	})
}

// An identity that nobody has is linked by the next sign-in of the browser, once, and the page says what will be linked.
func TestIdentityIsLinkedByConfirming(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		f.people["work"] = somebody("work", "ada@work.example").With(pluginsdk.SetUser("name", "Countess"))
		s := newSite(t, open(), withIdentity(f, "confirm", false))
		b := s.browser(t)
		b.get("/dashboard?x=1").want(t, 302, "")
		b.by("company", "work").leadsTo(t, "/login")
		pending := fmt.Sprint(b.get("/auth/bootstrap").json(t)["pending"])
		if pending != "map[account:ada@work.example label:Company account name:company]" {
			t.Errorf("pending %s", pending)
		}
		kept := b.cookie("vestibule_link")
		b.login(adaEmail, "wrong", false).want(t, 422, "credentials_do_not_match")
		s.has(t, 1)
		in := b.login(adaEmail, adaPassword, true)
		in.want(t, 200, "login_success")
		if in.next(t).Target() != "/dashboard?x=1" {
			t.Errorf("leads to %s", in.body)
		}
		s.has(t, 1, "company work "+s.user.ID)
		if user, err := s.admin.FindUser(t.Context(), adaEmail); err != nil || user.Name != "Countess" {
			t.Errorf("name %q, %v", user.Name, err)
		}
		if b.cookie("vestibule_link") != "" || b.get("/auth/bootstrap").json(t)["pending"] != nil {
			t.Error("the link is still pending")
		}
		if sent := s.letters(t, 1); !strings.Contains(sent[0], "account elsewhere was linked") {
			t.Errorf("mail %s", sent[0])
		}
		// The cookie serves once.
		b.delete("/auth/account/identities/company").want(t, 204, "")
		again := s.browser(t)
		again.setCookie("vestibule_link", kept)
		again.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
		s.has(t, 1)
	})
}

// What is pending is given up by the person, after ten minutes, and where the person or somebody else has an identity by then;
// the sign-in succeeds all the same.
func TestPendingIdentityIsNotLinked(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *testSite, b *browser){
		"given up": func(t *testing.T, _ *testSite, b *browser) {
			b.delete("/auth/identity/company").want(t, 204, "")
			b.delete("/auth/identity/company").want(t, 204, "")
		},
		"too late": func(_ *testing.T, s *testSite, _ *browser) { s.clock.Advance(10 * time.Minute) },
		"another sign-in of the browser": func(t *testing.T, s *testSite, b *browser) {
			if _, err := s.admin.AddUser(t.Context(), "bob@example.com", "Bob", adaPassword+"!"); err != nil {
				t.Fatal(err)
			}
			cookie := b.cookie("vestibule_link")
			b.login("bob@example.com", adaPassword+"!", false).want(t, 200, "")
			b.delete("/auth/account/identities/company").want(t, 204, "")
			b.forget(sessionName)
			b.setCookie("vestibule_link", cookie)
		},
		"a cookie of our own making": func(_ *testing.T, _ *testSite, b *browser) { b.setCookie("vestibule_link", strings.Repeat("A", 200)) },
		"the person has another one": func(t *testing.T, s *testSite, _ *browser) {
			s.signedIn(t).links("company", "unverified").leadsTo(t, "/login?account")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newProvider()
			s := newSite(t, sqliteStore(t), withIdentity(f, "confirm", false))
			b := s.browser(t)
			b.by("company", "bob").leadsTo(t, "/login")
			change(t, s, b)
			b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
			for _, one := range s.linkedTo(t) {
				if one == "company bob "+s.user.ID {
					t.Error("linked")
				}
			}
		})
	}
}

// A password alone links nothing: the identity is linked once the second factor was given, and not before.
func TestIdentityIsLinkedOnceSettled(t *testing.T) {
	f, g := newProvider(), &gate{}
	s := newSite(t, sqliteStore(t), withIdentity(f, "confirm", false, func(o *host.Options) { o.Dispenser = g }))
	b := s.browser(t)
	g.answers(pluginsdk.Redirect("/app/factor").Hold(), nil)
	b.by("company", "bob").leadsTo(t, "/login")
	b.login(adaEmail, adaPassword, false).want(t, 200, "login_success")
	s.has(t, 1)
	g.answers(pluginsdk.Redirect("/app/factor").Hold().Failed("wrong_code"), nil)
	b.post("/auth/intents/redirect", map[string]any{"code": "1"}).want(t, 200, "")
	s.has(t, 1)
	g.answers(pluginsdk.Done(), nil)
	b.post("/auth/intents/redirect", map[string]any{"code": "2"}).want(t, 200, "")
	s.has(t, 1, "company bob "+s.user.ID)
	if !strings.Contains(s.log.String(), "event=identity_link ") {
		t.Error("no audit line")
	}
}

// The dispenser learns by what somebody signed in, sees the effects, and nothing is linked if it fails.
func TestDispenserOfAnIdentity(t *testing.T) {
	f, o := newProvider(), &orgs{}
	f.people["ada"] = f.people["ada"].With(pluginsdk.SetUser("name", "Countess"))
	var seen []string
	var fails error
	o.dispense = func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		seen = append(seen, u.Name+" by "+r.SignedInBy)
		return pluginsdk.OrgSetup(u.Name), fails
	}
	s := newSite(t, sqliteStore(t), withIdentity(f, "verified_email", false, func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o }))
	verify(t, s)
	fails = errors.New("down")
	b := s.browser(t)
	a := b.by("company", "ada")
	a.want(t, 503, "dispenser_unavailable")
	s.has(t, 1)
	b.nobody(t)
	fails = nil
	b.get("/dashboard").want(t, 302, "")
	b.by("company", "ada").leadsTo(t, "/login")
	s.has(t, 1, "company ada "+s.user.ID)
	if got := b.get("/auth/intents/current").next(t); got.Kind != "org_setup" {
		t.Errorf("next %+v", got)
	}
	if len(seen) != 2 || seen[1] != "Countess by identity:company" {
		t.Errorf("seen %q", seen)
	}
}

// Somebody signed in comes back as the person of the identity, with a new session, and nothing is linked to either.
func TestIdentityOfAnotherPerson(t *testing.T) {
	for _, link := range []string{"never", "confirm", "verified_email"} {
		t.Run(link, func(t *testing.T) {
			f := newProvider()
			s := newSite(t, sqliteStore(t), withIdentity(f, link, false))
			linkedAda(t, s)
			bob, err := s.admin.AddUser(t.Context(), "bob@example.com", "Bob", adaPassword+"!")
			if err != nil {
				t.Fatal(err)
			}
			s.execute(t, `UPDATE users SET email_verified_at = '2026-01-01 00:00:00'`)
			b := s.browser(t)
			b.login("bob@example.com", adaPassword+"!", false).want(t, 200, "")
			before := b.cookie(sessionName)
			b.by("company", "bob").want(t, 403, "identity_unknown")
			b.isUser(t, bob.ID)
			b.by("company", "ada").leadsTo(t, "/dashboard")
			b.isUser(t, s.user.ID)
			if b.cookie(sessionName) == before {
				t.Error("the session has its old id")
			}
			s.browser(t).get("/auth/intents/current", "Cookie", sessionName+"="+before).want(t, 401, "unauthenticated")
			s.has(t, 2, "company ada "+s.user.ID)
		})
	}
}

// The application may give the id of somebody who is gone to somebody else, whom the identity does not sign in. The rows of
// the former are replaced.
func TestIdentityOfAFormerUser(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", false))
	linkedAda(t, s)
	s.execute(t, `DELETE FROM users`)
	s.browser(t).by("company", "ada").want(t, 403, "identity_unknown")
	s.clock.Advance(72 * time.Hour)
	s.execute(t, `INSERT INTO users (id, name, email, password, created_at) VALUES (1, 'Ada', 'ada@example.com', '`+weakHash()+`', '2026-05-07 12:00:00')`)
	b := s.browser(t)
	b.by("company", "ada").want(t, 403, "identity_unknown")
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	if shown := fmt.Sprint(b.account(t)["identities"]); !strings.Contains(shown, "linked:<nil>") {
		t.Errorf("shown %s", shown)
	}
	b.links("company", "ada").leadsTo(t, "/login?account")
	s.has(t, 1, "company ada 1")
	s.browser(t).by("company", "ada").leadsTo(t, "/dashboard")
}

var errOfProvider = fmt.Errorf("%w: late", pluginsdk.ErrUnavailable)

// A provider that does not answer, or answers nonsense, is a page, and no failure of the client.
func TestProviderFails(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), withIdentity(f, "never", true, func(o *host.Options) { o.Auth.ClientAttempts = 5 }))
	f.fails = map[string]error{"late": errOfProvider, "own": errors.New("no such issuer"), "broken": pluginsdk.ErrContract}
	f.people["no subject"] = pluginsdk.Identified(pluginsdk.Identity{Email: "bob@example.com", EmailVerified: true})
	f.people["a session"] = somebody("x", "x@example.com").With(pluginsdk.SetSession("a", "b"))
	f.people["the key"] = somebody("x", "x@example.com").With(pluginsdk.SetUser("id", int64(9)))
	for range 3 {
		for who, want := range map[string]struct {
			status int
			code   string
		}{
			"late": {503, "identity_unavailable"}, "own": {502, "identity_contract"}, "broken": {502, "identity_contract"},
			"no subject": {502, "identity_contract"}, "a session": {502, "identity_contract"}, "the key": {502, "identity_contract"},
		} {
			s.browser(t).by("company", who).want(t, want.status, want.code)
		}
	}
	s.has(t, 1)
	f.fails["begin"] = errOfProvider
	s.browser(t).get("/auth/identity/company").want(t, 503, "identity_unavailable")
	f.fails["begin"] = context.DeadlineExceeded
	s.browser(t).get("/auth/identity/company").want(t, 502, "identity_contract")
	delete(f.fails, "begin")
	f.private = 3000
	s.browser(t).get("/auth/identity/company").want(t, 502, "identity_contract")
	f.private = 0
	s.browser(t).get("/auth/identity/other").want(t, 404, "not_found")
	s.browser(t).get("/auth/identity/other/callback").want(t, 404, "not_found")
	for range 5 {
		s.browser(t).by("company", "eve").want(t, 403, "identity_refused")
	}
	b := s.browser(t)
	throttled := b.get("/auth/identity/company")
	if throttled.StatusCode != 429 || throttled.Header.Get("Retry-After") == "" {
		t.Errorf("after five failures of a client: %d %v", throttled.StatusCode, throttled.Header)
	}
	s.clock.Advance(time.Minute + time.Second)
	b.by("company", "bob").leadsTo(t, "/dashboard")
}
