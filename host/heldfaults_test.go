package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Two sessions of one person give one code at the same time: it counts once.
func TestHeldCodeCountsOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{}
		s := withGate(t, open(), g, nil)
		both := []*browser{s.signedIn(t), s.signedIn(t)}
		// Each question waits until both sessions have been asked about, so that both
		// answers rest on the same column.
		var meet sync.WaitGroup
		meet.Add(len(both))
		var waiting sync.Map
		g.mu.Lock()
		g.answer = func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			if _, again := waiting.LoadOrStore(r.SessionID, true); !again {
				meet.Done()
				meet.Wait()
			}
			return once(u, r)
		}
		g.mu.Unlock()
		got := make([]string, len(both))
		var all sync.WaitGroup
		for i, b := range both {
			all.Go(func() {
				status, _ := b.post("/auth/intents/redirect", map[string]any{"code": "4711"}).json(t)["status"].(string)
				got[i] = status
			})
		}
		all.Wait()
		if sorted(got)[0] != "error" || sorted(got)[1] != "satisfied" {
			t.Errorf("the answers are %q, want one error and one satisfied", got)
		}
		for i, b := range both {
			if a := b.get("/app/orders"); (a.StatusCode == 200) != (got[i] == "satisfied") {
				t.Errorf("session %d, which was told %s: %d", i, got[i], a.StatusCode)
			}
		}
	})
}

// A question that the short bound cannot count costs none of the hundred of thirty days.
func TestHeldQuestionThatCannotBeCounted(t *testing.T) {
	g := &gate{}
	db := sqliteStore(t)
	s := withGate(t, db, g, nil)
	b := s.signedIn(t)
	guess := func() answer { return b.post("/auth/intents/redirect", map[string]any{"code": "wrong"}) }
	guess().want(t, 200, "")
	asked := len(g.questions())
	if _, err := db.Writer().Exec(`CREATE TRIGGER away BEFORE UPDATE ON vestibule_counters WHEN OLD.kind = 'held' BEGIN SELECT RAISE(ABORT, 'away'); END`); err != nil {
		t.Fatal(err)
	}
	if a := guess(); a.StatusCode < 500 || len(g.questions()) != asked {
		t.Errorf("status %d, asked %d times more", a.StatusCode, len(g.questions())-asked)
	}
	var hits int
	if err := db.Reader().Get(&hits, `SELECT hits FROM vestibule_counters WHERE kind = 'held_long'`); err != nil || hits != 1 {
		t.Errorf("%d count for thirty days, %v; want the one that was refused", hits, err)
	}
}

// Two requests of one session that are both answered settle it once: the effects of
// the second are not applied, and it is told what the first has led to.
func TestHeldSessionSettlesOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{}
		s := withGate(t, open(), g, nil)
		b := s.signedIn(t)
		const at = 2
		var meet sync.WaitGroup
		meet.Add(at)
		var number int64
		g.mu.Lock()
		g.answer = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			g.mu.Lock()
			number++
			mine := number
			g.mu.Unlock()
			meet.Done()
			meet.Wait()
			return pluginsdk.Redirect(fmt.Sprintf("/app/%d", mine)).With(pluginsdk.SetUser("used", mine)), nil
		}
		g.mu.Unlock()
		targets := make([]string, at)
		var all sync.WaitGroup
		for i := range targets {
			all.Go(func() {
				a := b.post("/auth/intents/redirect", map[string]any{})
				targets[i] = a.next(t).Target()
			})
		}
		all.Wait()
		user, err := s.db.Users().FindByID(t.Context(), s.user.ID)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("/app/%d", user.Columns["used"]); targets[0] != want || targets[1] != want {
			t.Errorf("the answers lead to %q, and the effects are those of %s", targets, want)
		}
	})
}

