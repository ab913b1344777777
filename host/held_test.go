package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// gate holds people at /app/terms until they have given the code 4711, which a column
// remembers. It notes what it was asked.
type gate struct {
	mu    sync.Mutex
	asked []*pluginsdk.Request
	// answer, when not nil, is asked instead.
	answer func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error)
}

func (g *gate) Dispense(_ context.Context, u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
	g.mu.Lock()
	g.asked = append(g.asked, r)
	answer := g.answer
	g.mu.Unlock()
	if answer != nil {
		return answer(u, r)
	}
	return once(u, r)
}

// once takes the code 4711 one time, whatever sessions try it.
func once(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
	held := pluginsdk.Redirect("/app/terms?v=2").Hold("/app/assets/")
	used := u.Columns.Raw("used")
	passed, _ := r.Session.Bool("passed")
	switch code := r.Form.Raw("code"); {
	case passed:
		return pluginsdk.Done(), nil
	case code == "4711" && used == nil:
		return pluginsdk.Done().With(pluginsdk.SetUser("used", int64(4711)).Replacing(used), pluginsdk.SetSession("passed", true)), nil
	case code != nil:
		return held.Failed("code_wrong"), nil
	case r.Held != "":
		return held.NeedsMoreInput(map[string]any{"message": "code"}), nil
	}
	return held, nil
}

func (g *gate) questions() []*pluginsdk.Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked
}

// answers makes the gate answer with one intent, or as before with none.
func (g *gate) answers(i pluginsdk.Intent, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return i, err }
}

// withGate starts a site whose dispenser is g, with an application at /app that tells
// what it was sent.
func withGate(t *testing.T, db *store.DB, g *gate, change func(*host.Options)) *testSite {
	t.Helper()
	if _, err := db.Writer().Exec(`ALTER TABLE users ADD COLUMN used BIGINT`); err != nil {
		t.Fatal(err)
	}
	return withProxiesOver(t, db, mirror(t), func(o *host.Options) {
		o.Dispenser = g
		o.Auth.OwnTokens = true
		o.OData = nothing(t)
		if change != nil {
			change(o)
		}
	})
}

// heldStep tells what the application at /app was told of the person's step.
func (a answer) heldStep() bool { return strings.Contains(a.body, "X-Vestibule-Step: held") }

// isTurnedAway fails unless an answer sends the person to the sign-in.
func (a answer) isTurnedAway(t *testing.T, what string) {
	t.Helper()
	if a.StatusCode != 302 || a.Header.Get("Location") != "/login" {
		t.Errorf("%s: %d to %q, want 302 to /login: %.200s", what, a.StatusCode, a.Header.Get("Location"), a.body)
	}
}

// A redirect that holds lets people see its page and what belongs to it, and nothing
// else, until the dispenser, asked again, answers otherwise.
func TestHeldStep(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{}
		s := withGate(t, open(), g, nil)
		b := s.browser(t)
		b.get("/app/orders?id=7").isTurnedAway(t, "a guest")
		a := b.login(adaEmail, adaPassword, false)
		a.want(t, 200, "login_success")
		if n := a.next(t); n.Kind != "redirect" || n.Version != "1" || n.Target() != "/app/terms?v=2" {
			t.Fatalf("next = %+v", n)
		}
		for _, path := range []string{"/app/terms?v=2", "/app/terms", "/app/terms/de", "/app/assets/a.css"} {
			if a := b.get(path); a.StatusCode != 200 || !a.heldStep() {
				t.Errorf("%s: %d, told of the step: %v", path, a.StatusCode, a.heldStep())
			}
		}
		if a := b.get("/open/x"); !a.heldStep() {
			t.Error("an open application is not told of the step")
		}
		for _, path := range []string{"/dashboard", "/app", "/app/orders?id=8", "/app/termsx", "/app/Terms", "/app/asset"} {
			b.get(path).isTurnedAway(t, path)
			a := b.get(path, "Accept", "*/*")
			a.want(t, 403, "unsettled")
			if n := a.next(t); n.Target() != "/app/terms?v=2" {
				t.Errorf("%s: next = %+v", path, n)
			}
		}
		for _, method := range []string{"GET", "POST"} {
			b.do(method, "/auth/tokens", "application/json", `{"name":"x"}`).want(t, 403, "unsettled")
		}
		b.do("GET", "/odata/Nothing", "", "").want(t, 403, "")
		steps := []struct{ form, body string }{
			{`{}`, `{"status":"needs_more_input","next_step":{"message":"code","target":"/app/terms?v=2"},"errors":null,"next":null}`},
			{`{"code":"1"}`, `{"status":"error","next_step":null,"errors":["code_wrong"],"next":null}`},
			{`{"code":"4711"}`, `{"status":"satisfied","next_step":null,"errors":null,"next":{"kind":"redirect","version":"1","payload":{"target":"/app/orders?id=7"}}}`},
		}
		for _, step := range steps {
			a := b.do("POST", "/auth/intents/redirect", "application/json", step.form)
			a.want(t, 200, "")
			if got := strings.TrimSpace(a.body); got != step.body {
				t.Errorf("%s:\n got %s\nwant %s", step.form, got, step.body)
			}
		}
		if a := b.get("/app/orders"); a.StatusCode != 200 || a.heldStep() {
			t.Errorf("settled: %d, held: %v", a.StatusCode, a.heldStep())
		}
		b.do("GET", "/odata/Nothing", "", "").want(t, 200, "")
		b.post("/auth/intents/redirect", map[string]any{"code": "4711"}).want(t, 409, "intent_not_current")
	})
}

