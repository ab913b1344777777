package host_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

const stepPath = "/auth/intents/redirect"

// factor holds everybody at /app/terms until the session has given 4711, or the recovery
// code; it marks the answers to that, as plugins/totp does.
func factor(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
	held := pluginsdk.Redirect("/app/terms").Hold().OfferRecovery()
	passed := pluginsdk.Done().With(pluginsdk.SetSession("passed", true))
	code, _ := r.Form.Text("code")
	rescue, _ := r.Form.Text("rescue")
	done, _ := r.Session.Bool("passed")
	switch {
	case done:
		return pluginsdk.Done(), nil
	case rescue == "rescue-code":
		return passed.AsRecovery(), nil
	case rescue != "":
		return held.Failed("code_wrong").AsRecovery(), nil
	case code == "4711":
		return passed, nil
	case code != "":
		return held.Failed("code_wrong"), nil
	}
	return held, nil
}

func withFactor(t *testing.T, db *store.DB) *testSite {
	t.Helper()
	return withGate(t, db, &gate{answer: factor}, func(o *host.Options) { o.Auth.Attempts = 50 })
}

// exhaust uses up the hundred wrong codes of thirty days, as a thief of the password does.
func (s *testSite) exhaust(t *testing.T) {
	t.Helper()
	thief := s.signedIn(t)
	for range 2 {
		for i := range 50 {
			thief.post(stepPath, map[string]any{"code": fmt.Sprintf("wrong-%d", i)}).want(t, 200, "")
		}
		s.clock.Advance(61 * time.Second)
	}
	thief.post(stepPath, map[string]any{"code": "4711"}).want(t, 429, "")
}

// After a hundred wrong codes the owner goes on with the browser that has passed the step
// before, also after a reset.
func TestBrowserThatPassedGoesOn(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := withFactor(t, open())
		owner := s.signedIn(t)
		owner.post(stepPath, map[string]any{"code": "4711"}).want(t, 200, "")
		owner.do("POST", "/logout", "", "").want(t, 303, "")
		s.exhaust(t)

		_, token := s.link(t, s.browser(t), 1)
		s.browser(t).post("/auth/reset-password", resetBody(token, newPassword)).want(t, 200, "reset_success")
		stranger := s.browser(t)
		stranger.login(adaEmail, newPassword, false).want(t, 200, "")
		stranger.post(stepPath, map[string]any{"code": "4711"}).want(t, 429, "")

		owner.login(adaEmail, newPassword, false).want(t, 200, "")
		owner.post(stepPath, map[string]any{"code": "typo"}).want(t, 200, "")
		if a := owner.post(stepPath, map[string]any{"code": "4711"}); a.json(t)["status"] != "satisfied" {
			t.Errorf("the owner's own browser is told %s", a.body)
		}
	})
}

// A recovery code lets the owner in after a hundred wrong codes. Its refusals count apart,
// ten a day, and the dispenser's answer alone says what a form was: an ordinary code is
// not applied then, however the page names it.
func TestRecoveryAfterAHundred(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := withFactor(t, open())
		s.exhaust(t)
		b := s.signedIn(t)
		for _, form := range []map[string]any{{"code": "4711"}, {"code": "4711", "recovery": true}, {"code": "0000", "kind": "recovery"}} {
			a := b.post(stepPath, form)
			a.want(t, 429, "")
			if a.Header.Get("Retry-After") == "" {
				t.Error("nothing says when to come back")
			}
			b.get("/app/orders").isTurnedAway(t, "an ordinary code")
		}
		for range 10 {
			b.post(stepPath, map[string]any{"rescue": "wrong"}).want(t, 200, "")
		}
		b.post(stepPath, map[string]any{"rescue": "rescue-code"}).want(t, 429, "")
		b.post(stepPath, map[string]any{}).want(t, 200, "") // the page still opens
		s.clock.Advance(25 * time.Hour)
		b = s.signedIn(t)
		if a := b.post(stepPath, map[string]any{"rescue": "rescue-code"}); a.json(t)["status"] != "satisfied" {
			t.Errorf("a recovery code is told %s", a.body)
		}
		b.get("/app/orders").want(t, 200, "")
	})
}

