package host_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/sessions"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// save writes the application's values, and hands the browser the cookie of a
// session that begins with them.
func (b *browser) save(r *http.Request, store *session.Store, s *sessions.Session) {
	b.t.Helper()
	w := httptest.NewRecorder()
	if err := store.Save(r, w, s); err != nil {
		b.t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		b.setCookie(c.Name, c.Value)
	}
}

// application returns what the application keeps in the browser's session, after
// adding value under "cart" unless it is empty.
func (s *testSite) application(t *testing.T, b *browser, value string) map[string]any {
	t.Helper()
	store := session.New(s.db.Sessions(), session.Options{Now: s.clock.Now})
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: sessionName, Value: b.cookie(sessionName)})
	stored, err := store.Get(r, sessionName)
	if err != nil {
		t.Fatal(err)
	}
	if value != "" {
		stored.Values["cart"] = value
		b.save(r, store, stored)
	}
	got := map[string]any{}
	for k, v := range stored.Values {
		if k == "cart" {
			got["cart"] = v
		}
	}
	return got
}

// What the application and the plugins keep in a session stays with the person:
// a guest's things come along, and the next person in the same browser gets none.
func TestSessionValuesStayWithThePerson(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser = o })
	var plugin map[string]pluginsdk.Value
	o.dispense = func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		plugin = r.Session.All()
		return pluginsdk.Done().With(pluginsdk.SetSession("orgs/name", u.Name)), nil
	}
	if _, err := s.admin.AddUser(t.Context(), "bob@example.com", "Bob", "another-long-password-5"); err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	b.get("/dashboard").want(t, 302, "")
	s.application(t, b, "of the guest")
	b.get("/dashboard?tab=2").want(t, 302, "") // keeps another page
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	if diff := cmp.Diff(map[string]any{"cart": "of the guest"}, s.application(t, b, "")); diff != "" {
		t.Error(diff)
	}
	s.application(t, b, "of Ada")
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	if diff := cmp.Diff(map[string]any{"cart": "of Ada"}, s.application(t, b, "")); diff != "" {
		t.Error(diff)
	}
	b.login("bob@example.com", "another-long-password-5", false).want(t, 200, "")
	if got := s.application(t, b, ""); len(got) > 0 || len(plugin) > 0 {
		t.Errorf("Bob got %v and %v", got, plugin)
	}
}

// A session gets a new id with every sign-in, and the row of the old one is gone:
// whoever knows the old cookie has nothing.
func TestRenewalEndsTheOldRow(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	s.application(t, b, "of the guest")
	for range 2 { // from a guest's session, then from one's own
		old := b.cookie(sessionName)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		if n := len(rows(t, s.db, "vestibule_sessions")); n != 1 || b.cookie(sessionName) == old {
			t.Errorf("%d rows, cookie changed: %v; want one row and another cookie", n, b.cookie(sessionName) != old)
		}
	}
}
