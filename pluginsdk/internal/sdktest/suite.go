package sdktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/conformance"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// Need skips the test unless the command, which shows that a language and its
// gRPC are there, works. With the variable set to 1 it fails the test instead.
func Need(t *testing.T, variable, what string, command ...string) {
	t.Helper()
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv(variable) == "1" {
		t.Fatalf("%s is missing: %v\n%s", what, err, out)
	}
	t.Skipf("%s is missing", what)
}

// Suite runs the suite against the plugin echo of an SDK.
func Suite(t *testing.T, command ...string) {
	program := conformance.Program{Command: command}
	good := plugintest.Config(`{"must": "x"}`)
	t.Run("conformance", func(t *testing.T) {
		program := program
		program.Setup = good
		plugintest.ConformanceOf(t, program)
	})
	p := plugintest.Run(t, program, good)
	t.Run("description", func(t *testing.T) { description(t, p) })
	t.Run("values", func(t *testing.T) { values(t, p) })
	t.Run("request", func(t *testing.T) { request(t, p) })
	t.Run("answers", func(t *testing.T) { answers(t, p) })
	t.Run("events", func(t *testing.T) { events(t, p) })
	t.Run("identities", func(t *testing.T) { identities(t, p) })
	t.Run("changes", func(t *testing.T) { changes(t, p) })
	t.Run("errors", func(t *testing.T) { failures(t, p) })
	t.Run("times", func(t *testing.T) { times(t, p) })
	t.Run("by hand", func(t *testing.T) { byHand(t, command) })
	t.Run("identities by hand", func(t *testing.T) { identitiesByHand(t, command) })
	t.Run("changes by hand", func(t *testing.T) { changesByHand(t, command) })
	t.Run("config", func(t *testing.T) { config(t, program) })
	t.Run("start", func(t *testing.T) { start(t, program) })
	t.Run("signals", func(t *testing.T) { signals(t, program) })
}

func person(name string, columns map[string]pluginsdk.Value) pluginsdk.User {
	return pluginsdk.User{ID: "7", Name: name, Email: "ada@example.com", Columns: pluginsdk.ValuesOf(columns)}
}

