package host_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/session"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// serve hands a request with the browser's cookies straight to a handler, and
// keeps the cookies that come back.
func (b *browser) serve(handler http.Handler, path string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest("GET", b.base+path, nil)
	for _, c := range b.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	b.Jar.SetCookies(r.URL, w.Result().Cookies())
	return w
}

// TestPrincipal holds the principal that a handler behind Guard gets.
func TestPrincipal(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	handler := s.host.Guard(host.GuardNone, func(w http.ResponseWriter, _ *http.Request, who host.Principal) {
		_, _ = fmt.Fprintf(w, "%s by %s, settled %v", who.UserID, who.Way, who.Settled)
	})
	b := s.browser(t)
	told := func(want string) {
		t.Helper()
		if got := b.serve(handler, "/own").Body.String(); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	told(" by , settled false")
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	told(s.user.ID + " by session, settled true")
	b.forget("vestibule_session")
	told(s.user.ID + " by device, settled true")
	told(s.user.ID + " by session, settled true")
}

// cart stores a value of the application in the browser's session, or reads it.
func (b *browser) cart(s *testSite, value string) string {
	b.t.Helper()
	store := session.New(s.db.Sessions(), session.Options{Now: s.clock.Now})
	r := httptest.NewRequest("GET", b.base, nil)
	for _, c := range b.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	stored, err := store.Get(r, "")
	if err != nil {
		b.t.Fatal(err)
	}
	if value != "" {
		stored.Values["cart"] = value
		b.save(r, store, stored)
	}
	got, _ := stored.Values["cart"].(string)
	return got
}

// TestSignInEndsTheSessionBefore holds that a sign-in takes along what the
// application keeps for the same person and for a guest, nothing of another
// person's, and leaves no row and no cookie of before that is good for anything.
func TestSignInEndsTheSessionBefore(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	if _, err := s.db.AddUser(t.Context(), "bob@example.com", "Bob", weakHash()); err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	steps := []struct{ name, login, cart string }{
		{"Ada after a guest", adaEmail, "books"},
		{"Ada again", adaEmail, "books"},
		{"Bob in Ada's browser", "bob@example.com", ""},
		{"Ada in Bob's browser", adaEmail, ""},
	}
	b.cart(s, "books")
	for _, step := range steps {
		before := b.cookie("vestibule_session")
		b.login(step.login, adaPassword, false).want(t, 200, "")
		if got := b.cart(s, ""); got != step.cart {
			t.Errorf("%s: the cart holds %q, want %q", step.name, got, step.cart)
		}
		var rows int
		if err := s.db.Reader().Get(&rows, "SELECT COUNT(*) FROM vestibule_sessions"); err != nil || rows != 1 {
			t.Errorf("%s: %d sessions, %v; want one", step.name, rows, err)
		}
		old := s.browser(t)
		old.setCookie("vestibule_session", before)
		old.get("/dashboard", "Accept", "application/json").want(t, 401, "unauthenticated")
		if step.cart == "" {
			b.cart(s, "of "+step.login)
		}
	}
}

// unread is a source that must not be asked.
type unread struct{ t *testing.T }

func (u unread) Open(context.Context, *plan.Plan) (plan.Rows, error) {
	u.t.Error("the source was read")
	return nil, context.Canceled
}

// TestQueryInAnOutage holds that the query endpoint answers 503 when it cannot be
// told who asks: neither as to a guest nor with the sign-in's own faults.
func TestQueryInAnOutage(t *testing.T) {
	id := &edm.Property{Name: "ID", Type: edm.Of(edm.Int64)}
	typ := &edm.EntityType{Name: "Number", Key: []*edm.Property{id}, Properties: []*edm.Property{id}}
	model := &odata.Model{Namespace: "Demo", Container: "Container", Guard: edm.GuardNone, Types: []*edm.EntityType{typ}, Sets: []*edm.EntitySet{
		{Name: "Open", Type: typ, Guard: edm.GuardNone}, {Name: "Numbers", Type: typ, Guard: edm.GuardSession},
	}}
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.OData = &host.ODataOptions{Model: model, Source: unread{t}} })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/odata/Numbers", "/odata/Open"} {
		if a := b.get(path); a.StatusCode != 503 || a.Header.Get("OData-Version") == "" {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
	}
}