// However a path is written, it does not lead out of what a held step opens.
func TestHeldStepAndPathSpellings(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	cookie := "\nCookie: " + sessionName + "=" + b.cookie(sessionName)
	for _, path := range []string{
		"/app/TERMS", "/app/terms/../orders", "/app/terms/..", "/app/terms/%2e%2e/orders", "/app/terms/%2E%2E%2Forders", "/app/terms%2f..%2forders",
		"/app/terms/%252e%252e/orders", "/app/terms/..%252forders", "/app/terms;/orders", "/app/terms/..;/orders", "/app/terms/..;x=1/orders", "/app/terms%3b/../orders",
		`/app/terms/..\orders`, "/app/terms/..%5corders", "/app/terms%5c..%5corders", "//app/terms", "/app//terms", "/app/./orders", "/app/orders/../termsx",
		"/app/terms%00/../orders", "/app/assets/../orders", "/app/assets/../../dashboard", "/app/%74erms/%2e%2e/orders", "/./dashboard", "//dashboard", "/dashboard/", "/dashboard%2f",
	} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close"+cookie+"\n\n")
		if strings.HasPrefix(body, "GET ") || resp.StatusCode == 200 {
			t.Errorf("%s reached the application: %s %.80s", path, resp.Status, body)
		}
	}
	for _, path := range []string{"/app/terms/%C3%A4", "/app/%74erms", "/app/terms//x", "/app/terms/a;b"} {
		resp, body := s.raw(t, "GET "+path+" HTTP/1.1\nHost: $HOST\nConnection: close"+cookie+"\n\n")
		if !strings.HasPrefix(body, "GET "+path) {
			t.Errorf("%s: %s %.80s", path, resp.Status, body)
		}
	}
}

// GET /login asks again, but only where a person goes there.
func TestHeldStepAtTheDoor(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	before := len(g.questions())
	for name, header := range map[string][]string{
		"prefetch": {"Sec-Purpose", "prefetch"}, "prerender": {"Sec-Purpose", "prefetch;prerender", "Sec-Fetch-Dest", "document"},
		"frame": {"Sec-Fetch-Dest", "iframe"}, "script": {"Sec-Fetch-Dest", "empty"}, "image": {"Sec-Fetch-Dest", "image"},
	} {
		a := b.get("/login", header...)
		if a.StatusCode != 200 || !strings.Contains(a.body, `"target":"/app/terms?v=2"`) || len(g.questions()) != before {
			t.Errorf("%s: %d, asked %d times", name, a.StatusCode, len(g.questions())-before)
		}
	}
	b.do("HEAD", "/login", "", "").want(t, 200, "")
	if len(g.questions()) != before {
		t.Error("HEAD asked")
	}
	a := b.get("/login", "Sec-Fetch-Dest", "document")
	if a.StatusCode != 200 || a.Header.Get("Cache-Control") != "no-store" || !strings.Contains(a.body, `"target":"/app/terms?v=2"`) {
		t.Errorf("still held: %d %q", a.StatusCode, a.Header.Get("Cache-Control"))
	}
	asked := g.questions()
	if last := asked[len(asked)-1]; len(asked) != before+1 || last.Held != "/app/terms?v=2" || last.Form.Has("code") || last.SessionID == "" || last.SignedInBy != "password" {
		t.Errorf("asked %d times, with %+v", len(asked)-before, last)
	}
	b.get("/app/orders").isTurnedAway(t, "held")
	b.get("/app/invoices").isTurnedAway(t, "held, a second time")
	g.answers(pluginsdk.Done(), fmt.Errorf("%w: restarting", pluginsdk.ErrUnavailable))
	b.get("/login").want(t, 503, "dispenser_unavailable")
	b.get("/app/orders").isTurnedAway(t, "held while nobody can be asked")
	g.answers(pluginsdk.Done(), nil)
	a = b.get("/login")
	if a.StatusCode != 302 || a.Header.Get("Location") != "/app/orders" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("settled: %d to %q, want the page asked for first", a.StatusCode, a.Header.Get("Location"))
	}
	b.get("/app/orders").want(t, 200, "")
}

// Signing out works while held, and signing in again begins anew.
func TestSignOutWhileHeld(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	b.do("POST", "/logout", "", "").want(t, 303, "")
	b.post("/auth/intents/redirect", map[string]any{"code": "4711"}).want(t, 401, "unauthenticated")
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.get("/app/orders").isTurnedAway(t, "signed in again")
}