func description(t *testing.T, p *plugintest.Plugin) {
	d, err := p.Client.Describe(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "echo" || d.Version != "3" || d.Description != "Echoes." || d.Title != "Echo" || !d.OffersStep || !strings.Contains(d.SDK, "/"+pluginsdk.Version) {
		t.Errorf("got %+v", d)
	}
	if diff := cmp.Diff([]string{"dispenser", "org_setup", "listener", "identity_provider", "validator"}, d.Roles); diff != "" {
		t.Error(diff)
	}
	want := []configblock.Key{
		{Path: "must", Type: "string", Required: true},
		{Path: "number", Type: "int", Default: "3"},
		{Path: "list", Type: "list", Default: "[]"},
		{Path: "mood", Type: "string", Default: "plain", Doc: "How. One of: plain, loud."},
		{Path: "rate", Type: "float"},
	}
	if diff := cmp.Diff(want, d.Config); diff != "" {
		t.Error(diff)
	}
}

// values go there and back unchanged, whatever the language makes of them.
func values(t *testing.T, p *plugintest.Plugin) {
	columns := map[string]pluginsdk.Value{
		"null": nil, "true": true, "false": false, "zero": int64(0), "one": int64(1), "minus": int64(-1),
		"max": int64(math.MaxInt64), "min": int64(math.MinInt64), "beyond": int64(1<<53 + 1), "below": -int64(1<<53 + 1),
		"half": 0.5, "huge": 1e300, "tiny": -5e-324, "text": "ü\x00👩‍🚀", "empty": "",
		"bytes": []byte{0, 1, 255}, "none": []byte{}, "__proto__": "x", "constructor": int64(5),
	}
	a := p.Dispense(person("Ada", columns))
	got := map[string]pluginsdk.Value{}
	for _, e := range a.Intent.Effects() {
		if e.IsSetUser() {
			got[e.Name()] = e.Value()
		}
	}
	if diff := cmp.Diff(columns, got); diff != "" {
		t.Error(diff)
	}
	a.With(pluginsdk.ConsumeIntended()).With(pluginsdk.SetSession("n", int64(1)))
}

// request holds every field under the name that the protocol gives it.
func request(t *testing.T, p *plugintest.Plugin) {
	a := p.Dispense(person("Ada", nil), func(r *pluginsdk.Request) {
		*r = pluginsdk.Request{
			ID: "r", IntentID: "i", Method: "POST", Path: "/p", Query: "q=1", Headers: map[string]string{"h": "v"},
			RemoteAddr: "::1", Locale: "de", Intended: "/x", Routes: map[string]string{"home": "/"},
			Session: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"s": int64(1)}), SessionID: "sid", SignedInAt: time.Unix(1<<33, 0), SignedInBy: "device",
			Held: "/held", RecoveryOnly: true, Asked: true, Form: pluginsdk.ValuesOf(map[string]pluginsdk.Value{"code": "1"}),
		}
	})
	var told struct{ User, Request map[string]any }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(a.Intent.Target(), "/")), &told); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": "r", "intent_id": "i", "method": "POST", "path": "/p", "query": "q=1", "headers": map[string]any{"h": "v"},
		"remote_addr": "::1", "locale": "de", "intended": "/x", "routes": map[string]any{"home": "/"},
		"session": map[string]any{"s": 1.0}, "session_id": "sid", "signed_in_at": float64(1 << 33), "signed_in_by": "device",
		"held": "/held", "recovery_only": true, "asked": true, "form": map[string]any{"code": "1"},
	}
	if diff := cmp.Diff(want, told.Request); diff != "" {
		t.Error(diff)
	}
	want = map[string]any{"id": "7", "name": "Ada", "email": "ada@example.com", "columns": map[string]any{}, "locale": ""}
	if diff := cmp.Diff(want, told.User); diff != "" {
		t.Error(diff)
	}
	// What is empty is not sent, and is empty there.
	a = p.Dispense(pluginsdk.User{}, func(r *pluginsdk.Request) { *r = pluginsdk.Request{} })
	if err := json.Unmarshal([]byte(strings.TrimPrefix(a.Intent.Target(), "/")), &told); err != nil {
		t.Fatal(err)
	}
	if told.User["name"] != "" || told.User["id"] != "" || told.Request["intended"] != "" || told.Request["locale"] != "" {
		t.Errorf("got %v and %v, want empty texts", told.User, told.Request)
	}
}

func answers(t *testing.T, p *plugintest.Plugin) {
	p.Dispense(person("done", nil)).IsDone()
	p.Dispense(person("setup", nil)).AsksForOrganisation("Ada 👩‍🚀")
	p.Dispense(person("log", nil)).IsDone()
	p.Dispense(person("hold", nil)).Holds("/held", "/assets", "/ü").
		With(pluginsdk.SetUser("a", int64(5)).Replacing(nil)).With(pluginsdk.SetUser("b", nil).Replacing(int64(4)))
	more := p.Dispense(person("more", nil)).Holds("/held").With(pluginsdk.ConsumeIntended())
	if more.Intent.NextStep()["message"] != "ü" {
		t.Errorf("got %v", more.Intent.NextStep())
	}
	p.Dispense(person("refuse", nil), func(r *pluginsdk.Request) { r.Form = pluginsdk.ValuesOf(map[string]pluginsdk.Value{"code": int64(17)}) }).Refuses("no").Refuses("17")
	marked := p.Dispense(person("recover", nil)).Holds("/held").Refuses("no").Intent
	recovered := p.Dispense(person("recovered", nil)).IsDone().With(pluginsdk.SetSession("a", int64(1))).Intent
	if !marked.OffersRecovery() || !marked.IsRecovery() || !recovered.IsRecovery() || recovered.OffersRecovery() || more.Intent.IsRecovery() {
		t.Errorf("recovery is lost: %+v, %+v, %+v", marked, recovered, more.Intent)
	}
	p.Dispense(person("mail", nil)).IsDone().With(pluginsdk.Mail("plain", nil)).
		With(pluginsdk.Mail("greeting", map[string]string{"link": "/a?b=ü", "name": "Ada 👩‍🚀"}))
	named := func(name string) map[string]pluginsdk.Value { return map[string]pluginsdk.Value{"org_name": name} }
	p.Handle(person("Ada", nil), nil).Satisfied().With(pluginsdk.SetUser("partner_id", int64(math.MaxInt64)))
	p.Handle(person("Ada", nil), named("no")).Refuses("ü")
	j := p.Handle(person("Ada", nil), named("more")).NeedsMoreInput("billing_email")
	if j.Result.NextStep()["message"] != "ü" {
		t.Errorf("got %v", j.Result.NextStep())
	}
}

