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
		IdentityProvider: provider{},
	}
}

// A provider sends browsers to one address, and knows the person whom the parameter "who"
// names.
type provider struct{}

// Begin refuses nobody but those whom it cannot expect.
func (provider) Begin(_ context.Context, r pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	if r.LoginHint == "error" {
		return pluginsdk.Authorization{}, errFailing
	}
	return pluginsdk.Authorization{URL: "https://id.example.com/authorize?state=" + r.State, Private: []byte(r.Locale)}, nil
}

// Finish refuses a browser without the private bytes of Begin.
func (provider) Finish(_ context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	if string(r.Private) != "en" || r.Parameters["state"] == "" {
		return pluginsdk.Refused("not begun here"), nil
	}
	switch r.Parameters["who"] {
	case "error":
		return pluginsdk.IdentityResult{}, errFailing
	case "":
		return pluginsdk.Identified(pluginsdk.Identity{Subject: "s2", Email: "bob@example.com"}), nil
	}
	return pluginsdk.Identified(pluginsdk.Identity{Subject: "s1", Email: "ada@example.com", EmailVerified: true}).With(pluginsdk.SetUser("team", "blue")), nil
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
	begin := func(edit ...func(*pluginsdk.BeginRequest)) plugintest.Begun { return p.Begin(edit...) }
	finish := func(who string) plugintest.Identification {
		return begin().Finish(map[string]string{"who": who})
	}
	begin().SendsTo("https://id.example.com/authorize").Asks("state", "the-state-of-the-test").Asks("state", "")
	begin(func(r *pluginsdk.BeginRequest) { r.LoginHint = "error" }).Fails("no database")
	finish("ada").Identifies("s1").Verified("ada@example.com").With(pluginsdk.SetUser("team", "blue"))
	finish("").Identifies("s2").Verified("")
	finish("error").Fails("no database")
	p.Finish(pluginsdk.FinishRequest{}).Refuses("not begun")
	if len(r.failures) > 0 {
		t.Fatalf("failures without a reason: %q", r.failures)
	}
	for want, check := range map[string]func(){
		`want a redirect to "/y"`:                                                 func() { dispense("redirect").Redirects("/y") },
		`the intent is "org_setup" "", want a redirect`:                           func() { dispense("setup").Redirects("/x") },
		`org_setup for "Bob"`:                                                     func() { dispense("setup").AsksForOrganisation("Bob") },
		`the intent is "redirect", want done`:                                     func() { dispense("redirect").IsDone() },
		`want among them [set user a = 2]`:                                        func() { dispense("redirect").With(pluginsdk.SetUser("a", int64(2))) },
		`the effects are [consume the intended URL]`:                              func() { dispense("").With(pluginsdk.SetSession("s", nil)) },
		`the call failed: plugin unavailable: no database`:                        func() { dispense("error").IsDone() },
		`the call's error is <nil>, want one with "x"`:                            func() { dispense("").Fails("x") },
		`the status is "error", want "satisfied"`:                                 func() { handle("no").Satisfied() },
		`want something at the field "y"`:                                         func() { handle("more").NeedsMoreInput("x", "y") },
		`is sent to "https://id.example.com/authorize", want "https://id"`:        func() { begin().SendsTo("https://id") },
		`the parameter state of the address is "the-state-of-the-test", want "x"`: func() { begin().Asks("state", "x") },
		`the parameter nonce of the address is "", want ""`:                       func() { begin().Asks("nonce", "") },
		`the subject is "s1", want "s2"`:                                          func() { finish("ada").Identifies("s2") },
		`the verified address is "", want "bob@example.com"`:                      func() { finish("").Verified("bob@example.com") },
		`the person is "s1", want a refusal`:                                      func() { finish("ada").Refuses("") },
		`the reason is "not begun here", want one with "banned"`:                  func() { p.Finish(pluginsdk.FinishRequest{}).Refuses("banned") },
		`is refused ("not begun here"), want an identity`:                         func() { p.Finish(pluginsdk.FinishRequest{}).Identifies("s1") },
		`want among them [set user team = "red"]`:                                 func() { finish("ada").With(pluginsdk.SetUser("team", "red")) },
		`the messages are ["not this one"], want one with "something"`:            func() { handle("no").Refuses("something") },
	} {
		r.failures = nil
		check()
		if len(r.failures) != 1 || !strings.Contains(r.failures[0], want) {
			t.Errorf("failures %q, want one with %q", r.failures, want)
		}
	}
}
