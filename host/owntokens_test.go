package host_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

func selfService(o *host.Options) { o.Auth.OwnTokens = true }

func (b *browser) delete(path string, header ...string) answer {
	b.t.Helper()
	return b.do("DELETE", path, "", "", header...)
}

// A person makes a token, sees it without what opens anything, uses it, and ends it.
func TestOwnMachineTokens(t *testing.T) {
	s := tokenSite(t, selfService)
	b := s.signedIn(t)
	if a := b.get("/auth/tokens"); a.StatusCode != 200 || a.body != `{"tokens":[]}`+"\n" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("none: %d %v %s", a.StatusCode, a.Header, a.body)
	}
	made := b.post("/auth/tokens", map[string]any{"name": " Excel ", "expires_in": 3600, "route": "app", "write": true})
	if made.StatusCode != 201 || made.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", made.StatusCode, made.Header, made.body)
	}
	shown := made.json(t)
	text, _ := shown["token"].(string)
	id, _ := shown["id"].(string)
	if !regexp.MustCompile(`^vst_[0-9A-Za-z]{49}$`).MatchString(text) || !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(id) {
		t.Errorf("token %q, id %q", text, id)
	}
	delete(shown, "token")
	want := map[string]any{"id": id, "name": "Excel", "route": nil, "created": "2026-05-04T12:00:00Z", "expires": "2026-05-04T13:00:00Z", "last_used": nil}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
	s.clock.Advance(90 * time.Second)
	s.program(t, "GET", "/odata/Orders", bearer(text)...).want(t, 200, "")
	s.program(t, "GET", "/app", bearer(text)...).want(t, 401, "") // whatever was asked for
	want["last_used"] = "2026-05-04T12:01:00Z"
	a := b.get("/auth/tokens")
	if diff := cmp.Diff(map[string]any{"tokens": []any{want}}, a.json(t)); diff != "" {
		t.Error(diff)
	}
	// Neither another person nor a token itself gets at it.
	bob := s.browser(t)
	bob.login(bobEmail, adaPassword, false).want(t, 200, "")
	bob.delete("/auth/tokens/"+id).want(t, 404, "not_found")
	if a := bob.get("/auth/tokens"); a.body != `{"tokens":[]}`+"\n" {
		t.Errorf("Bob sees %s", a.body)
	}
	s.program(t, "GET", "/auth/tokens", bearer(text)...).want(t, 401, "unauthenticated")
	s.program(t, "DELETE", "/auth/tokens/"+id, bearer(text)...).want(t, 401, "unauthenticated")

	if a := b.delete("/auth/tokens/" + id); a.StatusCode != 204 || a.body != "" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	b.delete("/auth/tokens/"+id).want(t, 404, "not_found")
	s.program(t, "GET", "/odata/Orders", bearer(text)...).want(t, 401, "")
	var acts []struct{ Operator, Act, Subject string }
	if err := s.db.Reader().Select(&acts, "SELECT operator, act, subject FROM vestibule_audit ORDER BY id"); err != nil {
		t.Fatal(err)
	}
	by := "user " + s.user.ID
	if got := fmt.Sprint(acts); got != fmt.Sprintf("[{%s token_add Excel (%s)} {%[1]s token_revoke %s}]", by, id, id) {
		t.Errorf("audit rows %s", got)
	}
	log := s.log.String()
	if !strings.Contains(log, "audit: event=token_add") || !strings.Contains(log, "audit: event=token_revoke") || strings.Contains(log, text[8:]) {
		t.Error("the log lacks the audit lines, or has the token")
	}
}

// A remembered device alone makes no token, and neither does a session whose sign-in is
// longer ago than auth.recent; they see and revoke tokens as before.
func TestOwnMachineTokenNeedsAFreshSignIn(t *testing.T) {
	s := tokenSite(t, func(o *host.Options) { selfService(o); o.Auth.Recent = 5 * time.Minute })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	s.clock.Advance(5 * time.Minute)
	made := b.post("/auth/tokens", map[string]any{"name": "in time"})
	made.want(t, 201, "")
	s.clock.Advance(time.Second)
	refused := func(what string) {
		t.Helper()
		a := b.post("/auth/tokens", map[string]any{"name": ""}) // which is not looked at
		a.want(t, 403, "confirmation_required")
		if got := a.json(t); len(got) != 2 || got["request_id"] == "" {
			t.Errorf("%s: %s", what, a.body)
		}
	}
	refused("an old sign-in")
	b.forget(sessionName)
	refused("a device")
	b.forget(sessionName)
	b.forget(deviceName)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	b.forget(sessionName)
	refused("a device of a moment ago")
	b.get("/auth/tokens").want(t, 200, "")
	if a := b.delete("/auth/tokens/" + made.json(t)["id"].(string)); a.StatusCode != 204 {
		t.Errorf("revoking: %d %s", a.StatusCode, a.body)
	}
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.post("/auth/tokens", map[string]any{"name": "again"}).want(t, 201, "")
}