// events are acknowledged, those of kinds that are not there yet too; an error has them
// told again.
func events(t *testing.T, p *plugintest.Plugin) {
	at := time.Date(2026, 1, 31, 23, 59, 59, int(7*time.Millisecond), time.UTC)
	for _, kind := range []string{"password_reset", "married"} {
		_, err := p.Client.Notify(t.Context(), pluginsdk.Event{ID: "e1", Kind: kind, User: person("Ada", nil), At: at})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	_, err := p.Client.Notify(t.Context(), pluginsdk.Event{ID: "e2", Kind: "password_reset", User: person("throw", nil), At: at})
	if !errors.Is(err, pluginsdk.ErrUnavailable) || !strings.Contains(err.Error(), "not now: e2 password_reset 7 2026-01-31T23:59:59.007Z") {
		t.Errorf("a listener that fails: %v", err)
	}
	asked := func(name string) plugintest.Note {
		return p.Notify(pluginsdk.Event{ID: "e3", Kind: "password_reset", User: person(name, nil), At: at})
	}
	asked("sets").With(pluginsdk.SetUser("a", int64(5))).With(pluginsdk.SetUser("b", nil).Replacing(int64(4))).
		With(pluginsdk.Mail("greeting", map[string]string{"link": "/a"}))
	if n := asked("Ada").Acknowledges(); len(n.Effects) != 0 {
		t.Errorf("effects of a listener that asks for none: %v", n.Effects)
	}
	for name, want := range map[string]string{"session": "session", "wordy": "1025 bytes; 1024 are allowed", "wrong": "session"} {
		asked(name).Fails(want)
		if _, err := p.Client.Notify(t.Context(), pluginsdk.Event{Kind: "password_reset", User: person(name, nil), At: at}); !errors.Is(err, pluginsdk.ErrContract) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func failures(t *testing.T, p *plugintest.Plugin) {
	tests := map[string]error{
		"number":  pluginsdk.ErrContract,
		"throw":   pluginsdk.ErrUnavailable,
		"nothing": pluginsdk.ErrContract,
		"wrong":   pluginsdk.ErrContract,
		"unheld":  pluginsdk.ErrContract,

		"unoffered": pluginsdk.ErrContract,
	}
	for name, want := range tests {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := p.Client.Dispense(ctx, person(name, nil), &pluginsdk.Request{})
		cancel()
		if err == nil || want != nil && !errors.Is(err, want) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	for _, name := range unsendable() {
		p.Dispense(person(name, nil)).Fails(pluginsdk.ErrContract.Error() + `: the effect on "x": `)
	}
	p.Dispense(person("huge", nil)).Fails(pluginsdk.ErrContract.Error() + ": the answer has 1048")
	p.Dispense(person("done", nil)).IsDone()
	kept := func(r *pluginsdk.Request) {
		r.Session = pluginsdk.ValuesOf(map[string]pluginsdk.Value{"a": strings.Repeat("x", 16384)})
	}
	p.Dispense(person("large", nil)).Fails(`the session value "x" has 16386 bytes; 16384 are allowed`)
	p.Dispense(person("full", nil), kept).Fails("the session values would have 32801 bytes together; 32768 are allowed")
	p.Dispense(person("full", nil)).IsDone()
	p.Dispense(person("wordy", nil)).Fails(`the mail "greeting" has a text "link" of 1026 bytes; 1024 are allowed`)
	p.Dispense(person("lines", nil)).Fails(`the mail "greeting" has a text "link" that is not one line`)
	p.Dispense(person("texts", nil)).Fails(`the mail "greeting" has 17 texts; 16 are allowed`)
	p.Dispense(person("freed", nil), kept).IsDone()
}

// unsendable are the people for whom a value of the answer has no form on the wire.
func unsendable() []string { return []string{"type", "range", "text", "nan"} }

// times of the language are sent as RFC 3339 in UTC.
func times(t *testing.T, p *plugintest.Plugin) {
	const at = "2026-01-31T12:00:00Z"
	p.Dispense(person("time", nil)).IsDone().With(pluginsdk.SetUser("at", at)).With(pluginsdk.SetSession("at", at)).
		With(pluginsdk.SetUser("was", nil).Replacing(at))
	payload := p.Dispense(person("payload", nil)).Holds("/held").Intent.NextStep()
	text, _ := payload["message"].(string)
	if got, err := time.Parse(time.RFC3339, text); err != nil || got.Format(time.RFC3339) != at {
		t.Errorf("the payload is %v, want the time %s", payload, at)
	}
}

// byHand makes calls with -call, which prints what is sent, and names what is not.
func byHand(t *testing.T, command []string) {
	run := func(document string) (stdout, stderr string, err error) { return callByHand(t, command, document) }
	call := func(name string) (stdout, stderr string, err error) {
		return run(`{"config": {"must": "x"}, "user": {"name": "` + name + `", "columns": {"whole": 5}}}`)
	}
	type shown struct {
		Acknowledged bool
		Effects      []map[string]any
	}
	for document, want := range map[string]shown{
		`"user": {"name": "time"}`: {Effects: []map[string]any{
			{"set_user": "at", "value": "2026-01-31T12:00:00Z"},
			{"set_session": "at", "value": "2026-01-31T12:00:00Z"},
			{"replace_user": "was", "old": "2026-01-31T12:00:00Z", "value": nil},
		}},
		`"user": {"name": "mail"}`: {Effects: []map[string]any{
			{"send_mail": "greeting", "texts": map[string]any{"link": "/a?b=ü", "name": "Ada 👩‍🚀"}},
			{"send_mail": "plain", "texts": map[string]any{}},
		}},
		`"user": {"name": "sets"}, "event": {}`: {Acknowledged: true, Effects: []map[string]any{
			{"set_user": "a", "value": 5.0},
			{"replace_user": "b", "old": 4.0, "value": nil},
			{"send_mail": "greeting", "texts": map[string]any{"link": "/a"}},
		}},
		`"user": {"name": "Ada"}, "event": {}`: {Acknowledged: true, Effects: []map[string]any{}},
	} {
		stdout, stderr, err := run(`{"config": {"must": "x"}, ` + document + `}`)
		var answer shown
		if err := errors.Join(err, json.Unmarshal([]byte(stdout), &answer)); err != nil {
			t.Errorf("%s: %v: %s%s", document, err, stdout, stderr)
		} else if diff := cmp.Diff(want, answer); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
	if stdout, stderr, err := run(`{"config": {"must": "x"}, "user": {"name": "wordy"}, "event": {}}`); err == nil || stdout != "" || !strings.Contains(stderr, "the answer breaks the contract: the mail") {
		t.Errorf("wordy: %v, it prints %q and %q", err, stdout, stderr)
	}
	for _, name := range unsendable() {
		if stdout, stderr, err := call(name); err == nil || stdout != "" || !strings.Contains(stderr, `the answer breaks the contract: the effect on "x": `) {
			t.Errorf("%s: %v, it prints %q and %q", name, err, stdout, stderr)
		}
	}
	if stdout, stderr, err := call("huge"); err == nil || stdout != "" || !strings.Contains(stderr, "1048576 are allowed") {
		t.Errorf("huge: %v, it prints %d bytes and %q", err, len(stdout), stderr)
	}
}

// callByHand makes one call with -call.
func callByHand(t *testing.T, command []string, document string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], append(slices.Clone(command[1:]), "-call", "-")...)
	cmd.Stdin = strings.NewReader(document)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

func config(t *testing.T, program conformance.Program) {
	tests := []struct{ block, path, message string }{
		{`{}`, "must", "required"},
		{`{"must": 1}`, "must", "wanted here"},
		{`{"must": "x", "number": "1"}`, "number", "wanted here"},
		{`{"must": "x", "number": true}`, "number", "wanted here"},
		{`{"must": "x", "number": 1.5}`, "number", "wanted here"},
		{`{"must": "x", "mood": "soft"}`, "mood", `"soft" is none of: plain, loud`},
		{`{"must": "x", "rate": "1"}`, "rate", "wanted here"},
		{`{"must": "x", "numbr": 1}`, "numbr", "unknown"},
		{`{"must": "x", "list": [1, 2]}`, "list[1]", "one is enough"},
	}
	for _, tt := range tests {
		err := configure(t, program, tt.block)
		var mistakes *pluginsdk.ConfigError
		if !errors.As(err, &mistakes) || mistakes.Problems[0].Path != tt.path || !strings.Contains(mistakes.Problems[0].Message, tt.message) {
			t.Errorf("%s: got %v, want %s: %s", tt.block, err, tt.path, tt.message)
		}
	}
	if err := configure(t, program, `{"must": "fail"}`); err == nil || !strings.Contains(err.Error(), "the database does not answer") {
		t.Errorf("a failing configure: %v", err)
	}
	told := plugintest.Config(`{"must": "told"}`)
	told.PublicURL, told.Mails = "https://app.example.com", []string{"greeting"}
	var learned *pluginsdk.ConfigError
	if err := configureWith(t, program, told); !errors.As(err, &learned) || learned.Problems[0].Message != "https://app.example.com greeting" {
		t.Errorf("what the plugin learns of the host: %v", err)
	}
	if err := configure(t, program, `{"must": "x", "number": null, "rate": 1, "mood": "loud"}`); err != nil {
		t.Errorf("null is absent: %v", err)
	}
}

func configure(t *testing.T, program conformance.Program, block string) error {
	t.Helper()
	return configureWith(t, program, plugintest.Config(block))
}

func configureWith(t *testing.T, program conformance.Program, setup pluginsdk.Setup) error {
	t.Helper()
	running, err := conformance.Start(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return running.Client.Configure(ctx, setup)
}

// start makes sure that the certificate, which is made anew each time from random
// numbers, is a good one each time.
func start(t *testing.T, program conformance.Program) {
	for range 5 {
		if err := configure(t, program, `{"must": "x"}`); err != nil {
			t.Fatal(err)
		}
	}
}

// signals that are meant for the whole service do not end a plugin while the host lives.
func signals(t *testing.T, program conformance.Program) {
	running, err := conformance.Start(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	for range 2 {
		for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
			if err := running.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 { // the first answer may be quicker than the end
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := running.Client.Describe(ctx, "test")
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// Python returns a Python that has gRPC: Debian's, or the first in PATH.
func Python(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import grpc").Run() == nil {
			return python
		}
	}
	Need(t, "REQUIRE_PYTHON", "Python with the package grpcio (python3-grpcio in Debian)", "python3", "-c", "import grpc")
	return ""
}
