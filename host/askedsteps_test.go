package host_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const askPath = "/auth/account/steps/gate"

// whenAsked lets everybody pass at sign-in. Who asks for its step is sent to /app/terms and
// gives the code 4711 there, which a column remembers.
func whenAsked(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
	held := pluginsdk.Redirect("/app/terms?v=2").Hold("/app/assets/")
	switch code := r.Form.Raw("code"); {
	case !r.Asked:
		return pluginsdk.Done(), nil
	case code == "4711":
		return pluginsdk.Done().With(pluginsdk.SetUser("used", int64(4711)).Replacing(u.Columns.Raw("used")), pluginsdk.SetSession("passed", true)), nil
	case code != nil:
		return held.Failed("code_wrong"), nil
	case r.Held != "":
		return held.NeedsMoreInput(map[string]any{"message": "code"}), nil
	}
	return held, nil
}

// withOffer starts a site with three dispensers, of which gate and orgs offer their steps.
func withOffer(t *testing.T, db *store.DB, g *gate) *testSite {
	t.Helper()
	s := withGate(t, db, g, nil)
	s.offerSteps(g)
	return s
}

// offerSteps lets people ask for the steps of gate and orgs.
func (s *testSite) offerSteps(g *gate) {
	s.host.AskDispensers([]string{"silent", "gate", "orgs"}, func(name string) pluginsdk.Dispenser {
		if name == "gate" {
			return g
		}
		return pluginsdk.DispenserFunc(func(_ context.Context, _ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			if r.Asked {
				return pluginsdk.Redirect("/app/other").Hold(), nil
			}
			return pluginsdk.Done(), nil
		})
	})
	s.host.OfferStep(map[string]string{"gate": "Gate", "orgs": "Organisation"})
}

// asks asks for the step of the gate and fails unless it begins at its page.
func (b *browser) asks(t *testing.T) {
	t.Helper()
	a := b.do("POST", askPath, "", "")
	a.want(t, 200, "")
	if n := a.next(t); n.Kind != "redirect" || n.Version != "1" || n.Target() != "/app/terms?v=2" {
		t.Fatalf("the step begins at %+v", n)
	}
}

// used returns the value of the column that remembers the code.
func (s *testSite) used(t *testing.T) pluginsdk.Value {
	t.Helper()
	u, err := s.db.Users().FindByID(t.Context(), s.user.ID)
	if err != nil {
		t.Fatal(err)
	}
	return u.Columns["used"]
}

// A settled person asks for a step. Its page opens, the session stays settled, and one
// dispenser alone is asked until it is done.
func TestStepAskedFor(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{answer: whenAsked}
		s := withOffer(t, open(), g)
		b := s.signedIn(t)
		listed := fmt.Sprint(b.get("/auth/account", "Accept", "application/json").json(t)["steps"])
		if listed != "[map[plugin:gate title:Gate] map[plugin:orgs title:Organisation]]" {
			t.Errorf("the account lists the steps %s", listed)
		}
		before := len(g.questions())
		b.asks(t)
		if q := g.questions(); len(q) != before+1 || !q[before].Asked || q[before].Held != "" || q[before].SignedInBy != "password" {
			t.Errorf("the dispenser was asked %d times, last with %+v", len(q)-before, q[len(q)-1])
		}
		for _, path := range []string{"/app/terms?v=2", "/app/assets/a.css", "/app/orders"} {
			if a := b.get(path); a.StatusCode != 200 || a.heldStep() {
				t.Errorf("%s: %d, told of a step: %v", path, a.StatusCode, a.heldStep())
			}
		}
		b.do("GET", "/odata/Nothing", "", "").want(t, 200, "")
		if n := b.get("/auth/intents/current").next(t); n.Target() != "/app/terms?v=2" {
			t.Errorf("after a reload the person is at %+v", n)
		}
		b.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 409, "intent_not_current")
		for _, step := range []struct{ form, body string }{
			{`{}`, `{"status":"needs_more_input","next_step":{"message":"code","target":"/app/terms?v=2"},"errors":null,"next":null}`},
			{`{"code":"1"}`, `{"status":"error","next_step":null,"errors":["code_wrong"],"next":null}`},
			{`{"code":"4711"}`, `{"status":"satisfied","next_step":null,"errors":null,"next":{"kind":"redirect","version":"1","payload":{"target":"/login?account"}}}`},
		} {
			a := b.do("POST", stepPath, "application/json", step.form)
			a.want(t, 200, "")
			if got := strings.TrimSpace(a.body); got != step.body {
				t.Errorf("%s:\n got %s\nwant %s", step.form, got, step.body)
			}
			if strings.Contains(strings.Join(a.Header.Values("Set-Cookie"), " "), "vestibule_known") {
				t.Error("the browser counts as one that has passed the step")
			}
		}
		asked := g.questions()
		if last := asked[len(asked)-1]; !last.Asked || last.Held != "/app/terms?v=2" {
			t.Errorf("the page's form comes with %+v", last)
		}
		if got := s.used(t); got != int64(4711) {
			t.Errorf("the column has %v", got)
		}
		b.post(stepPath, map[string]any{"code": "4711"}).want(t, 409, "intent_not_current")
		if n := b.get("/auth/intents/current").next(t); n.Target() != "/dashboard" {
			t.Errorf("afterwards the person is at %+v", n)
		}
		var acts []struct{ Operator, Act, Subject string }
		if err := s.db.Reader().Select(&acts, "SELECT operator, act, subject FROM vestibule_audit ORDER BY id"); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(acts); got != fmt.Sprintf("[{user %s step_changed gate}]", s.user.ID) {
			t.Errorf("audit rows %s", got)
		}
		for _, event := range []string{"step_asked", "step_refused", "step_changed"} {
			if !strings.Contains(s.log.String(), "audit: event="+event) {
				t.Errorf("the log has no line %s", event)
			}
		}
	})
}

