package pluginproc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// What the pipeline knows and a plugin may not, does not reach it.
func TestPluginSeesOnlyWhatIsGranted(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.UserRead = []string{"partner_id", "big", "small", "text", "missing", "none", "raw", "ratio"}
	spec.Headers = []string{"Accept-Language"}
	h := started(t, pluginproc.Options{}, spec)
	user := pluginsdk.User{ID: "7", Name: "Ada\xff", Email: "echo@example.com", Columns: pluginsdk.ValuesOf(map[string]pluginsdk.Value{
		"partner_id": int64(1), "big": int64(math.MaxInt64), "small": int64(math.MinInt64), "text": "ü\xff", "none": nil,
		"raw": []byte{0, 255}, "ratio": 0.1, "secret": "s", "password": "p", "remember_token": "r",
	})}
	req := request()
	req.Headers = map[string]string{"Accept-Language": "de", "Cookie": "c", "Authorization": "a", "User-Agent": "u"}
	req.Session = pluginsdk.ValuesOf(map[string]pluginsdk.Value{"fault/visits": int64(3), "other/visits": int64(4), "visits": int64(5)})
	req.Intended, req.Routes = "/orders?a=1", map[string]string{"home": "/"}
	req.SessionID, req.SignedInAt, req.SignedInBy, req.Held = "sid", time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), "device", "/held"
	req.Form = pluginsdk.ValuesOf(map[string]pluginsdk.Value{"code": "7\xff"})
	intent, err := h.Dispenser().Dispense(t.Context(), user, req)
	if err != nil {
		t.Fatal(err)
	}
	var saw struct {
		User, Request map[string]any
	}
	text, _ := strings.CutPrefix(intent.Target(), "/")
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&saw); err != nil {
		t.Fatal(err)
	}
	wantUser := map[string]any{
		"ID": "7", "Name": "Ada\uFFFD", "Email": "echo@example.com", "Locale": "", "Columns": map[string]any{
			"partner_id": json.Number("1"), "big": json.Number("9223372036854775807"), "small": json.Number("-9223372036854775808"),
			"text": "ü\uFFFD", "none": nil, "raw": "AP8=", "ratio": json.Number("0.1"),
		},
	}
	if diff := cmp.Diff(wantUser, saw.User); diff != "" {
		t.Error("user:", diff)
	}
	wantRequest := map[string]any{
		"ID": "r1", "IntentID": "i1", "Method": "POST", "Path": "/auth/login", "Query": "", "RemoteAddr": "", "Locale": "en",
		"Intended": "/orders?a=1", "Routes": map[string]any{"home": "/"}, "Form": map[string]any{"code": "7\uFFFD"},
		"Headers": map[string]any{"accept-language": "de"}, "Session": map[string]any{"visits": json.Number("3")},
		"SessionID": "sid", "SignedInAt": "2026-05-04T12:00:00Z", "SignedInBy": "device", "Held": "/held", "RecoveryOnly": false, "Asked": false, "Traceparent": "", "Tracestate": "",
	}
	if diff := cmp.Diff(wantRequest, saw.Request); diff != "" {
		t.Error("request:", diff)
	}
}

// Session values come back under the plugin's own prefix.
func TestEffectsArePrefixed(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok"))
	intent, err := h.dispense(t, "any")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range intent.Effects() {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"fault/pid", "fault/request"}, names); diff != "" {
		t.Error(diff)
	}
}