// An effect whose old value is gone is asked for again with fresh columns, three
// times; then nothing is applied.
func TestReplacedValueIsGone(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	asked, settle := 0, 0
	g.mu.Lock()
	g.answer = func(u pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
		asked++
		seen := u.Columns.Raw("used")
		if asked != settle { // somebody else is faster
			if err := s.db.Users().SetColumns(context.Background(), u.ID, map[string]any{"used": int64(asked)}); err != nil {
				t.Error(err)
			}
		}
		return pluginsdk.Redirect("/app/done").With(pluginsdk.SetUser("used", int64(99)).Replacing(seen)), nil
	}
	g.mu.Unlock()
	for name, ask := range map[string]func() answer{
		"post":  func() answer { return b.post("/auth/intents/redirect", map[string]any{}) },
		"login": func() answer { return s.browser(t).login(adaEmail, adaPassword, false) },
	} {
		asked = 0
		a := ask()
		a.want(t, 503, "dispenser_unavailable")
		if asked != 3 || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: asked %d times, Retry-After %q", name, asked, a.Header.Get("Retry-After"))
		}
	}
	if !strings.Contains(s.log.String(), "nothing was applied of 3 answers in a row") || !strings.Contains(s.log.String(), "used") {
		t.Error("the log does not say which column it was")
	}
	if current := b.get("/auth/intents/current").next(t); current.Target() != "/app/terms?v=2" {
		t.Errorf("the step is now %+v", current)
	}
	for _, settle = range []int{2, 3} {
		asked = 0
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		if b.get("/app/x").StatusCode != 200 || asked != settle {
			t.Errorf("asked %d times, want %d", asked, settle)
		}
	}
}

// What may not hold breaks the contract, and nothing is applied.
func TestHoldContract(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	for name, tt := range map[string]struct {
		intent pluginsdk.Intent
		log    string
	}{
		"another origin":         {pluginsdk.Redirect("https://evil.example/terms").Hold(), "must stay on this origin"},
		"the whole site":         {pluginsdk.Redirect("/").Hold(), "opens the whole site"},
		"a prefix that is all":   {pluginsdk.Redirect("/app/terms").Hold("/"), "opens the whole site"},
		"the sign-in":            {pluginsdk.Redirect("/login").Hold(), "at or below /login"},
		"a step of the front":    {pluginsdk.OrgSetup("Ada").Hold(), "only a redirect can"},
		"done":                   {pluginsdk.Done().Hold(), "only a redirect can"},
		"a value that is no row": {pluginsdk.Redirect("/app/x").Hold().With(pluginsdk.SetSession("a", "b").Replacing("c")), "only one on a column can"},
	} {
		g.answers(tt.intent.With(pluginsdk.SetUser("used", int64(1))), nil)
		b.post("/auth/intents/redirect", map[string]any{}).want(t, 502, "dispenser_contract")
		s.browser(t).login(adaEmail, adaPassword, false).want(t, 502, "dispenser_contract")
		if !strings.Contains(s.log.String(), tt.log) {
			t.Errorf("%s: the log lacks %q", name, tt.log)
		}
	}
	if user, err := s.db.Users().FindByID(t.Context(), s.user.ID); err != nil || user.Columns["used"] != nil {
		t.Errorf("an effect was applied: %v, %v", user.Columns["used"], err)
	}
	b.get("/app/orders").isTurnedAway(t, "still held")
}

// Five wrong codes of one person, in whatever sessions, are all that a window takes,
// also when many are sent at the same time.
func TestHeldErrorsAreBounded(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	browsers := []*browser{s.signedIn(t), s.signedIn(t)}
	before := len(g.questions())
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			a := browsers[i%2].post("/auth/intents/redirect", map[string]any{"code": fmt.Sprint(i)})
			if a.StatusCode != 200 && (a.StatusCode != 429 || a.Header.Get("Retry-After") == "") {
				t.Errorf("%d: %s", a.StatusCode, a.body)
			}
		})
	}
	all.Wait()
	if n := len(g.questions()) - before; n > 5*3 { // each is asked anew while others change the session
		t.Errorf("asked %d times", n)
	}
	tried := map[any]bool{}
	for _, q := range g.questions()[before:] {
		tried[q.Form.Raw("code")] = true
	}
	if len(tried) != 5 {
		t.Errorf("%d codes were tried, want 5", len(tried))
	}
	browsers[0].post("/auth/intents/redirect", map[string]any{"code": "4711"}).want(t, 429, "")
	s.clock.Advance(61 * time.Second)
	browsers[0].post("/auth/intents/redirect", map[string]any{"code": "4711"}).want(t, 200, "")
	// What is no error is not counted.
	for range 8 {
		browsers[1].post("/auth/intents/redirect", map[string]any{}).want(t, 200, "")
	}
}

