package host_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A device that comes back is held where it was, with the plugin's values, and one that
// was settled is asked about before it is again.
func TestHeldStepAndDevices(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{}
		s := withGate(t, open(), g, nil)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		b.forget(sessionName)
		b.get("/app/orders").isTurnedAway(t, "a device that was held")
		if a := b.get("/app/assets/a.css"); a.StatusCode != 200 || !a.heldStep() {
			t.Errorf("the prefixes are lost: %d", a.StatusCode)
		}
		b.post("/auth/intents/redirect", map[string]any{"code": "4711"}).want(t, 200, "")
		b.get("/app/orders").want(t, 200, "")

		// The session is over. What the plugin kept in it says that the code was given.
		before := len(g.questions())
		b.forget(sessionName)
		b.get("/app/orders", "Accept", "*/*").want(t, 403, "unsettled")
		b.do("GET", "/odata/Nothing", "", "").want(t, 403, "")
		b.get("/auth/tokens").want(t, 403, "unsettled")
		if a := b.get("/auth/bootstrap"); a.StatusCode != 200 || a.json(t)["next"] != nil {
			t.Errorf("bootstrap: %s", a.body)
		}
		a := b.get("/app/orders?tab=2")
		if a.StatusCode != 302 || a.Header.Get("Location") != "/login?redirect=%2Fapp%2Forders%3Ftab%3D2" {
			t.Fatalf("a device that was settled: %d to %q", a.StatusCode, a.Header.Get("Location"))
		}
		if len(g.questions()) != before {
			t.Error("asked before anybody went to the sign-in")
		}
		a = b.get(a.Header.Get("Location"))
		if a.StatusCode != 302 || a.Header.Get("Location") != "/app/orders?tab=2" {
			t.Errorf("asked about: %d to %q", a.StatusCode, a.Header.Get("Location"))
		}
		asked := g.questions()
		if last := asked[len(asked)-1]; len(asked) != before+1 || !last.Session.Has("passed") || last.SignedInBy != "device" || last.Held != "" {
			t.Errorf("asked %d times, with %+v", len(asked)-before, last)
		}
		b.get("/app/orders").want(t, 200, "")

		// New terms hold a device that comes back, and not the session that it had.
		g.answers(pluginsdk.Redirect("/app/terms?v=3").Hold(), nil)
		b.get("/login").want(t, 302, "")
		b.forget(sessionName)
		b.get("/login").want(t, 200, "")
		b.get("/app/orders").isTurnedAway(t, "under new terms")
	})
}

// Without a dispenser a device that comes back is settled, as there is nobody to ask.
func TestDeviceWithoutDispenser(t *testing.T) {
	s := withProxies(t, mirror(t), nil)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	b.forget(sessionName)
	b.get("/app/orders", "Accept", "*/*").want(t, 200, "")
}

