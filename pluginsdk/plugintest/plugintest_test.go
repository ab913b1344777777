package plugintest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A recorder is a test that is meant to fail.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// errFailing is what an author's function returns.
var errFailing = errors.New("no database")

func subject() pluginsdk.Plugin {
	return pluginsdk.Plugin{
		Name: "subject",
		Dispenser: pluginsdk.DispenserFunc(func(_ context.Context, u pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
			switch u.Name {
			case "redirect":
				return pluginsdk.Redirect("/x").With(pluginsdk.SetUser("a", int64(1)), pluginsdk.SetSession("s", "v")), nil
			case "setup":
				return pluginsdk.OrgSetup("Ada"), nil
			case "error":
				return pluginsdk.Intent{}, errFailing
			}
			return pluginsdk.Done().With(pluginsdk.ConsumeIntended()), nil
		}),
		OrgSetup: pluginsdk.OrgSetupFunc(func(_ context.Context, _ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Result, error) {
			switch name, _ := r.Form.Text("org_name"); name {
			case "more":
				return pluginsdk.NeedsMoreInput(map[string]any{"fields": map[string]any{"x": []string{"required"}}}), nil
			case "no":
				return pluginsdk.Failed("not this one"), nil
			case "error":
				return pluginsdk.Result{}, errFailing
			}
			return pluginsdk.Satisfied().With(pluginsdk.SetUser("partner_id", int64(7))), nil
		}),
	}
}

// Every assertion passes where it should and fails where it should, saying why.
func TestAssertions(t *testing.T) {
	r := &recorder{TB: t}
	p := plugintest.Serve(r, subject())
	dispense := func(name string) plugintest.Answer { return p.Dispense(pluginsdk.User{Name: name}) }
	handle := func(name string) plugintest.Judgement {
		return p.Handle(pluginsdk.User{}, map[string]pluginsdk.Value{"org_name": name})
	}
	dispense("redirect").Redirects("/x").With(pluginsdk.SetUser("a", int64(1))).With(pluginsdk.SetUser("a", 1)).With(pluginsdk.SetSession("s", "v"))
	dispense("setup").AsksForOrganisation("Ada")
	dispense("").IsDone().With(pluginsdk.ConsumeIntended())
	dispense("error").Fails("no database")
	handle("").Satisfied().With(pluginsdk.SetUser("partner_id", int64(7)))
	handle("more").NeedsMoreInput("x")
	handle("no").Refuses("not this")
	handle("error").Fails("no database")
	if len(r.failures) > 0 {
		t.Fatalf("failures without a reason: %q", r.failures)
	}
	for want, check := range map[string]func(){
		`want a redirect to "/y"`:                                      func() { dispense("redirect").Redirects("/y") },
		`the intent is "org_setup" "", want a redirect`:                func() { dispense("setup").Redirects("/x") },
		`org_setup for "Bob"`:                                          func() { dispense("setup").AsksForOrganisation("Bob") },
		`the intent is "redirect", want done`:                          func() { dispense("redirect").IsDone() },
		`want among them [set user a = 2]`:                             func() { dispense("redirect").With(pluginsdk.SetUser("a", int64(2))) },
		`the effects are [consume the intended URL]`:                   func() { dispense("").With(pluginsdk.SetSession("s", nil)) },
		`the call failed: plugin unavailable: no database`:             func() { dispense("error").IsDone() },
		`the call's error is <nil>, want one with "x"`:                 func() { dispense("").Fails("x") },
		`the status is "error", want "satisfied"`:                      func() { handle("no").Satisfied() },
		`want something at the field "y"`:                              func() { handle("more").NeedsMoreInput("x", "y") },
		`the messages are ["not this one"], want one with "something"`: func() { handle("no").Refuses("something") },
	} {
		r.failures = nil
		check()
		if len(r.failures) != 1 || !strings.Contains(r.failures[0], want) {
			t.Errorf("failures %q, want one with %q", r.failures, want)
		}
	}
}