// A token that does not say how long lasts 90 days, whoever makes it.
func TestMachineTokenLastsNinetyDays(t *testing.T) {
	s := tokenSite(t, selfService)
	if a := s.signedIn(t).post("/auth/tokens", map[string]any{"name": "x"}); a.json(t)["expires"] != "2026-08-02T12:00:00Z" {
		t.Error(a.body)
	}
	if token, _ := s.token(t, adaEmail, host.TokenRequest{}); token.Expires.Sub(token.Created) != 90*24*time.Hour {
		t.Error(token.Expires)
	}
}

// A session whose proof is unknown, as of a release before, or lies ahead is not fresh.
func TestOwnMachineTokenNeedsAKnownProof(t *testing.T) {
	s := tokenSite(t, selfService)
	b := s.signedIn(t)
	s.clock.Advance(-11 * time.Minute)
	b.post("/auth/tokens", map[string]any{"name": "x"}).want(t, 403, "confirmation_required")
}

// Each new token is told to its person by mail, without the token, its name, or a link
// that opens anything.
func TestNewMachineTokenIsMailed(t *testing.T) {
	s := tokenSite(t, selfService)
	b := s.signedIn(t)
	made := b.post("/auth/tokens", map[string]any{"name": "call this number"}, "Accept-Language", "de",
		"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0")
	made.want(t, 201, "")
	text, _ := made.json(t)["token"].(string)
	mail := s.letters(t, 1)[0]
	for _, part := range []string{"ada@example.com", "Zugriffstoken", "Firefox (Linux)", "/login#/forgot-password"} {
		if !strings.Contains(mail, part) {
			t.Errorf("no %q in\n%s", part, mail)
		}
	}
	for _, secret := range []string{text, "vst_", "call this number", "/password/reset/"} {
		if strings.Contains(mail, secret) {
			t.Errorf("%q in\n%s", secret, mail)
		}
	}
	b.post("/auth/tokens", map[string]any{"name": ""}).want(t, 422, "required")
	_, text = s.token(t, adaEmail, host.TokenRequest{})
	b.post("/auth/forgot-password", map[string]any{"email": "nobody@example.com"}) // wakes the worker
	mails := s.letters(t, 2)
	if all := strings.Join(mails, "\n"); len(mails) != 2 || !strings.Contains(all, "New access token") || strings.Contains(all, text) {
		t.Errorf("%d mails, the operator's among\n%s", len(mails), all)
	}
}

// What the endpoints refuse, and in which order.
func TestOwnMachineTokenRefusals(t *testing.T) {
	off := tokenSite(t, nil)
	b := off.signedIn(t)
	b.get("/auth/tokens", "Accept", "application/json").want(t, 404, "not_found")
	b.post("/auth/tokens", map[string]any{"name": "x"}).want(t, 404, "not_found")
	b.delete("/auth/tokens/1").want(t, 404, "not_found")

	s := tokenSite(t, func(o *host.Options) { selfService(o); o.Auth.TokenLifetime = 24 * time.Hour })
	guest := s.browser(t)
	guest.get("/auth/tokens").want(t, 401, "unauthenticated")
	guest.post("/auth/tokens", map[string]any{"name": "x"}).want(t, 401, "unauthenticated")
	guest.delete("/auth/tokens/1").want(t, 401, "unauthenticated")
	b = s.signedIn(t)
	for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		b.post("/auth/tokens", map[string]any{"name": "x"}, header...).want(t, 403, "cross_origin")
		b.delete("/auth/tokens/1", header...).want(t, 403, "cross_origin")
	}
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		if a := b.do(method, "/auth/tokens", "", ""); a.StatusCode != 405 || a.Header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("%s: %d, Allow %q", method, a.StatusCode, a.Header.Get("Allow"))
		}
	}
	if a := b.get("/auth/tokens/1"); a.StatusCode != 405 || a.Header.Get("Allow") != "DELETE" {
		t.Errorf("GET of one: %d, Allow %q", a.StatusCode, a.Header.Get("Allow"))
	}
	for name, test := range map[string]struct {
		body   string
		status int
		errors string
	}{
		"no name":          {`{}`, 422, `{"name":["required"]}`},
		"blank name":       {`{"name":"  "}`, 422, `{"name":["required"]}`},
		"long name":        {`{"name":"` + strings.Repeat("ü", 101) + `"}`, 422, `{"name":["too_long"]}`},
		"turned letters":   {`{"name":"\u202eecxe"}`, 422, `{"name":["invalid"]}`},
		"line in the name": {`{"name":"a\nb"}`, 422, `{"name":["invalid"]}`},
		"no time":          {`{"name":"x","expires_in":0}`, 422, `{"expires_in":["invalid"]}`},
		"time gone by":     {`{"name":"x","expires_in":-1}`, 422, `{"expires_in":["invalid"]}`},
		"half a second":    {`{"name":"x","expires_in":0.5}`, 422, `{"expires_in":["invalid"]}`},
		"beyond the most":  {`{"name":"x","expires_in":86401}`, 422, `{"expires_in":["too_long"]}`},
		"beyond all":       {`{"name":"x","expires_in":9223372036854775807}`, 422, `{"expires_in":["too_long"]}`},
		"beyond int64":     {`{"name":"x","expires_in":1e30}`, 422, `{"expires_in":["invalid"]}`},
		"a text":           {`{"name":"x","expires_in":"60"}`, 400, ""},
		"a list for names": {`{"name":["x"]}`, 400, ""},
		"broken":           {`{"name":`, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := b.do("POST", "/auth/tokens", "application/json", test.body)
			if a.StatusCode != test.status || !strings.Contains(a.body, test.errors) {
				t.Errorf("%d %s, want %d %s", a.StatusCode, a.body, test.status, test.errors)
			}
		})
	}
	b.do("POST", "/auth/tokens", "text/plain", "x").want(t, 415, "")
	if a := b.get("/auth/tokens"); a.body != `{"tokens":[]}`+"\n" {
		t.Errorf("made all the same: %s", a.body)
	}
	// Without a time 90 days, or the most there is.
	if a := b.post("/auth/tokens", map[string]any{"name": "x", "expires_in": nil}); a.json(t)["expires"] != "2026-05-05T12:00:00Z" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	b.do("POST", "/auth/tokens", "application/x-www-form-urlencoded", "name=x&expires_in=86400").want(t, 201, "")
}

