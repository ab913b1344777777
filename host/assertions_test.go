package host_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
)

// verified returns the claims of an assertion, checked with the published keys as an
// application does.
func (s *testSite) verified(t *testing.T, token, audience string) map[string]any {
	t.Helper()
	return s.claims(t, token, s.URL, audience)
}

func (s *testSite) claims(t *testing.T, token, issuer, audience string) map[string]any {
	t.Helper()
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(s.browser(t).get("/auth/jwks.json").body), &keys); err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatalf("assertion %q: %v", token, err)
	}
	var standard jwt.Claims
	claims := map[string]any{}
	if err := parsed.Claims(keys, &standard, &claims); err != nil {
		t.Fatal(err)
	}
	if err := standard.ValidateWithLeeway(jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{audience}, Time: s.clock.Now()}, 0); err != nil {
		t.Errorf("assertion %v: %v", claims, err)
	}
	if err := standard.ValidateWithLeeway(jwt.Expected{Time: s.clock.Now().Add(61 * time.Second)}, 0); err == nil {
		t.Error("the assertion holds for more than a minute")
	}
	return claims
}

// withAssertions starts a site whose route /app has assertions; /bare and /open/bare
// are as without.
func withAssertions(t *testing.T) *testSite {
	t.Helper()
	db := sqliteStore(t)
	for _, statement := range []string{
		"ALTER TABLE users ADD tenant BIGINT", "ALTER TABLE users ADD seat BIGINT", "ALTER TABLE users ADD team VARCHAR(40)", "ALTER TABLE users ADD none VARCHAR(40)",
	} {
		if _, err := db.Writer().Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	app := mirror(t)
	s := newSite(t, db, func(o *host.Options) {
		headers := map[string]string{"X-Tenant": "tenant", "X-Seat": "seat", "X-Team": "team", "X-None": "none", "Remote-User": "id", "X-Mail": "email", "X-Secret": "password"}
		o.Routes = append(o.Routes,
			host.Route{Name: "app", Path: "/app", Proxy: app, Assertion: true, Headers: headers},
			host.Route{Name: "open", Path: "/open", Proxy: app, Assertion: true, Guard: host.GuardNone},
			host.Route{Name: "bare", Path: "/bare", Proxy: app},
		)
	})
	if _, err := db.Writer().Exec("UPDATE users SET name = 'Ada Lövelace', tenant = 42, seat = 9007199254740993, team = 'Größe %'"); err != nil {
		t.Fatal(err)
	}
	return s
}

// told returns the headers that the application was sent.
func told(t *testing.T, a answer) http.Header {
	t.Helper()
	_, head, _ := strings.Cut(a.body, "Host: ")
	h := http.Header{}
	for line := range strings.SplitSeq(head, "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			h.Add(name, value)
		}
	}
	return h
}

func TestAssertion(t *testing.T) {
	s := withAssertions(t)
	b := s.signedIn(t)
	signedInAt := s.clock.Now().Unix()
	s.clock.Advance(10 * time.Minute)
	a := b.get("/app/x")
	a.want(t, 200, "")
	claims := s.verified(t, told(t, a).Get("X-Vestibule-Assertion"), "app")
	jti, sid := claims["jti"], claims["sid"]
	now := float64(s.clock.Now().Unix())
	want := map[string]any{
		"iss": s.URL, "aud": "app", "sub": s.user.ID, "email": adaEmail, "name": "Ada Lövelace", "step": "settled",
		"auth_time": float64(signedInAt), "amr": []any{"pwd"}, "iat": now, "nbf": now - 5, "exp": now + 60, "jti": jti, "sid": sid,
		// The columns under their own names: exact, and without those that are null.
		"id": s.user.ID, "tenant": 42.0, "seat": "9007199254740993", "team": "Größe %",
	}
	if diff := cmp.Diff(want, claims); diff != "" {
		t.Error(diff)
	}
	again := s.verified(t, told(t, b.get("/app/x")).Get("X-Vestibule-Assertion"), "app")
	if again["sid"] != sid || again["jti"] == jti {
		t.Errorf("a second request has sid %v and jti %v, the first %v and %v", again["sid"], again["jti"], sid, jti)
	}
	other := s.verified(t, told(t, s.signedIn(t).get("/app/x")).Get("X-Vestibule-Assertion"), "app")
	if other["sid"] == sid {
		t.Error("two sessions have one sid")
	}
	// What names the session opens nothing and finds nothing.
	for _, table := range append(tables(), "vestibule_guest_keys", "vestibule_assertion_keys") {
		for _, row := range rows(t, s.db, table) {
			for _, text := range row {
				for _, spelling := range spellings(sid.(string)) {
					if strings.Contains(text, spelling) {
						t.Errorf("%s holds the sid", table)
					}
				}
			}
		}
	}
	if cookie := b.cookie(sessionName); strings.Contains(cookie, sid.(string)) {
		t.Error("the sid is the cookie")
	}
}

