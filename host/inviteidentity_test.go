package host_test

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// identitiesAlone returns a change of options: nothing but the identities "company" and "guild" signs people in.
func identitiesAlone(f *fakeProvider, changes ...func(*host.Options)) func(*host.Options) {
	return withIdentity(f, "never", false, append(changes, func(o *host.Options) {
		o.Auth.PasswordOff, o.Auth.PasskeysOff = true, true
		o.Identities = append(o.Identities, host.Identity{Name: "guild", Provider: f})
	})...)
}

// accepts begins to link an identity by the token of a link and returns the state.
func (b *browser) accepts(name, token string) string {
	b.t.Helper()
	a := b.post("/auth/invitation/identities/"+name, map[string]any{"email": eveEmail, "token": token})
	a.want(b.t, 200, "")
	return stateIn(b.t, a.json(b.t)["url"].(string))
}

// Where identities alone sign people in, an invitation is for one of them, whatever its address is, and signs its owner in.
func TestInvitationToAnIdentity(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		f.people["bob"] = f.people["bob"].With(pluginsdk.SetUser("name", "Bob of the company"))
		s := newSite(t, open(), identitiesAlone(f))
		user := s.invite(t, "de")
		mail, path, token := s.invitation(t)
		for _, want := range []string{"um sich mit einem Konto anzumelden, das Sie anderswo haben", "Anmelden</a>", "Bis dahin kann niemand"} {
			if !strings.Contains(mail, want) {
				t.Errorf("no %q in the mail:\n%s", want, mail)
			}
		}
		b := s.browser(t)
		for range 2 { // a mail scanner's look consumes nothing
			want := "/login?invited#/set-password/" + token + "/eve%40example.com"
			if got := b.get(path).Header.Get("Location"); got != want {
				t.Fatalf("the link leads to %q, want %q", got, want)
			}
		}
		b.post("/auth/invitation/options", map[string]any{"email": eveEmail, "token": token}).want(t, 404, "not_found")
		b.by("company", "bob").want(t, 403, "identity_unknown") // without the link
		state := b.accepts("company", token)
		if last := f.begun[len(f.begun)-1]; last.Fresh || last.LoginHint != eveEmail {
			t.Errorf("asked %+v", last)
		}
		b.returns("company", state, "bob").leadsTo(t, "/dashboard")
		b.isUser(t, user.ID)
		s.has(t, 2, "company bob "+user.ID)
		if now, err := s.db.Users().FindByID(t.Context(), user.ID); err != nil || now.Name != "Bob of the company" {
			t.Errorf("the user %+v, %v", now, err)
		}
		b.returns("company", state, "bob").want(t, 400, "identity_state")
		if got := b.get(path).Header.Get("Location"); got != "/login#/set-password" {
			t.Errorf("a used link leads to %q", got)
		}
		other := s.browser(t)
		other.post("/auth/invitation/identities/company", map[string]any{"email": eveEmail, "token": token}).want(t, 422, "reset_failed")
		other.by("company", "bob").leadsTo(t, "/dashboard")
		var acts []string
		for _, row := range rows(t, s.db, "vestibule_audit") {
			acts = append(acts, row["act"])
		}
		if strings.Join(acts, " ") != "user_invite identity_link" {
			t.Errorf("audit %v", acts)
		}
		log := s.log.String()
		if strings.Contains(log, token) || strings.Count(log, "event=invitation_used") != 1 || !strings.Contains(log, "by=identity:company") {
			t.Errorf("the log holds the token, or lacks the audit lines:\n%s", log)
		}
		if _, _, err := s.host.SignIn().MintInvitation(t.Context(), user.ID); !errors.Is(err, auth.ErrNotFound) {
			t.Errorf("another link was made: %v", err)
		}
		s.letters(t, 2) // the notice of a new identity
	})
}