// The roomier counter is of no use to guesses: recovery forms that are refused leave the
// hundred alone, and those of a day are ten, in flight or not.
func TestRecoveryGuessesInFlight(t *testing.T) {
	s := withFactor(t, sqliteStore(t))
	b := s.signedIn(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 24 {
		all.Go(func() {
			a := b.post(stepPath, map[string]any{"rescue": "wrong"})
			mu.Lock()
			defer mu.Unlock()
			statuses[a.StatusCode]++
		})
	}
	all.Wait()
	if statuses[200] != 10 || statuses[429] != 14 {
		t.Errorf("statuses %v, want 10 of 200 and 14 of 429", statuses)
	}
	var hits []int
	if err := s.db.Reader().Select(&hits, `SELECT hits FROM vestibule_counters WHERE kind = 'held_long'`); err != nil || len(hits) != 1 || hits[0] != 0 {
		t.Errorf("of the hundred %v are used, %v", hits, err)
	}
	b.post(stepPath, map[string]any{"code": "4711"}).want(t, 200, "")
}

// A dispenser that offers no recovery is not asked beyond the hundred, nor may it mark one.
func TestRecoveryMustBeOffered(t *testing.T) {
	plain := &gate{answer: func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		held := pluginsdk.Redirect("/app/terms").Hold()
		if r.Form.Has("code") {
			return held.Failed("code_wrong").AsRecovery(), nil
		}
		return held, nil
	}}
	s := withGate(t, sqliteStore(t), plain, func(o *host.Options) { o.Auth.Attempts = 50 })
	s.exhaust(t)
	asked := len(plain.questions())
	b := s.signedIn(t)
	asked++ // at the sign-in
	b.post(stepPath, map[string]any{"code": "x"}).want(t, 429, "")
	if n := len(plain.questions()); n != asked {
		t.Errorf("the dispenser was asked %d times more", n-asked)
	}
}

// Eight tabs that open the page of a step at the same time ask the dispenser eight times,
// on any host, and none is refused: a question under way is no wrong answer.
func TestTabsWaitTheirTurn(t *testing.T) {
	for name, form := range map[string]map[string]any{"without fields": {}, "with fields that are no error": {"page": "opens"}} {
		t.Run(name, func(t *testing.T) {
			g := &gate{}
			s := withGate(t, sqliteStore(t), g, nil)
			b := s.signedIn(t)
			in, goOn := make(chan struct{}, 64), make(chan struct{})
			g.mu.Lock()
			g.answer = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
				in <- struct{}{}
				<-goOn
				return pluginsdk.Redirect("/app/terms?v=2").Hold().NeedsMoreInput(map[string]any{"step": "code"}), nil
			}
			g.mu.Unlock()
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					a := b.post(stepPath, form)
					if a.StatusCode != 200 {
						t.Errorf("%d: %s", a.StatusCode, a.body)
					}
				})
			}
			for range 5 {
				<-in
			}
			select {
			case <-in:
				t.Error("more than five questions of one person are under way")
			case <-time.After(50 * time.Millisecond):
			}
			close(goOn)
			all.Wait()
			if n := strings.Count(s.log.String(), "event=lockout"); n != 0 {
				t.Errorf("%d lockout lines", n)
			}
		})
	}
}

// A form that waits behind others which are no errors is asked about, although they and
// the errors before it are five together.
func TestFormWaitsForThoseUnderWay(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, nil)
	b := s.signedIn(t)
	for range 4 {
		b.post(stepPath, map[string]any{"code": "wrong"}).want(t, 200, "")
	}
	in, goOn := make(chan struct{}, 64), make(chan struct{})
	g.mu.Lock()
	g.answer = func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		if r.Form.Has("look") {
			in <- struct{}{}
			<-goOn
			return pluginsdk.Redirect("/app/terms?v=2").Hold(), nil
		}
		return pluginsdk.Done(), nil
	}
	g.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() { b.post(stepPath, map[string]any{"look": true}).want(t, 200, "") })
	<-in
	all.Go(func() {
		if a := b.post(stepPath, map[string]any{"code": "right"}); a.StatusCode != 200 || a.json(t)["status"] != "satisfied" {
			t.Errorf("%d: %s", a.StatusCode, a.body)
		}
	})
	time.Sleep(50 * time.Millisecond) // so that the code most likely waits; the test holds either way
	close(goOn)
	all.Wait()
}

// A question whose turn does not come in the time that the database has is 503, and
// leaves nothing behind.
func TestTurnThatDoesNotCome(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, func(o *host.Options) { o.Auth.Attempts, o.Limits.Wait = 1, time.Second })
	b := s.signedIn(t)
	in, goOn := make(chan struct{}, 1), make(chan struct{})
	g.mu.Lock()
	g.answer = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
		in <- struct{}{}
		<-goOn
		return pluginsdk.Redirect("/app/terms?v=2").Hold(), nil
	}
	g.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() { b.post(stepPath, map[string]any{}).want(t, 200, "") })
	<-in
	a := b.post(stepPath, map[string]any{})
	a.want(t, 503, "dispenser_unavailable")
	if a.Header.Get("Retry-After") == "" {
		t.Error("nothing says when to come back")
	}
	close(goOn)
	all.Wait()
	b.post(stepPath, map[string]any{}).want(t, 200, "")
}
