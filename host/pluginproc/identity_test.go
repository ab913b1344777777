package pluginproc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// identifying is the fault plugin as an identity provider.
func identifying(t testing.TB) pluginproc.Spec {
	t.Helper()
	spec := faulty(t, "ok")
	spec.Roles, spec.Timeout = []string{pluginsdk.RoleIdentityProvider}, 2*time.Second
	return spec
}

// begin and finish are calls of the fault plugin, which behaves in the given way.
func begin(t testing.TB, h *host, way string) (pluginsdk.Authorization, error) {
	t.Helper()
	return h.IdentityProvider("fault").Begin(t.Context(), pluginsdk.BeginRequest{ID: "r1", Callback: "https://app.example.com/callback", State: "s1", LoginHint: way + "@example.com"})
}

func finish(t testing.TB, h *host, way string) (pluginsdk.IdentityResult, error) {
	t.Helper()
	return h.IdentityProvider("fault").Finish(t.Context(), pluginsdk.FinishRequest{ID: "r1", Parameters: map[string]string{"way": way}})
}

// Only a plugin with the role is an identity provider, and several may be.
func TestIdentityProvidersAreNamed(t *testing.T) {
	t.Parallel()
	first, second, other := identifying(t), identifying(t), faulty(t, "ok")
	second.Name, other.Name = "second", "other"
	h := newHost(t, pluginproc.Options{}, first, other, second)
	if diff := cmp.Diff([]string{"fault", "second"}, h.IdentityProviders()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]bool{"fault": true, "second": true, "other": false, "nobody": false} {
		if got := h.IdentityProvider(name) != nil; got != want {
			t.Errorf("%s is an identity provider: %v", name, got)
		}
	}
	if _, err := begin(t, h, "any"); !errors.Is(err, pluginsdk.ErrUnavailable) {
		t.Errorf("before the start: %v", err)
	}
}

// What the host knows of a sign-in reaches the plugin, and bytes that are not UTF-8 do not
// end the call.
func TestIdentityProviderLearnsTheSignIn(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, identifying(t))
	provider := h.IdentityProvider("fault")
	asked := pluginsdk.BeginRequest{ID: "r1", Callback: "https://app.example.com/callback", State: "s1", Locale: "de", LoginHint: "a\xff@example.com", Fresh: true}
	a, err := provider.Begin(t.Context(), asked)
	if err != nil || a.URL != "https://provider.example.com/authorize?state=s1" {
		t.Fatalf("got %+v, %v", a, err)
	}
	var begun pluginsdk.BeginRequest
	if err := json.Unmarshal(a.Private, &begun); err != nil {
		t.Fatal(err)
	}
	asked.LoginHint = "a\uFFFD@example.com"
	if diff := cmp.Diff(asked, begun); diff != "" {
		t.Error("begin:", diff)
	}
	back := pluginsdk.FinishRequest{
		ID: "r2", Callback: asked.Callback, Parameters: map[string]string{"state": "s1", "code": "c\xff", "way\xfe": "x"}, Private: []byte{0, 0xff},
		Locale: "de", Fresh: true,
	}
	result, err := provider.Finish(t.Context(), back)
	if err != nil || len(result.Effects()) != 1 {
		t.Fatalf("got %+v, %v", result, err)
	}
	told, _ := result.Effects()[0].Value().(string)
	var finished pluginsdk.FinishRequest
	if err := json.Unmarshal([]byte(told), &finished); err != nil {
		t.Fatal(err)
	}
	back.Parameters = map[string]string{"state": "s1", "code": "c\uFFFD", "way\uFFFD": "x"}
	if diff := cmp.Diff(back, finished); diff != "" {
		t.Error("finish:", diff)
	}
	identity, found := result.Identity()
	if want := (pluginsdk.Identity{Subject: "s1", Email: "ada@example.com", EmailVerified: true, Name: "Ada"}); !found || identity != want {
		t.Errorf("got %+v, %v", identity, found)
	}
	if h.counts.get("begin ok") != 1 || h.counts.get("finish ok") != 1 {
		t.Errorf("counted %v", h.counts.n)
	}
}

// A Begin whose process dies is repeated on a fresh one; a Finish is not.
func TestOnlyBeginIsRepeated(t *testing.T) {
	t.Parallel()
	h := started(t, pluginproc.Options{}, identifying(t))
	before := h.pid()
	if _, err := begin(t, h, "once"); err != nil {
		t.Fatal(err)
	}
	if h.pid() == before {
		t.Error("the process did not die")
	}
	h = started(t, pluginproc.Options{}, identifying(t))
	if _, err := finish(t, h, "once"); !errors.Is(err, pluginsdk.ErrUnavailable) {
		t.Fatal(err)
	}
	if !within(patience, func() bool { return h.Ready() == nil }) {
		t.Fatal("not ready again")
	}
	if result, err := finish(t, h, "once"); err != nil || result.Reason() != "" {
		t.Errorf("the next one: %v, %v", result, err)
	}
}

