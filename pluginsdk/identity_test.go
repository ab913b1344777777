package pluginsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// A scripted identity provider answers as a test says, and keeps its requests.
type scripted struct {
	authorization pluginsdk.Authorization
	result        pluginsdk.IdentityResult
	begun         pluginsdk.BeginRequest
	finished      pluginsdk.FinishRequest
}

// Begin answers as the test says.
func (p *scripted) Begin(_ context.Context, r pluginsdk.BeginRequest) (pluginsdk.Authorization, error) {
	p.begun = r
	return p.authorization, nil
}

// Finish answers as the test says.
func (p *scripted) Finish(_ context.Context, r pluginsdk.FinishRequest) (pluginsdk.IdentityResult, error) {
	p.finished = r
	return p.result, nil
}

// A sign-in reaches the plugin as it is, and so do its answers the host.
func TestSignInAtAProviderCrossesTheWire(t *testing.T) {
	who := pluginsdk.Identity{Subject: "s1", Email: "ada@example.com", EmailVerified: true, Name: "Ada 👩‍🚀", AuthTime: time.Unix(1<<33, 0).UTC()}
	own := &scripted{
		authorization: pluginsdk.Authorization{URL: "https://id.example.com/authorize?state=s", Private: []byte{0, 0xff}},
		result:        pluginsdk.Identified(who).With(pluginsdk.SetUser("team", "blue")),
	}
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "test", IdentityProvider: own})
	begin := pluginsdk.BeginRequest{ID: "r", Callback: "https://app.example.com/cb", State: "s", Locale: "de", LoginHint: "ada@example.com", Fresh: true}
	b := p.Begin(func(r *pluginsdk.BeginRequest) { *r = begin })
	if diff := cmp.Diff(begin, own.begun) + cmp.Diff(own.authorization, b.Authorization); diff != "" {
		t.Error(diff)
	}
	i := b.Finish(map[string]string{"code": "c"}).With(pluginsdk.SetUser("team", "blue"))
	want := pluginsdk.FinishRequest{
		ID: "r", Callback: begin.Callback, Parameters: map[string]string{"code": "c", "state": "s"}, Private: []byte{0, 0xff}, Locale: "de", Fresh: true,
	}
	if diff := cmp.Diff(want, own.finished); diff != "" {
		t.Error(diff)
	}
	if got, found := i.Result.Identity(); !found || !got.AuthTime.Equal(who.AuthTime) || got.Name != who.Name || got.Email != who.Email || !got.EmailVerified {
		t.Errorf("got %+v, %v", got, found)
	}
	own.result = pluginsdk.Identified(pluginsdk.Identity{Subject: "s1"})
	if got, _ := b.Finish(nil).Result.Identity(); !got.AuthTime.IsZero() || got.EmailVerified {
		t.Errorf("what the provider did not say became %+v", got)
	}
	own.result = pluginsdk.IdentityResult{}
	b.Finish(nil).Refuses("")
}

// The plugin's side holds each answer against the contract, at the limits and beyond.
func TestIdentityProvidersKeepTheContract(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	own := &scripted{}
	p := plugintest.Serve(t, pluginsdk.Plugin{Name: "test", IdentityProvider: own})
	for _, tt := range []struct {
		name string
		a    pluginsdk.Authorization
		want string // in the error; empty when it is accepted
	}{
		{"https", pluginsdk.Authorization{URL: "https://id.example.com"}, ""},
		{"http on loopback", pluginsdk.Authorization{URL: "http://127.0.0.1:8080/a"}, ""},
		{"http on loopback by name", pluginsdk.Authorization{URL: "http://localhost/a"}, ""},
		{"http on loopback of IPv6", pluginsdk.Authorization{URL: "http://[::1]:80/a"}, ""},
		{"http elsewhere", pluginsdk.Authorization{URL: "http://id.example.com"}, "not on https"},
		{"http on what begins like loopback", pluginsdk.Authorization{URL: "http://localhost.example.com"}, "not on https"},
		{"a script", pluginsdk.Authorization{URL: "javascript:alert(1)"}, "not on https"},
		{"a path", pluginsdk.Authorization{URL: "/authorize"}, "not on https"},
		{"another host", pluginsdk.Authorization{URL: "//id.example.com/authorize"}, "not on https"},
		{"a password", pluginsdk.Authorization{URL: "https://a:b@id.example.com"}, "not on https"},
		{"nothing", pluginsdk.Authorization{}, "not on https"},
		{"a line end", pluginsdk.Authorization{URL: "https://id.example.com/\r\nX: y"}, "no URL"},
		{"at the limit", pluginsdk.Authorization{URL: "https://a/" + text(8<<10-10), Private: make([]byte, 2<<10)}, ""},
		{"beyond", pluginsdk.Authorization{URL: "https://a/" + text(8<<10-9)}, "no URL of at most 8192 bytes"},
		{"private beyond", pluginsdk.Authorization{URL: "https://a/", Private: make([]byte, 2<<10+1)}, "the private bytes are 2049; 2048 are allowed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own.authorization = tt.a
			kept(t, func() error { _, err := p.Client.Begin(t.Context(), pluginsdk.BeginRequest{}); return err }(), tt.want)
		})
	}
	who := func(edit func(*pluginsdk.Identity)) pluginsdk.IdentityResult {
		i := pluginsdk.Identity{Subject: "s1"}
		edit(&i)
		return pluginsdk.Identified(i)
	}
	somebody := who(func(*pluginsdk.Identity) {})
	for _, tt := range []struct {
		name string
		r    pluginsdk.IdentityResult
		want string
	}{
		{"somebody", somebody, ""},
		{"no subject", pluginsdk.Identified(pluginsdk.Identity{}), "the subject is not 1 to 255"},
		{"a long subject", who(func(i *pluginsdk.Identity) { i.Subject = text(255) }), ""},
		{"a longer one", who(func(i *pluginsdk.Identity) { i.Subject = text(256) }), "the subject is not 1 to 255"},
		{"a subject of two lines", who(func(i *pluginsdk.Identity) { i.Subject = "a\nb" }), "the subject is not 1 to 255"},
		{"an address of two lines", who(func(i *pluginsdk.Identity) { i.Email = "a\nb" }), "the address is not one line"},
		{"a long address", who(func(i *pluginsdk.Identity) { i.Email = text(256) }), "the address is not one line of at most 255"},
		{"a refusal", pluginsdk.Refused(text(256)), ""},
		{"a long one", pluginsdk.Refused(text(257)), "the reason of a refusal"},
		{"a refusal of two lines", pluginsdk.Refused("a\nb"), "the reason of a refusal"},
		{"a refusal with effects", pluginsdk.Refused("").With(pluginsdk.SetUser("a", 1)), "a refusal has effects"},
		{"a column", somebody.With(pluginsdk.SetUser("a", 1)), ""},
		{"a column that is compared", somebody.With(pluginsdk.SetUser("a", 1).Replacing(2)), "only SetUser"},
		{"a session value", somebody.With(pluginsdk.SetSession("a", 1)), "only SetUser"},
		{"the intended page", somebody.With(pluginsdk.ConsumeIntended()), "only SetUser"},
		{"a mail", somebody.With(pluginsdk.Mail("a", nil)), "only SetUser"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own.result = tt.r
			kept(t, func() error { _, err := p.Client.Finish(t.Context(), pluginsdk.FinishRequest{}); return err }(), tt.want)
		})
	}
}