// Nobody asks for a step who is not settled, whose proof is old, or whose browser another
// site sends, nor for a step that nobody offers.
func TestStepsThatNobodyMayAskFor(t *testing.T) {
	g := &gate{answer: whenAsked}
	s := withOffer(t, sqliteStore(t), g)
	for _, method := range []string{"POST", "DELETE"} {
		s.browser(t).do(method, askPath, "", "").want(t, 401, "unauthenticated")
	}
	b := s.signedIn(t)
	for _, plugin := range []string{"silent", "none", "Gate", "gate%2f", "%00"} {
		for _, method := range []string{"POST", "DELETE"} {
			if a := b.do(method, "/auth/account/steps/"+plugin, "", ""); a.StatusCode != 404 && a.StatusCode != 400 {
				t.Errorf("%s of %q: %d %s", method, plugin, a.StatusCode, a.body)
			}
		}
	}
	b.do("POST", askPath, "", "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").want(t, 403, "cross_origin")
	b.do("GET", askPath, "", "").want(t, 405, "")
	asked := len(g.questions())
	s.clock.Advance(10*time.Minute + time.Second)
	b.do("POST", askPath, "", "").want(t, 403, "confirmation_required")
	b.do("POST", "/auth/account/steps/none", "", "").want(t, 403, "confirmation_required")
	b.do("DELETE", askPath, "", "").want(t, 204, "")
	if n := len(g.questions()); n != asked {
		t.Errorf("the dispenser was asked %d times", n-asked)
	}
	g.mu.Lock()
	g.answer = once
	g.mu.Unlock()
	held := s.signedIn(t)
	for _, method := range []string{"POST", "DELETE"} {
		a := held.do(method, askPath, "", "")
		a.want(t, 403, "unsettled")
		if n := a.next(t); n.Target() != "/app/terms?v=2" {
			t.Errorf("%s: next = %+v", method, n)
		}
	}
}

// A step that was asked for ends with the person who gives it up, with the time of the
// proof, with the session, and where another step is asked for; nothing is changed by an answer
// that comes afterwards.
func TestStepAskedForEnds(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := withOffer(t, open(), &gate{answer: whenAsked})
		over := func(b *browser, what string, status int, message string) {
			t.Helper()
			for _, form := range []map[string]any{{"code": "4711"}, {}} {
				if a := b.post(stepPath, form); a.StatusCode != status || a.json(t)["message"] != message {
					t.Errorf("%s: %d %s, want %d %s", what, a.StatusCode, a.body, status, message)
				}
			}
			if got := s.used(t); got != nil {
				t.Fatalf("%s: the column has %v", what, got)
			}
		}
		b := s.signedIn(t)
		b.asks(t)
		b.do("DELETE", "/auth/account/steps/orgs", "", "").want(t, 204, "") // which is not at it
		b.post(stepPath, map[string]any{}).want(t, 200, "")
		b.do("DELETE", askPath, "", "").want(t, 204, "")
		over(b, "given up", 409, "intent_not_current")
		b.do("DELETE", askPath, "", "").want(t, 204, "")

		b.asks(t)
		s.clock.Advance(10 * time.Minute)
		b.post(stepPath, map[string]any{}).want(t, 200, "")
		s.clock.Advance(time.Second)
		over(b, "after auth.recent", 409, "intent_not_current")
		b.get("/app/orders").want(t, 200, "")

		b = s.signedIn(t)
		b.asks(t)
		b.post("/auth/account/password", map[string]any{"password": newPassword, "password_confirmation": newPassword}).want(t, 204, "")
		over(b, "the session has another id", 409, "intent_not_current")
		b.get("/app/orders").want(t, 200, "")
		b.post("/auth/account/password", map[string]any{"password": adaPassword, "password_confirmation": adaPassword}).want(t, 204, "")

		b = s.signedIn(t)
		b.asks(t)
		elsewhere := s.signedIn(t)
		over(elsewhere, "another session", 409, "intent_not_current")
		b.do("POST", "/auth/account/steps/orgs", "", "").want(t, 200, "")
		if n := b.get("/auth/intents/current").next(t); n.Target() != "/app/other" {
			t.Errorf("another step was asked for, and the person is at %+v", n)
		}
		b.asks(t)
		b.do("POST", "/logout", "", "").want(t, 303, "")
		over(b, "signed out", 401, "unauthenticated")
	})
}