// The host tells an error that the plugin chose from a plugin that is down or late, and
// both from an answer that breaks the contract.
func TestFaultyIdentityProvider(t *testing.T) {
	t.Parallel()
	tests := []struct {
		call     func(testing.TB, *host, string) (pluginsdk.IdentityResult, error)
		way      string
		want     error
		text     string
		answered bool
	}{
		{began, "error", pluginsdk.ErrUnavailable, "secret detail", true},
		{began, "panic", pluginsdk.ErrUnavailable, "panic: in a call", true},
		{began, "kill", pluginsdk.ErrUnavailable, "", false},
		{began, "hang", pluginsdk.ErrUnavailable, "did not answer in time", false},
		{began, "no-address", pluginsdk.ErrContract, "not on https", true},
		{began, "raw-plain", pluginsdk.ErrContract, "not on https", false},
		{began, "raw-private", pluginsdk.ErrContract, "the private bytes are 2049", false},
		{began, "raw-utf8", pluginsdk.ErrContract, "cannot be decoded", false},
		{finish, "error", pluginsdk.ErrUnavailable, "secret detail", true},
		{finish, "kill", pluginsdk.ErrUnavailable, "", false},
		{finish, "hang", pluginsdk.ErrUnavailable, "did not answer in time", false},
		{finish, "no-subject", pluginsdk.ErrContract, "the subject is not", true},
		{finish, "ungranted", pluginsdk.ErrContract, `"is_admin", which is not granted: add it to user_write`, false},
		{finish, "does-not-fit", pluginsdk.ErrContract, "does not fit", false},
		{finish, "raw-subject", pluginsdk.ErrContract, "the subject is not", false},
		{finish, "raw-session", pluginsdk.ErrContract, "only SetUser", false},
		{finish, "raw-both", pluginsdk.ErrContract, "an identity and the reason of a refusal", false},
		{finish, "raw-reason", pluginsdk.ErrContract, "the reason of a refusal", false},
		{finish, "refused", nil, "", false},
		{finish, "pid", nil, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.way, func(t *testing.T) {
			t.Parallel()
			h := started(t, pluginproc.Options{Fits: func(_ context.Context, _ string, v pluginsdk.Value) error {
				if v == "abc" {
					return errors.New("no number")
				}
				return nil
			}}, identifying(t))
			result, err := tt.call(t, h, tt.way)
			if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %v with %q", err, tt.want, tt.text)
			}
			if _, found := result.Identity(); found != (tt.way == "pid") {
				t.Errorf("somebody is identified: %v", found)
			}
			var own interface{ Answered() bool }
			if answered := errors.As(err, &own) && own.Answered(); answered != tt.answered {
				t.Errorf("its own code chose the error: %v", answered)
			}
			if err != nil && !strings.Contains(h.log.String(), "request_id=r1") {
				t.Error("the log does not tell which request failed")
			}
		})
	}
}

func began(t testing.TB, h *host, way string) (pluginsdk.IdentityResult, error) {
	t.Helper()
	_, err := begin(t, h, way)
	return pluginsdk.IdentityResult{}, err
}

// Guests whose calls run out of time have the process replaced, and keep nobody else from
// the host.
func TestGuestsMakeNoIdentityProviderLate(t *testing.T) {
	t.Parallel()
	spec := identifying(t)
	spec.Timeout = time.Second
	h := started(t, pluginproc.Options{}, spec)
	for _, id := range []string{"r1", "r2", "r3"} {
		r := pluginsdk.BeginRequest{ID: id, State: id, LoginHint: "hang@" + id + ".example.com"}
		if _, err := h.IdentityProvider("fault").Begin(t.Context(), r); err == nil {
			t.Fatal("it answered")
		}
	}
	if !within(patience, func() bool { return h.Status()[0].Restarts == 1 }) {
		t.Error("the process was not replaced")
	}
	if state := h.Status()[0].State; state != pluginproc.StateReady {
		t.Errorf("the plugin is %s", state)
	}
}

// A call by hand of an identity provider is held against the grants of its block, and so are
// the answers that a check gets.
func TestIdentityProviderByHandAndChecked(t *testing.T) {
	t.Parallel()
	call := func(way string) (string, error) {
		answer, err := pluginproc.Call(t.Context(), identifying(t), pluginproc.Options{}, []byte(`{"finish": {"parameters": {"way": "`+way+`"}}}`))
		return string(answer), err
	}
	if answer, err := call("refused"); err != nil || !strings.Contains(answer, `"refused": "You are not on the list."`) {
		t.Errorf("got %s, %v", answer, err)
	}
	if answer, err := call("ungranted"); !errors.Is(err, pluginsdk.ErrContract) || !strings.Contains(err.Error(), "is_admin") {
		t.Errorf("got %s, %v", answer, err)
	}
	begun, err := pluginproc.Call(t.Context(), identifying(t), pluginproc.Options{}, []byte(`{"begin": {"state": "s1"}}`))
	if err != nil || !strings.Contains(string(begun), `"url": "https://provider.example.com/authorize?state=s1"`) {
		t.Errorf("got %s, %v", begun, err)
	}
	for way, want := range map[string]string{"refused": "", "ungranted": `"is_admin", which is not granted`, "raw-both": "an identity and the reason of a refusal"} {
		spec := identifying(t)
		spec.Config = []byte(`{"call": "` + way + `"}`)
		report, err := pluginproc.Check(t.Context(), spec, pluginproc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		failed := ""
		for _, f := range report.Findings {
			if f.Err != nil {
				failed += f.Check + ": " + f.Err.Error() + "\n"
			}
		}
		if (failed == "") != (want == "") || !strings.Contains(failed, want) {
			t.Errorf("%s: failed %q, want %q", way, failed, want)
		}
	}
}
