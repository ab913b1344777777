package host_test

import (
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// withForwardAuth starts a site that people know as https://app.example.com, with a
// proxy on loopback in front.
func withForwardAuth(t *testing.T, db *store.DB, change func(*host.Options)) *testSite {
	t.Helper()
	return newSite(t, db, func(o *host.Options) {
		o.Server.PublicURL = &url.URL{Scheme: "https", Host: "app.example.com"}
		o.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		if change != nil {
			change(o)
		}
	})
}

// A visitor's requests come by a proxy: its cookies are for https, which the test
// itself does not speak.
type visitor struct {
	t       *testing.T
	site    *testSite
	cookies string
}

func (s *testSite) visitor(t *testing.T) *visitor { return &visitor{t: t, site: s} }

// signIn signs Ada in, and perhaps keeps her browser.
func (v *visitor) signIn(remember bool) *visitor {
	v.t.Helper()
	a := v.site.browser(v.t).login(adaEmail, adaPassword, remember)
	a.want(v.t, 200, "")
	var pairs []string
	for _, c := range a.Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	v.cookies = strings.Join(pairs, "; ")
	return v
}

// verify asks as a proxy does for a GET of uri; headers may say otherwise, and an
// empty one is left out.
func (v *visitor) verify(query, uri string, header ...string) answer {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), "GET", v.site.URL+"/auth/verify"+query, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	if v.cookies != "" {
		req.Header.Set("Cookie", v.cookies)
	}
	told := append([]string{"X-Forwarded-Method", "GET", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "app.example.com", "X-Forwarded-Uri", uri}, header...)
	for i := 0; i+1 < len(told); i += 2 {
		req.Header.Del(told[i])
		if told[i+1] != "" {
			req.Header.Set(told[i], told[i+1])
		}
	}
	return v.site.browser(v.t).send(req)
}

func (b *browser) send(req *http.Request) answer {
	b.t.Helper()
	resp, err := b.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{resp, string(data)}
}

// step makes everybody's sign-in begin with the step org_setup.
func step(o *orgs) func(*host.Options) {
	return func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o }
}

var (
	navigates = []string{"Sec-Fetch-Mode", "navigate", "Accept", "text/html"}
	fetches   = []string{"Sec-Fetch-Mode", "cors", "Accept", "*/*"}
)

func identityOf(a answer) map[string]string {
	got := map[string]string{}
	for _, name := range []string{"X-Vestibule-User", "X-Vestibule-Email", "X-Vestibule-Name", "X-Vestibule-Step", "X-Vestibule-Assertion"} {
		values, ok := a.Header[name]
		if !ok || len(values) != 1 {
			got[name] = "missing"
			continue
		}
		got[name] = values[0]
	}
	return got
}

func TestVerifyTurnsAway(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), nil)
	guest := s.visitor(t)
	const signIn = "https://app.example.com/login?redirect=%2Fapp%2Fx%3Fa%3D1%262"
	for name, tt := range map[string]struct {
		query             string
		header            []string
		status            int
		location, header2 string
	}{
		"navigation, status":        {"", navigates, 401, "", signIn},
		"navigation, redirect":      {"?deny=redirect", navigates, 302, signIn, ""},
		"HEAD, redirect":            {"?deny=redirect", append([]string{"X-Forwarded-Method", "HEAD"}, navigates...), 302, signIn, ""},
		"form, redirect":            {"?deny=redirect", append([]string{"X-Forwarded-Method", "POST", "Origin", "https://app.example.com"}, navigates...), 303, signIn, ""},
		"fetch, status":             {"", fetches, 401, "", ""},
		"fetch, redirect":           {"?deny=redirect", fetches, 401, "", ""},
		"session, fetch":            {"?guard=session", fetches, 401, "", ""},
		"program":                   {"?deny=redirect", nil, 401, "", ""},
		"without Sec-Fetch-Mode":    {"?deny=redirect", []string{"Accept", "text/html"}, 302, signIn, ""},
		"another site's form":       {"?deny=redirect", append([]string{"X-Forwarded-Method", "POST", "Origin", "https://evil.example"}, navigates...), 403, "", ""},
		"another site's WebSocket":  {"", []string{"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", "https://evil.example"}, 403, "", ""},
		"another site's fetch (IE)": {"", []string{"X-Forwarded-Method", "DELETE", "Sec-Fetch-Site", "cross-site"}, 403, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := guest.verify(tt.query, "/app/x?a=1&2", tt.header...)
			a.want(t, tt.status, "")
			if got := a.Header.Get("Location"); got != tt.location {
				t.Errorf("Location %q, want %q", got, tt.location)
			}
			if got := a.Header.Get("X-Vestibule-Location"); got != tt.header2 {
				t.Errorf("X-Vestibule-Location %q, want %q", got, tt.header2)
			}
			if got := a.Header.Get("Cache-Control"); got != "no-store" || len(a.Cookies()) > 0 {
				t.Errorf("Cache-Control %q, cookies %v", got, a.Cookies())
			}
		})
	}
}