// An answer that is on its way while the person gives the step up, signs out or is disabled
// is refused, and changes nothing.
func TestAnswersOnTheirWayWhenAStepEnds(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{answer: whenAsked}
		s := withOffer(t, open(), g)
		for _, tt := range []struct {
			name    string
			end     func(b *browser)
			status  int
			message string
		}{
			{"given up", func(b *browser) { b.do("DELETE", askPath, "", "").want(t, 204, "") }, 409, "intent_not_current"},
			{"signed out", func(b *browser) { b.do("POST", "/logout", "", "").want(t, 303, "") }, 401, "unauthenticated"},
			{"disabled", func(*browser) {
				if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
					t.Fatal(err)
				}
			}, 401, "unauthenticated"},
		} {
			b := s.signedIn(t)
			b.asks(t)
			ended := false
			g.mu.Lock()
			g.answer = func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
				if !ended {
					ended = true
					tt.end(b)
				}
				return whenAsked(u, r)
			}
			g.mu.Unlock()
			cookie := sessionName + "=" + b.cookie(sessionName)
			s.browser(t).post(stepPath, map[string]any{"code": "4711"}, "Cookie", cookie).want(t, tt.status, tt.message)
			if got := s.used(t); got != nil {
				t.Fatalf("%s: the column has %v", tt.name, got)
			}
		}
	})
}

// What is stored of a step belongs to one session: a release that does not know of it, and
// carries it over to the next session, carries nothing.
func TestStepAskedForBelongsToItsSession(t *testing.T) {
	s := withOffer(t, sqliteStore(t), &gate{answer: whenAsked})
	b := s.signedIn(t)
	b.asks(t)
	kept := s.values(t, b, nil)
	step, ok := kept["auth.asked"].(string)
	if !ok {
		t.Fatalf("the session keeps %v", kept)
	}
	for release, settled := range settledBefore() {
		if !settled(kept) {
			t.Errorf("%s takes the session for one that is not settled", release)
		}
	}
	for name, value := range map[string]any{
		"that of another session": step, "nothing of this release": `{"id":"1","envelope":{"kind":"survey","version":"7"}}`, "no text": int64(1),
		"an end": strings.NewReplacer(`"1-held"`, `"1"`, `,"held":true`, "").Replace(step), "no session": strings.Split(step, `,"session"`)[0] + "}",
	} {
		other := s.signedIn(t)
		values := s.values(t, other, nil)
		values["auth.asked"] = value
		s.values(t, other, values)
		s.markSettled(t)
		if a := other.post(stepPath, map[string]any{"code": "4711"}); a.StatusCode != 409 {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
		other.get("/app/orders").want(t, 200, "")
	}
	b.post(stepPath, map[string]any{}).want(t, 200, "")
}

// markSettled says of all sessions that they are settled, as this release does.
func (s *testSite) markSettled(t *testing.T) {
	t.Helper()
	if _, err := s.db.Writer().Exec(`UPDATE vestibule_sessions SET state = 'settled', format = 1`); err != nil {
		t.Fatal(err)
	}
}

// A device keeps nothing of a step that was asked for, and what it keeps of the loop stays.
func TestDeviceKeepsNoStepAskedFor(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		g := &gate{answer: whenAsked}
		db := open()
		s := withOffer(t, db, g)
		b := s.browser(t)
		b.login(adaEmail, adaPassword, true).want(t, 200, "")
		// Another session of the device is held meanwhile.
		step := `{"id":"1","dispenser":"gate","envelope":{"kind":"redirect","version":"1-held","payload":{"target":"/app/terms","held":true}}}`
		if _, err := db.Writer().Exec(db.Writer().Rebind(`UPDATE vestibule_remember_tokens SET intent = ?`), []byte(step)); err != nil {
			t.Fatal(err)
		}
		b.asks(t)
		b.post(stepPath, map[string]any{"code": "4711"}).want(t, 200, "")
		var kept struct {
			Intent []byte
			Values []byte `db:"session_values"`
		}
		if err := db.Reader().Get(&kept, `SELECT intent, session_values FROM vestibule_remember_tokens`); err != nil {
			t.Fatal(err)
		}
		if string(kept.Intent) != step || !strings.Contains(string(kept.Values), "passed") {
			t.Errorf("the device keeps %s and %s", kept.Intent, kept.Values)
		}
		if _, err := db.Writer().Exec(`UPDATE vestibule_remember_tokens SET intent = NULL`); err != nil {
			t.Fatal(err)
		}
		b.asks(t)
		b.forget(sessionName)
		b.get("/login") // comes back, and is asked about
		b.get("/app/orders").want(t, 200, "")
		b.post(stepPath, map[string]any{"code": "4711"}).want(t, 409, "intent_not_current")
	})
}