// Ids come from strangers, and no database is to see what it would choke on.
func TestOddMachineTokenIDs(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), selfService)
		b := s.signedIn(t)
		for _, id := range []string{"%ff", "x%0ay", "'%20or%201=1", "%F0%9F%99%82", "0", strings.Repeat("a", 5000)} {
			b.delete("/auth/tokens/"+id).want(t, 404, "not_found")
		}
		for _, id := range []string{"", "\xff", "\x00", "x y"} {
			if err := s.admin.RevokeToken(t.Context(), id); err == nil || !strings.Contains(err.Error(), "no token has the id") {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}

// Fifty tokens, those that have ended not among them.
func TestOwnMachineTokensAreBounded(t *testing.T) {
	s := tokenSite(t, selfService)
	b := s.signedIn(t)
	for range 50 {
		b.post("/auth/tokens", map[string]any{"name": "x", "expires_in": 60}).want(t, 201, "")
	}
	a := b.post("/auth/tokens", map[string]any{"name": "x"})
	if a.StatusCode != 422 || !strings.Contains(a.body, `"errors":{"name":["too_many"]}`) {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	if _, _, err := s.admin.AddToken(t.Context(), adaEmail, host.TokenRequest{Name: "x"}); err == nil || !strings.Contains(err.Error(), "has 50 tokens already") {
		t.Errorf("by the operator: %v", err)
	}
	s.token(t, bobEmail, host.TokenRequest{})
	s.clock.Advance(time.Minute)
	b.post("/auth/tokens", map[string]any{"name": "x"}).want(t, 201, "")
}

// Whoever has a step open makes no token; one made before goes on working.
func TestUnsettledPeopleMakeNoMachineTokens(t *testing.T) {
	s := tokenSite(t, func(o *host.Options) { selfService(o); o.Dispenser = effects{} })
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for _, a := range []answer{b.get("/auth/tokens"), b.post("/auth/tokens", map[string]any{"name": "x"}), b.delete("/auth/tokens/1")} {
		a.want(t, http.StatusForbidden, "unsettled")
		if kind := a.next(t).Kind; kind != pluginsdk.OrgSetup("").Kind() {
			t.Errorf("next %q", kind)
		}
	}
	b.do("GET", "/odata/Orders", "", "", "Accept", "application/json").want(t, 403, "")
	s.program(t, "GET", "/odata/Orders", bearer(text)...).want(t, 200, "")
}

// A token counts for its user where clients have shares, and a guest's for the address.
func TestMachineTokenCountsAsItsUser(t *testing.T) {
	s, source := limited(t, func(o *host.Options) { o.Limits.RequestsPerClient, o.Limits.Wait = 2, 500*time.Millisecond })
	_, text := s.token(t, adaEmail, host.TokenRequest{})
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	occupy(t, b, source, "Mine", "192.0.2.1", 2)
	from := func(address string, header ...string) answer {
		return s.program(t, "GET", "/odata/Numbers", append(header, "X-Forwarded-For", address)...)
	}
	from("192.0.2.2", bearer(text)...).want(t, 429, "busy")
	from("192.0.2.2", bearer("vst_"+strings.Repeat("0", 49))...).want(t, 401, "")
	from("192.0.2.1").want(t, 404, "")
}