// A session by a device is as old as the sign-in that kept the device.
func TestAssertionOfDevice(t *testing.T) {
	s := withAssertions(t)
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	signedInAt := s.clock.Now().Unix()
	s.clock.Advance(72 * time.Hour)
	for range 2 { // by the device, and then by the session that it began
		a := b.get("/app/x")
		a.want(t, 200, "")
		claims := s.verified(t, told(t, a).Get("X-Vestibule-Assertion"), "app")
		if claims["auth_time"] != float64(signedInAt) || !slices.Equal(claims["amr"].([]any), []any{"device"}) {
			t.Errorf("auth_time %v, want %d; amr %v", claims["auth_time"], signedInAt, claims["amr"])
		}
	}
}

// Nobody gets none, a route without assertions has none, and what comes from outside
// is taken away in every spelling.
func TestAssertionIsTheHostsAlone(t *testing.T) {
	s := withAssertions(t)
	ada := s.signedIn(t)
	real := told(t, ada.get("/app/x")).Get("X-Vestibule-Assertion")
	for _, name := range []string{"X-Vestibule-Assertion", "x-vestibule-assertion", "X_Vestibule_Assertion", "X.Vestibule.Assertion", "X-Vestibule_Assertion", "XVestibuleAssertion", "X-Vestibule-Assertion-"} {
		for _, path := range []string{"/open/x", "/bare/x", "/app/x"} {
			got := told(t, ada.get(path, name, real))
			for header := range maps.Keys(got) {
				if strings.EqualFold(header, "X-Vestibule-Assertion") && path != "/bare/x" {
					if len(got[header]) != 1 || got[header][0] == real {
						t.Errorf("%s at %s passes: %q", name, path, got[header])
					}
					continue
				}
				if strings.Contains(strings.ToLower(header), "assertion") {
					t.Errorf("%s at %s passes as %s", name, path, header)
				}
			}
		}
	}
	for name, a := range map[string]answer{
		"a guest":              s.browser(t).get("/open/x"),
		"another site's post":  ada.do("POST", "/open/x", "text/plain", "x", "Origin", "https://evil.example"),
		"a route without them": ada.get("/bare/x"),
	} {
		if got := told(t, a).Get("X-Vestibule-Assertion"); a.StatusCode != 200 || got != "" {
			t.Errorf("%s: status %d, assertion %q", name, a.StatusCode, got)
		}
	}
	if told(t, ada.get("/open/x")).Get("X-Vestibule-Assertion") == "" {
		t.Error("none at an open route for who is signed in")
	}
	if got := s.verified(t, told(t, ada.get("/open/x")).Get("X-Vestibule-Assertion"), "open")["tenant"]; got != nil {
		t.Errorf("a column that headers do not name: %v", got)
	}
}

func TestPublishedKeys(t *testing.T) {
	s := withAssertions(t)
	a := s.browser(t).get("/auth/jwks.json")
	a.want(t, 200, "")
	if got := a.Header.Get("Cache-Control"); got != "public, max-age=3600" {
		t.Errorf("Cache-Control %q", got)
	}
	if got := a.Header.Get("Content-Type"); got != "application/jwk-set+json" {
		t.Errorf("Content-Type %q", got)
	}
	stored := rows(t, s.db, "vestibule_assertion_keys")
	if len(stored) != 1 {
		t.Fatalf("%d keys", len(stored))
	}
	s.signedIn(t).get("/app/x").want(t, 200, "")
	for _, spelling := range spellings(stored[0]["secret"]) {
		if strings.Contains(a.body, spelling) || strings.Contains(s.log.String(), spelling) {
			t.Error("the private key is published or logged")
		}
	}
}

// Two hosts on one database know each other's assertions, from the first start on,
// also while they change the key.
func TestHostsShareAssertionKeys(t *testing.T) {
	db := sqliteStore(t)
	app := mirror(t)
	with := func(o *host.Options) {
		o.Routes = append(o.Routes, host.Route{Name: "app", Path: "/app", Proxy: app, Assertion: true})
	}
	first, second := newSite(t, db, with), newSite(t, db, with)
	token := told(t, first.signedIn(t).get("/app")).Get("X-Vestibule-Assertion")
	second.URL = first.URL // the issuer, which behind a balancer is one
	base := second.Listener.Addr().String()
	b := second.browser(t)
	b.base = "http://" + base
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(b.get("/auth/jwks.json").body), &keys); err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims jwt.Claims
	if err := parsed.Claims(keys, &claims); err != nil || claims.Subject != first.user.ID {
		t.Errorf("claims %+v, %v", claims, err)
	}
}

// A route may not sign for the audience of /auth/verify.
func TestAssertionAudienceIsTaken(t *testing.T) {
	app := &url.URL{Scheme: "http", Host: "127.0.0.1:3"}
	_, err := host.New(host.Options{Store: sqliteStore(t), Routes: []host.Route{{Name: "verify", Path: "/v", Proxy: app, Assertion: true}}})
	if err == nil || !strings.Contains(err.Error(), "rename the route") {
		t.Errorf("error %v", err)
	}
	if _, err := host.New(host.Options{Store: sqliteStore(t), Routes: []host.Route{{Name: "verify", Path: "/v", Proxy: app}}}); err != nil {
		t.Error(err)
	}
}