// Wrong codes of a step that was asked for count with those of every other session.
func TestRefusalsOfAStepAskedForCount(t *testing.T) {
	s := withOffer(t, sqliteStore(t), &gate{answer: whenAsked})
	b, other := s.signedIn(t), s.signedIn(t)
	b.asks(t)
	other.asks(t)
	for range 5 {
		b.post(stepPath, map[string]any{"code": "1"}).want(t, 200, "")
	}
	for _, who := range []*browser{b, other} {
		who.post(stepPath, map[string]any{"code": "4711"}).want(t, 429, "")
	}
	b.do("DELETE", askPath, "", "").want(t, 204, "")
	b.asks(t)
	b.post(stepPath, map[string]any{"code": "4711"}).want(t, 429, "")
	if got := s.used(t); got != nil {
		t.Errorf("the column has %v", got)
	}
}

// Who asks for steps without end has to wait.
func TestStepsAreAskedForWithinLimits(t *testing.T) {
	s := withOffer(t, sqliteStore(t), &gate{answer: whenAsked})
	b := s.signedIn(t)
	for range 100 {
		b.asks(t)
	}
	a := b.do("POST", askPath, "", "")
	if a.StatusCode != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
}

// A step that was asked for may be the form of an organisation.
func TestOrganisationAskedFor(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		o.dispense = func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			if done, _ := r.Session.Bool("orgs/done"); !r.Asked || done {
				return pluginsdk.Redirect("/app/orders"), nil
			}
			return pluginsdk.OrgSetup(u.Name), nil
		}
		db := open()
		s := newSite(t, db, func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
		s.host.AskDispensers([]string{"orgs"}, func(string) pluginsdk.Dispenser { return o })
		s.host.OfferStep(map[string]string{"orgs": "Organisation"})
		b := s.signedIn(t)
		a := b.do("POST", "/auth/account/steps/orgs", "", "")
		a.want(t, 200, "")
		if n := a.next(t); n.Kind != "org_setup" {
			t.Fatalf("next = %+v", n)
		}
		b.post(stepPath, map[string]any{}).want(t, 409, "intent_not_current")
		if a := b.post("/auth/intents/org-setup", orgForm("more")); a.json(t)["status"] != "needs_more_input" {
			t.Errorf("the form is told %s", a.body)
		}
		b.get("/dashboard").want(t, 302, "")
		a = b.post("/auth/intents/org-setup", orgForm("Analytical Engines"))
		a.want(t, 200, "")
		if n := a.next(t); n.Target() != "/app/orders" {
			t.Errorf("the step leads to %+v", n)
		}
		b.post("/auth/intents/org-setup", orgForm("Analytical Engines")).want(t, 409, "intent_not_current")
		if len(o.intents) != 2 || o.intents[0] != o.intents[1] {
			t.Errorf("the handler was told the intents %v", o.intents)
		}
	})
}

// A dispenser that cannot be asked begins no step, and ends none.
func TestStepAskedForWhileNobodyCanBeAsked(t *testing.T) {
	g := &gate{answer: whenAsked}
	s := withOffer(t, sqliteStore(t), g)
	b := s.signedIn(t)
	down := fmt.Errorf("%w: restarting", pluginsdk.ErrUnavailable)
	g.answers(pluginsdk.Intent{}, down)
	b.do("POST", askPath, "", "").want(t, 503, "dispenser_unavailable")
	b.post(stepPath, map[string]any{}).want(t, 409, "intent_not_current")
	g.answers(pluginsdk.Redirect("/login").Hold(), nil)
	b.do("POST", askPath, "", "").want(t, 502, "dispenser_contract")
	g.mu.Lock()
	g.answer = whenAsked
	g.mu.Unlock()
	b.asks(t)
	g.answers(pluginsdk.Intent{}, down)
	b.post(stepPath, map[string]any{"code": "4711"}).want(t, 503, "dispenser_unavailable")
	b.get("/app/orders").want(t, 200, "")
	g.mu.Lock()
	g.answer = whenAsked
	g.mu.Unlock()
	if a := b.post(stepPath, map[string]any{"code": "4711"}); a.json(t)["status"] != "satisfied" {
		t.Errorf("afterwards the code is told %s", a.body)
	}
}
