package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// What the browser is sent with, and what is kept for Finish.
func TestAuthorizationRequest(t *testing.T) {
	r := newRogue(t, clock)
	p := plugintest.Serve(t, newPlugin(clock), setupFor(r.URL))
	begin := func(edit func(*pluginsdk.BeginRequest)) (url.Values, kept) {
		t.Helper()
		in := pluginsdk.BeginRequest{ID: "test", Callback: callback, State: "the-state"}
		edit(&in)
		a, err := p.Client.Begin(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(a.URL)
		if err != nil || !strings.HasPrefix(a.URL, r.URL+"/authorize?flow=1&") {
			t.Fatalf("the address is %q, %v", a.URL, err)
		}
		var k kept
		if err := json.Unmarshal(a.Private, &k); err != nil {
			t.Fatal(err)
		}
		return u.Query(), k
	}
	q, k := begin(func(*pluginsdk.BeginRequest) {})
	sum := sha256.Sum256([]byte(k.Verifier))
	want := url.Values{
		"flow": {"1"}, "response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {callback}, "scope": {"openid email profile"},
		"state": {"the-state"}, "nonce": {k.Nonce}, "code_challenge_method": {"S256"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if k.Began != clock().Unix() || len(k.Nonce) != 43 || k.Nonce == k.Verifier {
		t.Errorf("kept are %+v", k)
	}
	fresh, again := begin(func(r *pluginsdk.BeginRequest) { r.Fresh, r.LoginHint, r.Locale = true, "ada@example.com", "de-AT" })
	if again.Nonce == k.Nonce || again.Verifier == k.Verifier {
		t.Error("two sign-ins have one nonce or one verifier")
	}
	for name, value := range map[string]string{"prompt": "login", "max_age": "0", "login_hint": "ada@example.com", "ui_locales": "de-AT"} {
		if fresh.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, fresh.Get(name), value)
		}
	}
}

// A provider that was down when the plugin became ready is found as soon as it is up, and
// is not asked by everybody at once until then.
func TestProviderThatComesBack(t *testing.T) {
	var now atomic.Int64
	now.Store(clock().Unix())
	at := func() time.Time { return time.Unix(now.Load(), 0) }
	r := newRogue(t, at)
	r.answers[wellKnown] = broken
	p := plugintest.Serve(t, newPlugin(at), setupFor(r.URL))
	for range 5 {
		if _, err := (visit{}).signIn(t, p, r); err == nil {
			t.Fatal("it signed in without a provider")
		}
	}
	if n := r.count(wellKnown); n != 1 {
		t.Errorf("%d requests within two seconds, want one", n)
	}
	r.mu.Lock()
	delete(r.answers, wellKnown)
	r.mu.Unlock()
	signsIn := func(more int64, discoveries, keys int) {
		t.Helper()
		now.Add(more)
		result, err := (visit{}).signIn(t, p, r)
		if _, found := result.Identity(); !found || err != nil {
			t.Fatalf("got %q, %v", result.Reason(), err)
		}
		if r.count(wellKnown) != discoveries || r.count("/keys") != keys {
			t.Errorf("%d discoveries and %d of keys, want %d and %d", r.count(wellKnown), r.count("/keys"), discoveries, keys)
		}
	}
	signsIn(2, 2, 1)
	signsIn(0, 2, 1)
	signsIn(3600, 3, 2) // withdrawn keys end within the hour
}

// Tokens with unknown keys do not have the keys fetched each time.
func TestKeysAreNotFetchedWithoutEnd(t *testing.T) {
	r := newRogue(t, clock)
	foreignKey(r)
	p := plugintest.Serve(t, newPlugin(clock), setupFor(r.URL))
	var last error
	for range 10 {
		if _, last = (visit{}).signIn(t, p, r); last == nil {
			t.Fatal("a foreign key signed somebody in")
		}
	}
	if n := r.count("/keys"); n == 0 || n > 4 {
		t.Errorf("the keys were fetched %d times, want at most 4", n)
	}
	if !strings.Contains(last.Error(), "left alone") {
		t.Errorf("the last error is %q", last)
	}
}

// A provider that does not answer ends a call with an error before the call's own time is
// over: the host does not take the plugin for frozen.
func TestSlowProviderIsAnErrorInTime(t *testing.T) {
	for _, path := range []string{wellKnown, "/token", "/keys", "/userinfo"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r := newRogue(t, clock)
			claim("email", nil)(r)
			slow := make(chan struct{})
			t.Cleanup(func() { close(slow) }) // before the server is closed, which waits
			r.answers[path] = func(_ http.ResponseWriter, req *http.Request) {
				r.mu.Unlock()
				defer r.mu.Lock()
				select {
				case <-req.Context().Done():
				case <-slow:
				}
			}
			s := &signIn{now: clock, config: config{Issuer: r.URL, ClientID: clientID, ClientSecret: clientSecret, Scopes: []string{"openid", "email"}}}
			if err := s.configure(t.Context(), pluginsdk.Setup{}); err != nil {
				t.Fatal(err)
			}
			end := time.Now().Add(spare + 2*time.Second)
			ctx, cancel := context.WithDeadline(t.Context(), end)
			defer cancel()
			a, err := s.Begin(ctx, pluginsdk.BeginRequest{Callback: callback, State: "the-state"})
			if err == nil {
				parameters := r.authorize(a.URL)
				_, err = s.Finish(ctx, pluginsdk.FinishRequest{Callback: callback, Parameters: parameters, Private: a.Private})
			}
			if err == nil || ctx.Err() != nil {
				t.Errorf("got %v, and the call's own time is over: %v", err, ctx.Err())
			}
		})
	}
}