// Of two callbacks at two hosts with one invitation one wins, and its identity alone is linked.
func TestOneIdentityOfAnInvitation(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		mails := t.TempDir()
		shared := func(o *host.Options) { o.Mail.Dir = mails }
		sites := []*testSite{newSite(t, open(), identitiesAlone(f, shared)), newSite(t, open(), identitiesAlone(f, shared))}
		sites[0].mails = mails
		user := sites[0].invite(t, "")
		_, _, token := sites[0].invitation(t)
		people, names := []string{"ada", "bob"}, []string{"company", "guild"}
		var begun []func() int
		for i := range 4 {
			b := sites[i%2].browser(t)
			name, who := names[i/2], people[i%2]
			state := b.accepts(name, token)
			begun = append(begun, func() int { return b.returns(name, state, who).StatusCode })
		}
		statuses := make([]int, len(begun))
		var all sync.WaitGroup
		for i, callback := range begun {
			all.Go(func() { statuses[i] = callback() })
		}
		all.Wait()
		n := map[int]int{}
		for _, status := range statuses {
			n[status]++
		}
		if linked := sites[0].linkedTo(t); n[302] != 1 || n[400] != 3 || len(linked) != 1 || !strings.HasSuffix(linked[0], " "+user.ID) {
			t.Errorf("statuses %v, linked %q", statuses, linked)
		}
		if live := rows(t, sites[0].db, "vestibule_sessions"); len(live) != 1 {
			t.Errorf("%d sessions, want one", len(live))
		}
	})
}

// An invitee is Eve at her browser, with the token of her invitation.
type invitee struct {
	*browser
	s     *testSite
	f     *fakeProvider
	token string
}

// newInvitee invites Eve where nothing but identities signs people in.
func newInvitee(t *testing.T) invitee {
	t.Helper()
	f := newProvider()
	s := newSite(t, sqliteStore(t), identitiesAlone(f))
	s.invite(t, "")
	_, _, token := s.invitation(t)
	return invitee{s.browser(t), s, f, token}
}

// begins posts the token and an address to where an identity is linked by a link.
func (i invitee) begins(name, email, token string, header ...string) answer {
	i.t.Helper()
	return i.post("/auth/invitation/identities/"+name, map[string]any{"email": email, "token": token}, header...)
}

// Without the token of a link nobody begins to link an identity by one.
func TestInvitationToAnIdentityIsRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		status     int
		begin      func(i invitee) answer
	}{
		{"a token that nobody has", "reset_failed", 422, func(i invitee) answer { return i.begins("company", eveEmail, "x") }},
		{"another address", "reset_failed", 422, func(i invitee) answer { return i.begins("company", adaEmail, i.token) }},
		{"no token", "reset_failed", 422, func(i invitee) answer { return i.post("/auth/invitation/identities/company", map[string]any{}) }},
		{"another provider", "not_found", 404, func(i invitee) answer { return i.begins("other", eveEmail, i.token) }},
		{"a page of another site", "cross_origin", 403, func(i invitee) answer {
			return i.begins("company", eveEmail, i.token, "Origin", "https://evil.example")
		}},
		{"an expired token", "reset_failed", 422, func(i invitee) answer {
			i.s.clock.Advance(7*24*time.Hour + time.Second)
			return i.begins("company", eveEmail, i.token)
		}},
		{"a provider that is down", "identity_unavailable", 503, func(i invitee) answer {
			i.f.fails["begin"] = pluginsdk.ErrUnavailable
			return i.begins("company", eveEmail, i.token)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newInvitee(t)
			a := test.begin(i)
			a.want(t, test.status, test.want)
			if len(a.Cookies()) != 0 {
				t.Errorf("cookies %v", a.Cookies())
			}
		})
	}
	i := newInvitee(t)
	for range 5 {
		i.begins("company", eveEmail, "x").want(t, 422, "reset_failed")
	}
	i.begins("company", eveEmail, "x").want(t, 429, "auth_throttle|60|1")
	i.begins("company", eveEmail, i.token).want(t, 200, "") // nobody's failures keep out who has the mail
}