func TestVerifyTellsWho(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), nil)
	if _, err := s.db.Writer().Exec("UPDATE users SET name = 'Ada Lövelace'"); err != nil {
		t.Fatal(err)
	}
	ada := s.visitor(t).signIn(false)
	for _, query := range []string{"", "?guard=settled", "?guard=session", "?guard=none", "?tokens=true&deny=redirect"} {
		a := ada.verify(query, "/app/x")
		a.want(t, 200, "")
		got := identityOf(a)
		if got["X-Vestibule-User"] != s.user.ID || got["X-Vestibule-Email"] != adaEmail || got["X-Vestibule-Name"] != "Ada L%C3%B6velace" || got["X-Vestibule-Step"] != "" {
			t.Errorf("%s: %v", query, got)
		}
		claims := s.claims(t, got["X-Vestibule-Assertion"], "https://app.example.com", "verify")
		if claims["sub"] != s.user.ID || claims["name"] != "Ada Lövelace" || claims["step"] != "settled" {
			t.Errorf("%s: %v", query, claims)
		}
	}
	for name, v := range map[string]*visitor{"a guest": s.visitor(t), "a stale cookie": {t: t, site: s, cookies: "__Host-vestibule_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}} {
		a := v.verify("?guard=none", "/app/x", "X-Vestibule-User", "1", "X-Vestibule-Assertion", "x")
		a.want(t, 200, "")
		for header, value := range identityOf(a) {
			if value != "" {
				t.Errorf("%s: %s is %q, want it there and empty", name, header, value)
			}
		}
	}
	a := ada.verify("?guard=none", "/app/x", "X-Forwarded-Method", "POST", "Origin", "https://evil.example")
	a.want(t, 200, "")
	if got := identityOf(a); got["X-Vestibule-User"] != "" || got["X-Vestibule-Assertion"] != "" {
		t.Errorf("another site's post carries %v", got)
	}
}

// Who has a step open is sent to it, or told which.
func TestVerifyOfUnsettled(t *testing.T) {
	o := &orgs{}
	s := withForwardAuth(t, sqliteStore(t), step(o))
	ada := s.visitor(t).signIn(false)
	a := ada.verify("?deny=redirect", "/app/x", navigates...)
	a.want(t, 302, "")
	if got := a.Header.Get("Location"); got != "https://app.example.com/login?redirect=%2Fapp%2Fx" {
		t.Errorf("Location %q", got)
	}
	a = ada.verify("", "/app/x", navigates...)
	a.want(t, 401, "unauthenticated")
	if a.Header.Get("X-Vestibule-Location") == "" {
		t.Error("no X-Vestibule-Location")
	}
	a = ada.verify("", "/app/x", fetches...)
	a.want(t, 403, "unsettled")
	if a.next(t).Kind != "org_setup" {
		t.Errorf("next %s", a.body)
	}
	a = ada.verify("?guard=session", "/app/x", fetches...)
	a.want(t, 200, "")
	if claims := s.claims(t, a.Header.Get("X-Vestibule-Assertion"), "https://app.example.com", "verify"); claims["step"] != "open" {
		t.Errorf("step %v", claims["step"])
	}
}