// kept fails the test unless the contract is kept, or broken with want in the error.
func kept(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (!errors.Is(err, pluginsdk.ErrContract) || !strings.Contains(err.Error(), want)) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A name is for people and of the provider's making: it keeps nobody from signing in.
func TestNamesOfIdentitiesAreShortened(t *testing.T) {
	for name, want := range map[string]string{
		"Ada 👩‍🚀": "Ada 👩‍🚀", "A\nd\x00a\u2028!": "Ada !", strings.Repeat("ü", 200): strings.Repeat("ü", 127), "a\xff": "a",
	} {
		if got, _ := pluginsdk.Identified(pluginsdk.Identity{Subject: "s", Name: name}).Identity(); got.Name != want {
			t.Errorf("%q became %q, want %q", name, got.Name, want)
		}
	}
}

// A call by hand begins a sign-in, or finishes one with the private bytes that it printed.
func TestSignInAtAProviderByHand(t *testing.T) {
	own := &scripted{
		authorization: pluginsdk.Authorization{URL: "https://id.example.com/?state=s", Private: []byte("secret")},
		result:        pluginsdk.Identified(pluginsdk.Identity{Subject: "s1", AuthTime: time.Unix(1, 0).UTC()}).With(pluginsdk.SetUser("team", "blue")),
	}
	run := func(document string) map[string]any {
		t.Helper()
		var call pluginsdk.Call
		if err := call.Parse([]byte(document)); err != nil {
			t.Fatal(err)
		}
		text, err := call.Run(t.Context(), pluginsdk.Plugin{IdentityProvider: own})
		if err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	begun := run(`{"begin": {"state": "s", "login_hint": "ada@example.com", "fresh": true}}`)
	if diff := cmp.Diff(map[string]any{"url": "https://id.example.com/?state=s", "private": "c2VjcmV0"}, begun); diff != "" {
		t.Error(diff)
	}
	if own.begun.State != "s" || own.begun.LoginHint != "ada@example.com" || !own.begun.Fresh || own.begun.Callback == "" {
		t.Errorf("it was asked %+v", own.begun)
	}
	finished := run(`{"finish": {"parameters": {"state": "s", "code": "c"}, "private": "c2VjcmV0"}}`)
	want := map[string]any{
		"subject": "s1", "email_verified": false, "auth_time": "1970-01-01T00:00:01Z", "effects": []any{map[string]any{"set_user": "team", "value": "blue"}},
	}
	if diff := cmp.Diff(want, finished); diff != "" {
		t.Error(diff)
	}
	if string(own.finished.Private) != "secret" || own.finished.Parameters["code"] != "c" {
		t.Errorf("it was asked %+v", own.finished)
	}
	own.result = pluginsdk.Refused("no")
	if diff := cmp.Diff(map[string]any{"refused": "no"}, run(`{"role": "identity_provider", "finish": {}}`)); diff != "" {
		t.Error(diff)
	}
	if err := new(pluginsdk.Call).Parse([]byte(`{"begin": {"redirect": "x"}}`)); err == nil || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("an unknown key: %v", err)
	}
}