// A callback that is refused links nothing and signs nobody in. The link stays usable unless it has ended by itself.
func TestCallbackOfAnInvitation(t *testing.T) {
	for _, test := range []struct {
		name, want string
		status     int
		left       bool // whether the link works afterwards
		back       func(t *testing.T, i invitee, state string) answer
	}{
		{"another browser", "identity_state", 400, true, func(t *testing.T, i invitee, state string) answer {
			return i.s.browser(t).returns("company", state, "bob")
		}},
		{"another provider", "identity_state", 400, true, func(_ *testing.T, i invitee, state string) answer { return i.returns("guild", state, "bob") }},
		{"another session", "identity_state", 400, true, func(t *testing.T, i invitee, state string) answer {
			i.s.links(t, i.s.user.ID, "company", "ada")
			i.by("company", "ada").leadsTo(t, "/dashboard")
			return i.returns("company", state, "bob")
		}},
		{"too late", "identity_state", 400, true, func(_ *testing.T, i invitee, state string) answer {
			i.s.clock.Advance(10 * time.Minute)
			return i.returns("company", state, "bob")
		}},
		{"refused there", "identity_refused", 403, true, func(_ *testing.T, i invitee, state string) answer { return i.returns("company", state, "nobody") }},
		{"an identity of somebody else", "identity_taken", 403, true, func(t *testing.T, i invitee, state string) answer {
			i.s.links(t, i.s.user.ID, "company", "bob")
			return i.returns("company", state, "bob")
		}},
		{"another identity of the person", "identity_taken", 403, true, func(t *testing.T, i invitee, state string) answer {
			i.s.links(t, i.eve(t), "company", "ada")
			return i.returns("company", state, "bob")
		}},
		{"used meanwhile", "identity_state", 400, false, func(t *testing.T, i invitee, state string) answer {
			other := invitee{i.s.browser(t), i.s, i.f, i.token}
			other.returns("guild", other.accepts("guild", i.token), "ada").leadsTo(t, "/dashboard")
			return i.returns("company", state, "bob")
		}},
		{"ended by another link", "identity_state", 400, false, func(t *testing.T, i invitee, state string) answer {
			if _, _, err := i.s.admin.ResetLink(t.Context(), eveEmail); err != nil {
				t.Fatal(err)
			}
			return i.returns("company", state, "bob")
		}},
		{"somebody disabled", "identity_state", 400, false, func(t *testing.T, i invitee, state string) answer {
			i.disable(t)
			return i.returns("company", state, "bob")
		}},
		{"ended while the provider answers", "identity_state", 400, false, func(t *testing.T, i invitee, state string) answer {
			i.f.during = func() { i.s.execute(t, `UPDATE users SET email = 'new@example.com' WHERE email = '`+eveEmail+`'`) }
			return i.returns("company", state, "bob")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newInvitee(t)
			a := test.back(t, i, i.accepts("company", i.token))
			a.want(t, test.status, test.want)
			for _, linked := range i.s.linkedTo(t) {
				if strings.HasPrefix(linked, "company bob ") && test.name != "an identity of somebody else" {
					t.Errorf("linked %q", linked)
				}
			}
			i.f.during = nil
			answer, want := i.begins("company", eveEmail, i.token), 422
			if test.left {
				want = 200
			}
			if answer.StatusCode != want {
				t.Errorf("the link afterwards: %d %s, want %d", answer.StatusCode, answer.body, want)
			}
		})
	}
}

// eve returns the id of the person who is invited.
func (i invitee) eve(t *testing.T) string {
	t.Helper()
	user, err := i.s.admin.FindUser(t.Context(), eveEmail)
	if err != nil {
		t.Fatal(err)
	}
	return user.ID
}

func (i invitee) disable(t *testing.T) {
	t.Helper()
	if err := i.s.admin.SetDisabled(t.Context(), eveEmail, true); err != nil {
		t.Fatal(err)
	}
}

// links links an identity to a user without a browser.
func (s *testSite) links(t *testing.T, userID, name, subject string) {
	t.Helper()
	if err := s.db.Identities().Add(t.Context(), identity.Identity{Name: name, Subject: subject, UserID: userID, Created: s.clock.Now()}); err != nil {
		t.Fatal(err)
	}
}