// A proxy that asks about a held person gets yes for what the step opens alone.
func TestHeldStepBehindForwardAuth(t *testing.T) {
	g := &gate{}
	db := sqliteStore(t)
	if _, err := db.Writer().Exec(`ALTER TABLE users ADD COLUMN used BIGINT`); err != nil {
		t.Fatal(err)
	}
	s := withForwardAuth(t, db, func(o *host.Options) { o.Dispenser = g })
	ada := s.visitor(t).signIn(false)
	for uri, status := range map[string]int{
		"/app/terms?v=2": 200, "/app/terms": 200, "/app/terms/de": 200, "/app/assets/a.css": 200,
		"/app/orders": 401, "/app": 401, "/app/termsx": 401, "/app/Terms": 401, "/odata/Products": 401, "/": 401,
		"/app/terms;/orders": 401, "/app/terms/..;/orders": 400, "/app/terms/../orders": 400, "/app/terms/%2e%2e/orders": 400,
		"/app/terms%2f..%2forders": 400, `/app/terms%5c..%5corders`: 400, "/app/terms/%252e%252e/orders": 400,
		"//app/terms": 400, "/app//terms": 401, "/app/terms%2fx": 401, "/app/terms%2e%2e": 401,
	} {
		a := ada.verify("", uri, navigates...)
		if a.StatusCode != status {
			t.Errorf("%s: %d, want %d", uri, a.StatusCode, status)
		}
		if got := a.Header.Get("X-Vestibule-Step"); (got == "held") != (status == 200) {
			t.Errorf("%s: step %q", uri, got)
		}
	}
	ada.verify("", "/app/orders", fetches...).want(t, 403, "unsettled")
	a := ada.verify("?deny=redirect", "/app/orders", navigates...)
	if a.StatusCode != 302 || a.Header.Get("Location") != "https://app.example.com/login?redirect=%2Fapp%2Forders" {
		t.Errorf("%d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	for query, header := range map[string]string{"?guard=session": "held", "?guard=none": "held"} {
		a := ada.verify(query, "/app/orders", fetches...)
		a.want(t, 200, "")
		if got := a.Header.Get("X-Vestibule-Step"); got != header {
			t.Errorf("%s: step %q", query, got)
		}
		if claims := s.claims(t, a.Header.Get("X-Vestibule-Assertion"), "https://app.example.com", "verify"); claims["step"] != "held" {
			t.Errorf("%s: the assertion says %v", query, claims["step"])
		}
	}
}

// A client cannot say that it is held, or that it is not.
func TestStepHeaderOfAClient(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	held := s.signedIn(t)
	for _, header := range []string{"X-Vestibule-Step", "X_Vestibule_Step", "x-vestibule.step"} {
		a := held.get("/app/terms", header, "settled")
		if !a.heldStep() || strings.Contains(a.body, "settled") {
			t.Errorf("%s: %s", header, a.body)
		}
	}
	g.answers(pluginsdk.Done(), nil)
	if a := s.signedIn(t).get("/app/x", "X-Vestibule-Step", "held"); a.heldStep() {
		t.Error("a settled session is told of as held")
	}
}

// Where a guard lets people pass before they are done, the application is told so.
func TestStepHeaderOfUnfinishedPeople(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	step := func(b *browser) string {
		_, after, _ := strings.Cut(b.get("/open/x").body, "X-Vestibule-Step: ")
		said, _, _ := strings.Cut(after, "\n")
		return strings.TrimSpace(said)
	}
	b := s.browser(t)
	for _, tt := range []struct {
		name, want string
		become     func()
	}{
		{"a guest", "", func() {}},
		{"at a step of the front-end app", "open", func() {
			g.answers(pluginsdk.OrgSetup("Ada"), nil)
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
		}},
		{"done", "", func() {
			g.answers(pluginsdk.Done(), nil)
			b.login(adaEmail, adaPassword, true).want(t, 200, "")
		}},
		{"a device that is not asked about yet", "open", func() { b.forget(sessionName) }},
	} {
		tt.become()
		if got := step(b); got != tt.want {
			t.Errorf("%s: the application is told %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A WebSocket opens where the step does, and nowhere else.
func TestHeldStepAndWebSockets(t *testing.T) {
	g := &gate{}
	db := sqliteStore(t)
	if _, err := db.Writer().Exec(`ALTER TABLE users ADD COLUMN used BIGINT`); err != nil {
		t.Fatal(err)
	}
	s := withProxiesOver(t, db, sockets(t), func(o *host.Options) { o.Dispenser = g })
	b := s.signedIn(t)
	c, err := b.dial("/app/terms/ws", s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := received(t, c); got != "hello "+adaEmail {
		t.Errorf("received %q", got)
	}
	for _, path := range []string{"/app/ws", "/app/terms/..%2fws", "/app/terms/%2e%2e/ws", "/app/terms/..;/ws", "/app/termsws", "/app/TERMS/ws"} {
		if c, err := b.dial(path, s.URL); err == nil {
			_ = c.Close()
			t.Errorf("%s: a WebSocket opened", path)
		}
	}
}

// The same step again and again is warned about like any loop, and wrong codes are not.
func TestHeldLoopIsWarnedAbout(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	const warning = "returns the same intent again and again"
	for range 4 {
		b.post("/auth/intents/redirect", map[string]any{"code": "0"}).want(t, 200, "")
	}
	for range 4 {
		b.post("/auth/intents/redirect", map[string]any{}).want(t, 200, "") // a page that asks what to show
	}
	if strings.Contains(s.log.String(), warning) {
		t.Error("wrong codes, or a page that opens, are warned about")
	}
	for range 13 {
		b.get("/login").want(t, 200, "")
	}
	if n := strings.Count(s.log.String(), warning); n != 3 {
		t.Errorf("%d warnings, want those of the third, sixth and twelfth time", n)
	}
}

// A link in a reset mail shows its screen to a held person once, and keeps them from
// being asked no longer.
func TestHeldStepAfterAResetLink(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	b.get("/password/reset/unknown?email="+adaEmail).want(t, 302, "")
	before := len(g.questions())
	b.get("/login").want(t, 200, "")
	if len(g.questions()) != before {
		t.Error("the first visit asked, and would have led away from the screen")
	}
	b.get("/login").want(t, 200, "")
	if len(g.questions()) != before+1 {
		t.Error("the second visit did not ask")
	}
}