func TestVerifyRefuses(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), nil)
	ada := s.visitor(t).signIn(false)
	for name, tt := range map[string]struct {
		query, uri string
		header     []string
		status     int
		field      string
	}{
		"no method":             {"", "/app", []string{"X-Forwarded-Method", ""}, 400, "X-Forwarded-Method"},
		"no proto":              {"", "/app", []string{"X-Forwarded-Proto", ""}, 400, "X-Forwarded-Proto"},
		"no host":               {"", "/app", []string{"X-Forwarded-Host", ""}, 400, "X-Forwarded-Host"},
		"no uri":                {"", "/app", []string{"X-Forwarded-Uri", ""}, 400, "X-Forwarded-Uri"},
		"CONNECT":               {"", "/app", []string{"X-Forwarded-Method", "CONNECT"}, 400, "X-Forwarded-Method"},
		"no such method":        {"", "/app", []string{"X-Forwarded-Method", "GET /"}, 400, "X-Forwarded-Method"},
		"ftp":                   {"", "/app", []string{"X-Forwarded-Proto", "ftp"}, 400, "X-Forwarded-Proto"},
		"relative":              {"", "app", nil, 400, "X-Forwarded-Uri"},
		"absolute":              {"", "https://app.example.com/app", nil, 400, "X-Forwarded-Uri"},
		"star":                  {"", "*", nil, 400, "X-Forwarded-Uri"},
		"fragment":              {"", "/app#x", nil, 400, "X-Forwarded-Uri"},
		"bad escape":            {"", "/app/%zz", nil, 400, "X-Forwarded-Uri"},
		"NUL":                   {"", "/app/%00", nil, 400, "X-Forwarded-Uri"},
		"no such guard":         {"?guard=all", "/app", nil, 400, "guard"},
		"no guard":              {"?guard=", "/app", nil, 400, "guard"},
		"two guards":            {"?guard=none&guard=settled", "/app", nil, 400, "guard"},
		"no such way":           {"?deny=never", "/app", nil, 400, "deny"},
		"tokens=1":              {"?tokens=1", "/app", nil, 400, "tokens"},
		"the client's query":    {"?guard=none", "/app?guard=none", nil, 400, "query"},
		"another host":          {"", "/app", []string{"X-Forwarded-Host", "evil.example"}, 421, ""},
		"a host below":          {"", "/app", []string{"X-Forwarded-Host", "x.app.example.com"}, 421, ""},
		"two hosts":             {"", "/app", []string{"X-Forwarded-Host", "app.example.com, evil.example"}, 421, ""},
		"another port":          {"", "/app", []string{"X-Forwarded-Host", "app.example.com:8443"}, 421, ""},
		"dots":                  {"", "/app/../admin", nil, 400, "path"},
		"dots within":           {"", "/app/a/../b", nil, 400, "path"},
		"encoded dots":          {"", "/app/%2e%2e/admin", nil, 400, "path"},
		"twice encoded dots":    {"", "/app/%252e%252e/admin", nil, 400, "path"},
		"encoded slash":         {"", "/app%2fadmin", nil, 400, "path"},
		"slash and dots":        {"", "/app/..%2fadmin", nil, 400, "path"},
		"backslash":             {"", `/app\admin`, nil, 400, "path"},
		"encoded backslash":     {"", "/app%5cadmin", nil, 400, "path"},
		"backslash and dots":    {"", "/app/..%5cadmin", nil, 400, "path"},
		"parameter at the root": {"", "/app;x=1/admin", nil, 400, "path"},
		"dots with a parameter": {"", "/app/..;/admin", nil, 400, "path"},
		"empty segment":         {"", "//admin", nil, 400, "path"},

		"the port of https":  {"", "/app", []string{"X-Forwarded-Host", "APP.example.com:443"}, 200, ""},
		"wss":                {"", "/app", []string{"X-Forwarded-Proto", "wss"}, 200, ""},
		"http":               {"", "/app", []string{"X-Forwarded-Proto", "http"}, 200, ""},
		"a package's name":   {"", "/npm/@scope%2fname", nil, 200, ""},
		"an empty one below": {"", "/app//x", nil, 200, ""},
		"a parameter below":  {"", "/app/x;v=1", nil, 200, ""},
		"well known":         {"", "/.well-known/x", nil, 200, ""},
		"the root":           {"", "/", nil, 200, ""},
		"no parameter":       {"?foo=bar", "/app", nil, 200, ""},
		"UTF-8":              {"", "/app/Größe?ß", nil, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := ada.verify(tt.query, tt.uri, tt.header...)
			a.want(t, tt.status, "")
			if tt.field != "" {
				errors, _ := a.json(t)["errors"].(map[string]any)
				if _, ok := errors[tt.field]; !ok {
					t.Errorf("%s, want %s at fault", a.body, tt.field)
				}
			}
			if tt.status != 200 && identityOf(a)["X-Vestibule-User"] != "missing" {
				t.Error("an identity with a refusal")
			}
		})
	}
	for _, name := range []string{"X-Forwarded-Method", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Uri"} {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/auth/verify", nil)
		req.Header = http.Header{"X-Forwarded-Method": {"GET"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"app.example.com"}, "X-Forwarded-Uri": {"/app"}}
		req.Header[name] = append(req.Header[name], req.Header[name]...)
		s.browser(t).send(req).want(t, 400, "malformed_request")
	}
	s.browser(t).do("POST", "/auth/verify", "", "").want(t, 405, "method_not_allowed")
}