// The token is claimed with the session: another request that claims it while the dispenser answers wins.
func TestInvitationEndsBeforeItsClaim(t *testing.T) {
	f, g := newProvider(), &gate{}
	s := newSite(t, sqliteStore(t), identitiesAlone(f, func(o *host.Options) { o.Dispenser = g }))
	s.invite(t, "")
	_, _, token := s.invitation(t)
	g.answer = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
		s.execute(t, `UPDATE vestibule_invitations SET used_by = 'another request'`)
		return pluginsdk.Redirect("/dashboard"), nil
	}
	b := s.browser(t)
	b.returns("company", b.accepts("company", token), "bob").want(t, 400, "identity_state")
	b.nobody(t)
	s.has(t, 2)
}

// Somebody who was invited and signs in without the link, by a verified address, leaves no link behind that others could use.
func TestLinkByAddressEndsInvitation(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		f := newProvider()
		f.people["eve"] = somebody("eve", eveEmail)
		s := newSite(t, open(), identitiesAlone(f, func(o *host.Options) { o.Identities[0].Link = "verified_email" }))
		user := s.invite(t, "")
		_, _, token := s.invitation(t)
		s.execute(t, `UPDATE users SET email_verified_at = '2026-01-01 00:00:00' WHERE email = '`+eveEmail+`'`)
		s.browser(t).by("company", "eve").leadsTo(t, "/dashboard")
		s.has(t, 2, "company eve "+user.ID)
		other := s.browser(t)
		other.post("/auth/invitation/identities/guild", map[string]any{"email": eveEmail, "token": token}).want(t, 422, "reset_failed")
	})
}

// The link that an operator prints is for an identity as well, and ends what the person had open. An identity that the person
// has already signs in, and the link is used up.
func TestPrintedLinkToAnIdentity(t *testing.T) {
	f := newProvider()
	s := newSite(t, sqliteStore(t), identitiesAlone(f))
	s.links(t, s.user.ID, "company", "ada")
	before := s.browser(t)
	before.by("company", "ada").leadsTo(t, "/dashboard")
	for _, name := range []string{"company", "guild"} {
		link, _, err := s.admin.ResetLink(t.Context(), adaEmail)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		body := map[string]any{"email": adaEmail, "token": strings.TrimPrefix(u.Path, "/password/reset/")}
		a := before.post("/auth/invitation/identities/"+name, body)
		a.want(t, 200, "")
		before.returns(name, stateIn(t, a.json(t)["url"].(string)), "ada").leadsTo(t, "/dashboard")
		before.isUser(t, s.user.ID)
		before.post("/auth/invitation/identities/"+name, body).want(t, 422, "reset_failed")
		if live := rows(t, s.db, "vestibule_sessions"); len(live) != 1 {
			t.Errorf("%d sessions, want one", len(live))
		}
	}
	s.has(t, 1, "company ada "+s.user.ID, "guild ada "+s.user.ID)
	if strings.Contains(s.log.String(), "event=invitation_used") || strings.Count(s.log.String(), "event=reset ") != 2 {
		t.Errorf("the log has no audit lines of the links:\n%s", s.log)
	}
}

// Where people sign in with passwords or passkeys, nobody links an identity by a link.
func TestNoIdentityByALink(t *testing.T) {
	for name, change := range map[string]func(*host.Options){
		"with passwords": nil,
		"with passkeys":  withoutPasswords,
	} {
		t.Run(name, func(t *testing.T) {
			f := newProvider()
			s := newSite(t, sqliteStore(t), withIdentity(f, "never", false, func(o *host.Options) {
				if change != nil {
					change(o)
				}
			}))
			s.invite(t, "")
			_, _, token := s.invitation(t)
			s.browser(t).post("/auth/invitation/identities/company", map[string]any{"email": eveEmail, "token": token}).want(t, 404, "not_found")
		})
	}
}
