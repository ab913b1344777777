package sdktest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// provider is the address of the provider that the plugins echo name.
const provider = "https://provider.example.com/authorize"

// identities begins and finishes sign-ins at a provider. Every field arrives under the name
// of the protocol, and an answer that no host takes breaks the contract.
func identities(t *testing.T, p *plugintest.Plugin) {
	asked := pluginsdk.BeginRequest{ID: "r", Callback: "https://app.example.com/cb", State: "s", Locale: "de", LoginHint: "ada@example.com", Fresh: true}
	begin := func(hint string) plugintest.Begun {
		return p.Begin(func(r *pluginsdk.BeginRequest) { *r = asked; r.LoginHint = hint })
	}
	b := begin(asked.LoginHint).SendsTo(provider).Asks("state", "s")
	echoed(t, string(b.Authorization.Private), map[string]any{
		"id": "r", "callback": "https://app.example.com/cb", "state": "s", "locale": "de", "login_hint": "ada@example.com", "fresh": true,
	})
	if got := begin("local").SendsTo("http://[::1]:8080/authorize").Authorization.Private; string(got) != "\x00\xff" {
		t.Errorf("the private bytes are %q", got)
	}
	if got := begin("bare").SendsTo(provider).Authorization.Private; len(got) > 0 {
		t.Errorf("private bytes of a plugin that has none: %q", got)
	}
	finish := func(way string) plugintest.Identification {
		return begin("local").Finish(map[string]string{"way": way, "ü": "x"})
	}
	i := finish("").Identifies("s1").Verified("ada@example.com")
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	if who, _ := i.Result.Identity(); who.Name != "Ada 👩‍🚀" || !who.AuthTime.Equal(at) {
		t.Errorf("got %+v", who)
	}
	if effects := i.Result.Effects(); len(effects) != 1 || effects[0].Name() != "told" {
		t.Errorf("the effects are %v", effects)
	} else {
		told, _ := effects[0].Value().(string)
		echoed(t, told, map[string]any{
			"id": "r", "callback": "https://app.example.com/cb", "parameters": map[string]any{"way": "", "ü": "x", "state": "s"},
			"private": []any{0.0, 255.0}, "locale": "de", "fresh": true,
		})
	}
	if who, _ := finish("bare").Identifies("s1").Verified("").Result.Identity(); who != (pluginsdk.Identity{Subject: "s1"}) {
		t.Errorf("a bare subject became %+v", who)
	}
	if who, _ := finish("seconds").Identifies("s1").Result.Identity(); !who.AuthTime.Equal(time.Unix(1<<33, 0)) {
		t.Errorf("got %+v", who)
	}
	if reason := begin("bare").Finish(map[string]string{"way": "refuse"}).Refuses("ü").Result.Reason(); reason != "ü " {
		t.Errorf("the reason is %q", reason)
	}
	finish("refuse-silently").Refuses("")
	wrongIdentities(begin, finish)
}

// wrongIdentities holds what is said to the author of answers that no host takes.
func wrongIdentities(begin func(string) plugintest.Begun, finish func(string) plugintest.Identification) {
	broken, undecided := pluginsdk.ErrContract.Error(), pluginsdk.ErrUnavailable.Error()
	for hint, want := range map[string]string{
		"throw": undecided, "nothing": broken, "wrong": broken,
		"plain": broken + ": begin returned the address 'http://provider.example.com/'; write one on https", "long": broken + ": begin returned 2049 private bytes",
	} {
		begin(hint).Fails(want)
	}
	for way, want := range map[string]string{
		"throw": undecided, "nothing": broken, "wrong": broken, "misspelt": undecided,
		"refuse-long": broken + ": finish returned a reason that is not one line of at most 256 bytes", "refuse-sets": broken + ": finish returned a refusal with effects",
		"nobody": broken + ": finish returned the subject ''; write a text", "number": broken + ": finish returned the subject 7; write a text",
		"claim": broken + ": finish returned 'false' as email_verified", "unclear": broken + ": finish returned 'today' as auth_time",
		"far":     broken + ": finish returned 73786976294838",
		"session": broken + ": finish returned effects", "replaces": broken + ": finish returned effects", "mail": broken + ": finish returned effects",
	} {
		finish(way).Fails(want)
	}
}

// echoed compares the fields of a request, which the plugin has returned as JSON.
func echoed(t *testing.T, text string, want map[string]any) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Errorf("%q: %v", text, err)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// identitiesByHand makes calls with -call, whose document and answer are those of Go.
func identitiesByHand(t *testing.T, command []string) {
	const at = "2026-01-31T12:00:00Z"
	for document, want := range map[string]map[string]any{
		`"begin": {"login_hint": "local"}`:                                       {"url": "http://[::1]:8080/authorize", "private": "AP8="},
		`"begin": {"login_hint": "bare"}`:                                        {"url": provider},
		`"finish": {"parameters": {"way": "refuse"}, "private": "c2VjcmV0"}`:     {"refused": "ü secret"},
		`"finish": {"parameters": {"way": "bare"}}`:                              {"subject": "s1", "email_verified": false, "effects": []any{}},
		`"role": "identity_provider", "finish": {"parameters": {"way": "bare"}}`: {"subject": "s1", "email_verified": false, "effects": []any{}},
	} {
		var got map[string]any
		stdout, stderr, err := callByHand(t, command, `{"config": {"must": "x"}, `+document+`}`)
		if err := errors.Join(err, json.Unmarshal([]byte(stdout), &got)); err != nil {
			t.Errorf("%s: %v: %s%s", document, err, stdout, stderr)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
	var who map[string]any
	stdout, stderr, err := callByHand(t, command, `{"config": {"must": "x"}, "finish": {}}`)
	if err := errors.Join(err, json.Unmarshal([]byte(stdout), &who)); err != nil || who["auth_time"] != at || who["email_verified"] != true || who["name"] != "Ada 👩‍🚀" {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	var begun map[string]any
	stdout, stderr, err = callByHand(t, command, `{"config": {"must": "x"}, "role": "identity_provider"}`)
	if err := errors.Join(err, json.Unmarshal([]byte(stdout), &begun)); err != nil || begun["url"] != provider+"?state=sample" {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	if stdout, stderr, err := callByHand(t, command, `{"config": {"must": "x"}, "begin": {"login_hint": "plain"}}`); err == nil || stdout != "" || !strings.Contains(stderr, "the answer breaks the contract: begin returned the address") {
		t.Errorf("%v, it prints %q and %q", err, stdout, stderr)
	}
}