// Only proxies that the operator named may ask; the log says so to who forgot it.
func TestVerifyOfStranger(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Server.PublicURL = &url.URL{Scheme: "https", Host: "app.example.com"} })
	for range 3 {
		a := s.visitor(t).verify("?guard=none", "/app", "X-Forwarded-For", "127.0.0.1")
		a.want(t, 400, "untrusted_proxy")
	}
	if n := strings.Count(s.log.String(), "add it to server.trusted_proxies"); n != 1 {
		t.Errorf("%d lines in the log, want one", n)
	}
}

// An operator whose proxy cannot work as it is configured finds out why in the log.
func TestVerifyTellsTheOperator(t *testing.T) {
	for name, tt := range map[string]struct {
		query  string
		header []string
		want   string
	}{
		"no uri":             {"", []string{"X-Forwarded-Uri", ""}, "header=X-Forwarded-Uri"},
		"another host":       {"", []string{"X-Forwarded-Host", "127.0.0.1:8080"}, "another host than that of server.public_url"},
		"the client's query": {"?a=1", nil, "write a query into the proxy's configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			s := withForwardAuth(t, sqliteStore(t), nil)
			for range 3 {
				s.visitor(t).verify(tt.query, "/app?a=1", tt.header...)
			}
			if n := strings.Count(s.log.String(), tt.want); n == 0 || strings.Count(s.log.String(), "[WARN]") != 1 {
				t.Errorf("want one warning, with %q: %s", tt.want, s.log.String())
			}
		})
	}
}

