package pluginsdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// TestMain is the plugin "sample" when the variable says so, so that tests can run
// it as people and hosts do.
func TestMain(m *testing.M) {
	switch os.Getenv("PLUGINSDK_TEST") {
	case "":
		os.Exit(m.Run())
	case "nameless":
		pluginsdk.Serve(pluginsdk.Plugin{Dispenser: &sample{}})
	default:
		s := &sample{}
		pluginsdk.Serve(pluginsdk.Plugin{
			Name: "sample", Version: "1.2.3", Description: "For tests.", Dispenser: s, OrgSetup: s, Config: s,
		})
	}
}

// sample is a plugin in both roles.
type sample struct {
	Page string `config:"page" default:"/page" doc:"Where everybody goes."`
}

func (s *sample) Dispense(ctx context.Context, user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
	pluginsdk.Logger(ctx).Info("dispensing", "user", user.ID)
	switch at := time.Date(2026, 1, 31, 13, 0, 0, 0, time.FixedZone("", 3600)); user.Name {
	case "time":
		return pluginsdk.Done().With(pluginsdk.SetUser("at", at), pluginsdk.SetUser("was", nil).Replacing(at)), nil
	case "type":
		return pluginsdk.Done().With(pluginsdk.SetUser("x", struct{}{})), nil
	case "text":
		return pluginsdk.Done().With(pluginsdk.SetUser("x", "\xff")), nil
	case "nan":
		return pluginsdk.Done().With(pluginsdk.SetUser("x", math.NaN())), nil
	case "range":
		return pluginsdk.Done().With(pluginsdk.SetUser("x", uint64(math.MaxUint64))), nil
	case "huge":
		return pluginsdk.Done().With(pluginsdk.SetUser("x", strings.Repeat("x", 1<<20))), nil
	case "none":
		return pluginsdk.Intent{}, nil
	case "full":
		return pluginsdk.Done().With(pluginsdk.SetSession("x", strings.Repeat("x", 1<<15))), nil
	}
	return pluginsdk.Redirect(s.Page).With(pluginsdk.SetSession("n", user.Columns.All()["n"]), pluginsdk.ConsumeIntended()), nil
}

func (s *sample) Handle(_ context.Context, _ pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Result, error) {
	var form pluginsdk.OrgForm
	if err := req.Bind(&form); err != nil {
		return pluginsdk.Result{}, err
	}
	if form.OrgName == "" {
		return pluginsdk.NeedsMoreInput(map[string]any{"fields": map[string]any{"org_name": []string{"required"}}}), nil
	}
	return pluginsdk.Satisfied().With(pluginsdk.SetUser("partner_id", int64(9007199254740993))), nil
}

// byHand runs the plugin as a person does.
func byHand(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PLUGINSDK_TEST=sample")
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

func TestRunByHand(t *testing.T) {
	stdout, stderr, code := byHand(t, "")
	if code != 1 || stdout != "" {
		t.Errorf("code %d, standard output %q", code, stdout)
	}
	for _, want := range []string{`This is "sample", a plugin of Vestibule`, `plugin "sample" {`, `["dispenser","org_setup"]`, "-describe", "-call"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not said: %s", want, stderr)
		}
	}
	if _, stderr, code = byHand(t, "", "-fly"); code != 2 || !strings.Contains(stderr, "flag provided but not defined: -fly") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

func TestDescribeByHand(t *testing.T) {
	stdout, _, code := byHand(t, "", "-describe")
	var d pluginsdk.Description
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 {
		t.Fatalf("code %d, %v: %s", code, err, stdout)
	}
	if d.Name != "sample" || d.Version != "1.2.3" || d.SDK != "go/"+pluginsdk.Version || len(d.Roles) != 2 || d.Config[0].Default != "/page" {
		t.Errorf("got %+v", d)
	}
}

func TestCallByHand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "call.json")
	if err := os.WriteFile(file, []byte(`{"config": {"page": "/x"}, "user": {"id": 7, "columns": {"n": 9007199254740993}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, stdin, file string
		code              int
		stdout, stderr    string
	}{
		{"file", "", file, 0, `"target": "/x"`, "request_id=call user=7"},
		{"time", `{"user": {"name": "time"}}`, "-", 0, `"value": "2026-01-31T12:00:00Z"`, ""},
		{"old time", `{"user": {"name": "time"}}`, "-", 0, `"replacing": "2026-01-31T12:00:00Z"`, ""},
		{"type", `{"user": {"name": "type"}}`, "-", 1, "", `broke the contract: the effect on "x": a value of type struct {}`},
		{"text", `{"user": {"name": "text"}}`, "-", 1, "", `broke the contract: the effect on "x": a text is not valid UTF-8`},
		{"nan", `{"user": {"name": "nan"}}`, "-", 1, "", `broke the contract: the effect on "x": NaN is not a number`},
		{"range", `{"user": {"name": "range"}}`, "-", 1, "", `broke the contract: the effect on "x": a value of type uint64`},
		{"huge", `{"user": {"name": "huge"}}`, "-", 1, "", "1048576 are allowed"},
		{"full", `{"user": {"name": "full"}}`, "-", 1, "", `the session value "x" has 32768 bytes`},
		{"no intent", `{"user": {"name": "none"}}`, "-", 1, "", "no intent"},
		{"integers", "", file, 0, `"value": 9007199254740993`, ""},
		{"defaults", "{}", "-", 0, `"target": "/page"`, "user=1"},
		{"form", `{"form": {"org_name": "x"}}`, "-", 0, `"set_user": "partner_id",`, ""},
		{"role", `{"role": "org_setup"}`, "-", 0, `"status": "needs_more_input"`, ""},
		{"unknown role", `{"role": "king"}`, "-", 1, "", `role is "king"`},
		{"misspelt", `{"usr": {}}`, "-", 1, "", `unknown field "usr"`},
		{"not JSON", `{`, "-", 1, "", "read the call"},
		{"more", `{} {}`, "-", 1, "", "something follows"},
		{"bad config", `{"config": {"pgae": "/"}}`, "-", 1, "", `config.pgae: this key is unknown; did you mean "page"?`},
		{"no file", "", file + "x", 1, "", "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := byHand(t, tt.stdin, "-call", tt.file)
			if tt.code == 1 && stdout != "" {
				t.Errorf("it prints %.100s", stdout)
			}
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d\n%s\n%s", code, stdout, stderr)
			}
		})
	}
}

func TestMistakesOfTheAuthor(t *testing.T) {
	d := pluginsdk.DispenserFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
		return pluginsdk.Done(), nil
	})
	for name, p := range map[string]pluginsdk.Plugin{
		"no name":   {Dispenser: d},
		"no role":   {Name: "x"},
		"no struct": {Name: "x", Dispenser: d, Config: 5},
		"no title":  {Name: "x", Dispenser: d, OffersStep: true},
		"no step":   {Name: "x", Title: "X", OffersStep: true, Listener: pluginsdk.ListenerFunc(nil)},
	} {
		if _, err := p.Describe(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	cmd := exec.Command(os.Args[0], "-describe")
	cmd.Env = append(os.Environ(), "PLUGINSDK_TEST=nameless")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "the plugin has no Name") {
		t.Errorf("%v: %s", err, out)
	}
}