// A handler's payload reaches the front end as it is.
func TestPayloadKeepsNumbers(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, faulty(t, "ok"))
	result, err := h.handle(t, "any", map[string]pluginsdk.Value{"org_name": "more"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result.NextStep())
	if err != nil || string(text) != `{"big":9223372036854775807}` {
		t.Errorf("got %s, %v", text, err)
	}
	if result, err = h.handle(t, "any", map[string]pluginsdk.Value{"org_name": "no"}); err != nil || result.Errors()[0] != "no" {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestMistakesInSpecs(t *testing.T) {
	good := pluginproc.Spec{Name: "a", Command: []string{"/bin/a"}, Roles: []string{pluginsdk.RoleDispenser}}
	tests := []struct {
		name string
		edit func(*pluginproc.Spec)
		want string
	}{
		{"nothing", func(*pluginproc.Spec) {}, ""},
		{"name", func(s *pluginproc.Spec) { s.Name = "a/b" }, "letters, digits"},
		{"relative", func(s *pluginproc.Spec) { s.Command = []string{"a"} }, "path of a program"},
		{"no command", func(s *pluginproc.Spec) { s.Command = nil }, "path of a program"},
		{"no roles", func(s *pluginproc.Spec) { s.Roles = nil }, "no roles"},
		{"unknown role", func(s *pluginproc.Spec) { s.Roles = []string{"king"} }, `role "king" is unknown`},
		{"sha", func(s *pluginproc.Spec) { s.SHA256 = "abc" }, "64 hexadecimal"},
		{"checksum", func(s *pluginproc.Spec) { s.Checksums = map[string]string{"/x": "abc"} }, "64 hexadecimal"},
		{"timeout", func(s *pluginproc.Spec) { s.Timeout = -1 }, "negative"},
		{"password", func(s *pluginproc.Spec) { s.UserRead = []string{"Password"} }, "credentials cannot be granted"},
		{"remember token", func(s *pluginproc.Spec) { s.UserWrite = []string{"remember_token"} }, "cannot be granted"},
		{"all columns", func(s *pluginproc.Spec) { s.UserRead = []string{"*"} }, "name each column"},
		{"id", func(s *pluginproc.Spec) { s.UserWrite = []string{"id"} }, "cannot be granted"},
		{"mail", func(s *pluginproc.Spec) { s.Mails = []string{"a/b"} }, "without a folder"},
		{"the host's mail", func(s *pluginproc.Spec) { s.Mails = []string{"password_reset"} }, "of your own"},
		{"cookie", func(s *pluginproc.Spec) { s.Headers = []string{"Cookie"} }, "cannot be granted"},
		{"env", func(s *pluginproc.Spec) { s.Env = map[string]string{"PLUGIN_CLIENT_CERT": "x"} }, "the host's"},
		{"config", func(s *pluginproc.Spec) { s.Config = []byte("[]") }, "no JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := good
			tt.edit(&spec)
			_, err := pluginproc.New([]pluginproc.Spec{spec}, pluginproc.Options{})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := pluginproc.New([]pluginproc.Spec{good, good}, pluginproc.Options{}); err == nil ||
		!strings.Contains(err.Error(), "two plugins of this name") || !strings.Contains(err.Error(), "already belongs to") {
		t.Errorf("two plugins with one role: %v", err)
	}
}

// A listener gets what it asks for within its grants, and nothing that needs a session.
// The names of mails have the plugin's prefix.
func TestEffectsOfListenersAreChecked(t *testing.T) {
	t.Parallel()
	spec := faulty(t, "ok")
	spec.Roles, spec.UserWrite, spec.Mails = []string{pluginsdk.RoleListener}, []string{"must_change"}, []string{"changed"}
	h := started(t, pluginproc.Options{Fits: func(_ context.Context, column string, v pluginsdk.Value) error {
		if v == "often" {
			return fmt.Errorf("column %q cannot hold such a text", column)
		}
		return nil
	}}, spec)
	notify := func(way string) ([]pluginsdk.Effect, error) {
		return h.Notify(t.Context(), spec.Name, pluginsdk.Event{ID: "e1", Kind: "password_reset", User: pluginsdk.User{ID: "7", Email: way + "@example.com"}})
	}
	effects, err := notify("sets")
	if err != nil || len(effects) != 2 || effects[0].Name() != "must_change" || effects[1].Name() != "fault/changed" || effects[1].Texts()["link"] != "/account" {
		t.Errorf("got %v, %v", effects, err)
	}
	if effects, err := notify("nobody"); err != nil || len(effects) != 0 {
		t.Errorf("got %v, %v", effects, err)
	}
	for way, want := range map[string]string{
		"sets-another": `the user column "is_admin", which is not granted`, "sets-session": "session", "mails": `the mail "another", which is not granted`,
		"sets-badly": `column "must_change" cannot hold such a text`,
	} {
		if effects, err := notify(way); !errors.Is(err, pluginsdk.ErrContract) || !strings.Contains(err.Error(), want) || effects != nil {
			t.Errorf("%s: got %v, %v, want %q", way, effects, err, want)
		}
	}
}
