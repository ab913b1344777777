package pluginproc_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// What an answer may hold, at its limits and beyond.
func TestAnswersAreHeldAgainstTheContract(t *testing.T) {
	spec := pluginproc.Spec{Name: "p", UserWrite: []string{"plan", "password"}}
	set := func(name string, v pluginsdk.Value) pluginsdk.Intent {
		return pluginsdk.Done().With(pluginsdk.SetUser(name, v))
	}
	keep := func(name string, v pluginsdk.Value) pluginsdk.Intent {
		return pluginsdk.Done().With(pluginsdk.SetSession(name, v))
	}
	many := make([]pluginsdk.Effect, 65)
	for i := range many {
		many[i] = pluginsdk.ConsumeIntended()
	}
	text := func(n int) string { return strings.Repeat("x", n) }
	intents := []struct {
		name   string
		intent pluginsdk.Intent
		want   string // in the error; empty when it is accepted
	}{
		{"done", pluginsdk.Done(), ""},
		{"none", pluginsdk.Intent{}, "no intent of kind"},
		{"target at its limit", pluginsdk.Redirect(text(8 << 10)), ""},
		{"target beyond", pluginsdk.Redirect(text(8<<10 + 1)), "the target has 8193 bytes"},
		{"name at its limit", pluginsdk.OrgSetup(text(1 << 10)), ""},
		{"name beyond", pluginsdk.OrgSetup(text(1<<10 + 1)), "the person's name has 1025 bytes"},
		{"no name", pluginsdk.OrgSetup(""), ""},
		{"granted column", set("plan", nil), ""},
		{"column in other case", set("PLAN", nil), "not granted"},
		{"credential, granted by mistake", set("password", "x"), "not granted"},
		{"column at its limit", set("plan", text(64<<10)), ""},
		{"column beyond", set("plan", text(64<<10+1)), "65537 bytes"},
		{"session value at its limit", keep("x", []byte(text(16<<10))), ""},
		{"session value beyond", keep("x", []byte(text(16<<10+1))), "16385 bytes"},
		{"session name at its limit", keep(text(128), true), ""},
		{"session name beyond", keep(text(129), true), "session value's name"},
		{"session name with a line end", keep("a\nb", true), "session value's name"},
		{"infinity", keep("x", math.Inf(-1)), "not a number"},
		{"unknown type", keep("x", struct{}{}), "a type that the contract does not know"},
		{"64 effects", pluginsdk.Done().With(many[:64]...), ""},
		{"65 effects", pluginsdk.Done().With(many...), "65 effects"},
		{"an answer to a recovery form", pluginsdk.Done().AsRecovery(), ""},
		{"a refusal of one", pluginsdk.Redirect("/x").Hold().OfferRecovery().Failed("no").AsRecovery(), ""},
		{"an effect of no kind", pluginsdk.Done().With(pluginsdk.Effect{}), "unknown kind"},
	}
	for _, tt := range intents {
		t.Run(tt.name, func(t *testing.T) {
			got, err := spec.CheckIntent(tt.intent)
			verdict(t, err, tt.want)
			if err == nil && (got.Kind() != tt.intent.Kind() || got.IsRecovery() != tt.intent.IsRecovery() || got.OffersRecovery() != tt.intent.OffersRecovery()) {
				t.Errorf("got %+v", got)
			}
		})
	}
	results := []struct {
		name   string
		result pluginsdk.Result
		want   string
	}{
		{"satisfied", pluginsdk.Satisfied(), ""},
		{"no result", pluginsdk.Result{}, "no status"},
		{"one message", pluginsdk.Failed("a"), ""},
		{"no message", pluginsdk.Failed(), "1 to 32 messages, not 0"},
		{"many messages", pluginsdk.Failed(make([]string, 33)...), "not 33"},
		{"long message", pluginsdk.Failed(text(2<<10 + 1)), "a message has 2049 bytes"},
		{"no payload", pluginsdk.NeedsMoreInput(nil), ""},
		{"large payload", pluginsdk.NeedsMoreInput(map[string]any{"x": text(64 << 10)}), "larger than 65536"},
		{"payload that is no JSON", pluginsdk.NeedsMoreInput(map[string]any{"x": math.NaN()}), "no JSON"},
		{"effect not granted", pluginsdk.Satisfied().With(pluginsdk.SetUser("is_admin", true)), "not granted"},
	}
	for _, tt := range results {
		t.Run(tt.name, func(t *testing.T) {
			got, err := spec.CheckResult(tt.result)
			verdict(t, err, tt.want)
			if err == nil && got.Status() != tt.result.Status() {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func verdict(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (!errors.Is(err, pluginsdk.ErrContract) || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want ErrContract with %q", err, want)
	}
}

// Nobody gets a header, a column or a session value that is not granted, however
// its name is written; and the pipeline's own request stays as it was.
func TestGrantsNarrowTheRequest(t *testing.T) {
	spec := pluginproc.Spec{Name: "p", UserRead: []string{"plan", "password"}, Headers: []string{"x-trace", "cookie"}}
	req := &pluginsdk.Request{
		Headers: map[string]string{"X-Trace": "1", "Cookie": "c", "X-Other": "o"},
		Session: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"p/a": true, "pp/a": false, "p": 1.0, "q/p/a": "x"}),
	}
	user, got := spec.Narrow(pluginsdk.User{Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"plan": "pro", "Plan": "x", "password": "p"})}, req)
	if diff := cmp.Diff(map[string]pluginsdk.Value{"plan": "pro"}, user.Columns.All()); diff != "" {
		t.Error("columns:", diff)
	}
	if diff := cmp.Diff(map[string]string{"x-trace": "1"}, got.Headers); diff != "" {
		t.Error("headers:", diff)
	}
	if diff := cmp.Diff(map[string]pluginsdk.Value{"a": true}, got.Session.All()); diff != "" {
		t.Error("session:", diff)
	}
	if len(req.Headers) != 3 || len(req.Session.All()) != 4 {
		t.Error("the pipeline's request was changed")
	}
}