// Asking changes nothing: no cookie, no page kept, no device used up, whose cookies
// would be lost on the way. The sign-in page brings the device back.
func TestVerifyChangesNothing(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		s := withForwardAuth(t, open(), step(o))
		everything := func() (all []map[string]string) {
			for _, table := range append(tables(), "vestibule_tokens", "vestibule_guest_keys", "vestibule_assertion_keys") {
				all = append(all, rows(t, s.db, table)...)
			}
			return all
		}
		ada, device := s.visitor(t).signIn(true), s.visitor(t)
		for pair := range strings.SplitSeq(ada.cookies, "; ") {
			if strings.HasPrefix(pair, "__Host-vestibule_remember=") {
				device.cookies = pair
			}
		}
		before := everything()
		for _, v := range []*visitor{ada, device, s.visitor(t)} {
			for _, query := range []string{"", "?deny=redirect", "?guard=none", "?guard=session&tokens=true"} {
				for _, kind := range [][]string{navigates, fetches} {
					if a := v.verify(query, "/app/x", kind...); len(a.Cookies()) > 0 {
						t.Errorf("cookies %v", a.Cookies())
					}
				}
			}
		}
		if after := everything(); len(before) != len(after) || !sameRows(before, after) {
			t.Error("asking has changed the database")
		}
		req, _ := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/login?redirect=/app/x", nil)
		req.Header.Set("Cookie", device.cookies)
		if a := s.browser(t).send(req); a.StatusCode != 200 || len(a.Cookies()) == 0 {
			t.Errorf("the device does not come back at the sign-in: %d", a.StatusCode)
		}
	})
}

func sameRows(a, b []map[string]string) bool {
	for i := range a {
		for name := range a[i] {
			if a[i][name] != b[i][name] {
				return false
			}
		}
	}
	return true
}

// Nobody passes while nobody can tell who they are.
func TestVerifyInOutage(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), nil)
	ada := s.visitor(t).signIn(false)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "?guard=none", "?deny=redirect"} {
		if a := ada.verify(query, "/app", navigates...); a.StatusCode < 500 || identityOf(a)["X-Vestibule-User"] != "missing" {
			t.Errorf("%s: %d %s", query, a.StatusCode, a.body)
		}
	}
}

// A token for forward auth has the route verify, and is judged by the method that
// the client used and not by the proxy's.
func TestVerifyTakesTokens(t *testing.T) {
	s := withForwardAuth(t, sqliteStore(t), nil)
	_, reads := s.token(t, adaEmail, host.TokenRequest{Route: "verify"})
	_, writes := s.token(t, adaEmail, host.TokenRequest{Route: "verify", Write: true})
	_, queries := s.token(t, adaEmail, host.TokenRequest{})
	program := s.visitor(t)
	for name, tt := range map[string]struct {
		query, token, method string
		status               int
	}{
		"GET":                    {"?tokens=true", reads, "GET", 200},
		"POST":                   {"?tokens=true", reads, "POST", 401},
		"POST, may write":        {"?tokens=true", writes, "POST", 200},
		"for the query endpoint": {"?tokens=true", queries, "GET", 401},
		"not taken":              {"", reads, "GET", 401},
		"none":                   {"?tokens=true", "", "GET", 401},
	} {
		t.Run(name, func(t *testing.T) {
			a := program.verify(tt.query, "/app", "X-Forwarded-Method", tt.method, "Authorization", strings.TrimSuffix("Bearer "+tt.token, " "))
			a.want(t, tt.status, "")
			if challenged := a.Header.Get("WWW-Authenticate") != ""; challenged != (tt.status == 401 && tt.query != "") {
				t.Errorf("challenges %q", a.Header.Values("WWW-Authenticate"))
			}
			if tt.status == 200 {
				claims := s.claims(t, a.Header.Get("X-Vestibule-Assertion"), "https://app.example.com", "verify")
				if amr, _ := claims["amr"].([]any); len(amr) != 1 || amr[0] != "token" || claims["sid"] != nil || claims["step"] != "settled" {
					t.Errorf("claims %v", claims)
				}
			}
		})
	}
	for _, r := range []host.Route{{Name: "verify", Path: "/v", Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:3"}, Tokens: true}} {
		if _, err := host.New(host.Options{Store: s.db, Routes: []host.Route{r}}); err == nil || !strings.Contains(err.Error(), "rename the route") {
			t.Errorf("error %v", err)
		}
	}
}