// The page of a held step posts up to 32 scalar fields of its own, in 8 KiB.
func TestHeldForms(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	many := func(n int) string {
		fields := make([]string, n)
		for i := range fields {
			fields[i] = fmt.Sprintf(`"f%d":%d`, i, i)
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	for name, tt := range map[string]struct {
		kind, body string
		status     int
	}{
		"nothing":          {"", "", 200},
		"scalars":          {"application/json", `{"a":"x","b":1,"c":1.5,"d":true,"e":null,"":"","f":1e999,"g":-9223372036854775808}`, 200},
		"a form":           {"application/x-www-form-urlencoded", "a=x&b=1", 200},
		"32 fields":        {"application/json", many(32), 200},
		"33 fields":        {"application/json", many(33), 400},
		"a list":           {"application/json", `{"a":[]}`, 400},
		"an object":        {"application/json", `{"a":{}}`, 400},
		"a field twice":    {"application/json", `{"a":1,"a":2}`, 400},
		"8 KiB":            {"application/json", `{"a":"` + strings.Repeat("x", 8<<10-8) + `"}`, 200},
		"more than 8 KiB":  {"application/json", `{"a":"` + strings.Repeat("x", 8<<10-7) + `"}`, 413},
		"a file":           {"multipart/form-data; boundary=x", "--x--", 415},
		"another site":     {"application/json", "{}", 403},
		"somebody unknown": {"application/json", "{}", 401},
	} {
		from, header := b, []string(nil)
		switch name {
		case "another site":
			header = []string{"Origin", "https://evil.example"}
		case "somebody unknown":
			from = s.browser(t)
		}
		if a := from.do("POST", "/auth/intents/redirect", tt.kind, tt.body, header...); a.StatusCode != tt.status {
			t.Errorf("%s: %d, want %d: %s", name, a.StatusCode, tt.status, a.body)
		}
	}
	want := map[string]pluginsdk.Value{"a": "x", "b": int64(1), "c": 1.5, "d": true, "e": nil, "": "", "f": "1e999", "g": int64(-1 << 63)}
	found := false
	for _, q := range g.questions() {
		found = found || q.Form.Equal(pluginsdk.ValuesOf(want))
	}
	if !found {
		t.Errorf("no question had the form %#v", want)
	}
	g.answers(pluginsdk.Done(), nil)
	settled := s.signedIn(t)
	settled.post("/auth/intents/redirect", map[string]any{}).want(t, 409, "intent_not_current")
}

// A prefix that names /odata/ opens it, and nothing else.
func TestHeldStepMayOpenOData(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	g.answers(pluginsdk.Redirect("/app/terms").Hold("/odata/"), nil)
	b := s.signedIn(t)
	b.do("GET", "/odata/Nothing", "", "").want(t, 200, "")
	b.get("/app/orders").isTurnedAway(t, "the rest")
}

// A host that does not know how to hold, as while others are being replaced by this
// version, does not take a held session for one that is settled.
func TestHeldSessionIsStoredAsItsOwn(t *testing.T) {
	g := &gate{}
	db := sqliteStore(t)
	s := withGate(t, db, g, nil)
	s.browser(t).login(adaEmail, adaPassword, true).want(t, 200, "")
	for table, column := range map[string]string{"vestibule_sessions": "data", "vestibule_remember_tokens": "intent"} {
		var data []byte
		if err := db.Reader().Get(&data, "SELECT "+column+" FROM "+table); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), `"version":"1-held"`) || strings.Contains(string(data), "auth.target") {
			t.Errorf("%s: %q", table, data)
		}
	}
}

// A right code is not dropped because another tab asks while the dispenser looks at it.
func TestRightCodeBesideAnotherTab(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	looking, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	g.mu.Lock()
	g.answer = func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		if code, _ := r.Form.Text("code"); code == "right" {
			first.Do(func() { close(looking); <-goOn })
			return pluginsdk.Redirect("/app/in"), nil
		}
		return pluginsdk.Redirect("/app/code").Hold().NeedsMoreInput(map[string]any{"step": "code"}), nil
	}
	g.mu.Unlock()
	b.post("/auth/intents/redirect", map[string]any{}).want(t, 200, "")
	var all sync.WaitGroup
	all.Go(func() {
		a := b.post("/auth/intents/redirect", map[string]any{"code": "right"})
		if got := a.next(t).Target(); got != "/app/in" {
			t.Errorf("the code leads to %q: %s", got, a.body)
		}
	})
	<-looking
	b.post("/auth/intents/redirect", map[string]any{}).want(t, 200, "") // the other tab
	close(goOn)
	all.Wait()
}