// Of an issuer of many tenants the listed ones alone are let in, and two tenants' people
// are never one.
func TestTenants(t *testing.T) {
	const one, two = "11111111-2222-3333-4444-555555555555", "99999999-8888-7777-6666-555555555555"
	tenants := []string{`"tenants": ["` + strings.ToUpper(one) + `"]`}
	of := func(tid, issuer string) func(*rogue) {
		return func(r *rogue) {
			metadatum("issuer", r.URL+"/{tenantid}/v2.0")(r)
			claim("tid", tid)(r)
			claim("iss", r.URL+issuer)(r)
		}
	}
	named := func(issuer string) func(*rogue, map[string]string) {
		return func(r *rogue, p map[string]string) { p["iss"] = r.URL + issuer }
	}
	for name, tt := range map[string]struct {
		visit
		subject, refusal, fault string
	}{
		"a listed tenant":               {visit: visit{config: tenants, misbehave: of(one, "/"+one+"/v2.0"), callback: named("/" + one + "/v2.0")}, subject: one + "/ada"},
		"another tenant":                {visit: visit{config: tenants, misbehave: of(two, "/"+two+"/v2.0"), callback: named("/" + two + "/v2.0")}, refusal: textsFor("").notYou},
		"a tenant and another's issuer": {visit: visit{config: tenants, misbehave: of(one, "/"+two+"/v2.0"), callback: named("/" + two + "/v2.0")}, fault: "not that of its tenant"},
		"no tenant":                     {visit: visit{config: tenants, misbehave: of("", "//v2.0"), callback: named("//v2.0")}, fault: "not that of its tenant"},
		"another one in the callback":   {visit: visit{config: tenants, misbehave: of(one, "/"+one+"/v2.0"), callback: named("/" + two + "/v2.0")}, fault: "another tenant than the token"},
		"another host in the callback":  {visit: visit{config: tenants, misbehave: of(one, "/"+one+"/v2.0"), callback: parameter("iss", "https://x/"+one+"/v2.0")}, fault: "callback names another issuer"},
		"the template in discovery":     {visit: visit{config: tenants, misbehave: metadatum("issuer", "http://127.0.0.1:1/{tenantid}")}, fault: "another host"},
		"an issuer of one tenant":       {visit: visit{config: tenants}, fault: "leave tenants out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := tt.run(t, newRogue(t, clock))
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("got %v, want %q", err, tt.fault)
				}
				return
			}
			i, found := result.Identity()
			if err != nil || i.Subject != tt.subject || result.Reason() != tt.refusal || found != (tt.subject != "") {
				t.Errorf("got %+v, %q, %v", i, result.Reason(), err)
			}
		})
	}
}
