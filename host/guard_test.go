package host_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/ui"
	"golang.org/x/net/websocket"
)

// Where a guest who asked for something is led, and what is kept of it.
func TestIntendedURL(t *testing.T) {
	tests := []struct{ name, path, target string }{
		{"guarded page", "/dashboard?a=1;b=%2F", "/dashboard?a=1;b=%2F"},
		{"redirect parameter", "/login?redirect=%2Freports%3Fx%3D100%2525", "/reports?x=100%25"},
		{"URL in the query of a path", "/login?redirect=" + url.QueryEscape("/go?to=https://x.example//y"), "/go?to=https://x.example//y"},
		{"other host", "/login?redirect=https://evil.example/", "/dashboard"},
		{"two slashes", "/login?redirect=//evil.example", "/dashboard"},
		{"encoded slashes", "/login?redirect=/%252F%252Fevil.example", "/dashboard"},
		{"inner slashes", "/login?redirect=/a//b", "/dashboard"},
		{"backslash", `/login?redirect=/%5Cevil.example`, "/dashboard"},
		{"twice encoded backslash", `/login?redirect=/%255Cevil.example`, "/dashboard"},
		{"tab", "/login?redirect=/%09/evil.example", "/dashboard"},
		{"newline", "/login?redirect=/%0A/evil.example", "/dashboard"},
		{"encoded newline", "/login?redirect=/%250Aevil", "/dashboard"},
		{"user information", "/login?redirect=@evil.example", "/dashboard"},
		{"script", "/login?redirect=javascript:alert(1)", "/dashboard"},
		{"no path", "/login?redirect=", "/dashboard"},
		{"very long", "/login?redirect=/" + strings.Repeat("a", 4096), "/dashboard"},
	}
	s := newSite(t, sqliteStore(t), nil)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := s.browser(t)
			b.get(test.path)
			if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != test.target {
				t.Errorf("target %q, want %q", got, test.target)
			}
			if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != "/dashboard" {
				t.Errorf("a second login leads to %q: the page was not forgotten", got)
			}
		})
	}
}

func TestGuestsWriteNoRows(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	for _, path := range []string{"/login", "/", "/healthz", "/auth/bootstrap", "/nothing", "/ui/auth/"} {
		if a := s.browser(t).get(path); len(a.Cookies()) != 0 {
			t.Errorf("%s sets %v", path, a.Cookies())
		}
	}
	var n int
	if err := s.db.Reader().Get(&n, "SELECT COUNT(*) FROM vestibule_sessions"); err != nil || n != 0 {
		t.Errorf("%d sessions, %v; want none", n, err)
	}
}

func TestGuards(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		s := newSite(t, open(), func(opts *host.Options) {
			opts.Dispenser, opts.OrgSetup = o, o
			for _, g := range []host.Guard{host.GuardNone, host.GuardSession, host.GuardSettled} {
				opts.Routes = append(opts.Routes, host.Route{Name: string(g), Path: "/" + string(g), Redirect: "/in", Guard: g})
			}
		})
		guest, half, full := s.browser(t), s.browser(t), s.browser(t)
		half.login(adaEmail, adaPassword, false).want(t, 200, "")
		full.login(adaEmail, adaPassword, false).want(t, 200, "")
		full.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 200, "")
		want := map[string][3]string{
			"/none": {"/in", "/in", "/in"}, "/session": {"/login", "/in", "/in"}, "/settled": {"/login", "/login", "/in"},
		}
		for path, targets := range want {
			for i, b := range []*browser{guest, half, full} {
				if got := b.get(path).Header.Get("Location"); got != targets[i] {
					t.Errorf("%s for number %d leads to %q, want %q", path, i, got, targets[i])
				}
			}
		}
		for _, header := range [][]string{{"Sec-Fetch-Mode", "cors"}, {"Accept", "application/json"}} {
			guest.get("/session", header...).want(t, 401, "unauthenticated")
		}
		guest.do("POST", "/session", "", "").want(t, 401, "unauthenticated")
		for _, header := range [][]string{{"Sec-Fetch-Mode", "cors", "Accept", "text/html"}, {"Accept", "application/json"}, {"Accept", "*/*"}} {
			a := half.do("GET", "/settled", "", "", header...)
			a.want(t, 403, "unsettled")
			if a.next(t).Kind != "org_setup" {
				t.Errorf("next %s", a.body)
			}
		}
		if a := guest.do("POST", "/settled", "", "", "Accept", "text/html"); a.StatusCode != 303 || a.Header.Get("Location") != "/login" {
			t.Errorf("a form's post: %s to %q", a.Status, a.Header.Get("Location"))
		}
		if n := half.post("/auth/intents/org-setup", orgForm("Engines")).next(t); n.Target() != "/settled" {
			t.Errorf("the loop ends at %+v, want the page that was asked for", n)
		}
	})
}

func TestCrossOrigin(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	own := s.URL
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"no browser", nil, 422},
		{"same origin", []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, 422},
		{"same origin, old browser", []string{"Origin", own}, 422},
		{"other origin", []string{"Origin", "https://evil.example"}, 403},
		{"null", []string{"Origin", "null"}, 403},
		{"user information", []string{"Origin", strings.Replace(own, "http://", "http://evil@", 1)}, 403},
		{"other scheme", []string{"Origin", strings.Replace(own, "http://", "https://", 1)}, 403},
		{"other port", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"cross-site by the browser's word", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"same site", []string{"Sec-Fetch-Site", "same-site"}, 403},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := s.browser(t).post("/auth/login", map[string]any{"login": "nobody@example.com", "password": "x"}, test.headers...)
			if a.StatusCode != test.status {
				t.Errorf("status %d, want %d", a.StatusCode, test.status)
			}
			if test.status == 403 {
				a.want(t, 403, "cross_origin")
			}
		})
	}
}

func TestHostNames(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for name, status := range map[string]int{
		"127.0.0.1:" + port: 200, "localhost:" + port: 200, "[::1]:" + port: 200, "LOCALHOST:" + port: 200,
		"evil.example:" + port: 421, "localhost:1": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example:" + port: 421,
	} {
		if got := s.browser(t).get("/login", "Host", name).StatusCode; got != status {
			t.Errorf("%s: %d, want %d", name, got, status)
		}
	}
}

// With a public URL, nothing in a request changes a link.
func TestPublicURL(t *testing.T) {
	public := &url.URL{Scheme: "https", Host: "app.example.com"}
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Server.PublicURL = public })
	b := s.browser(t)
	b.post("/auth/forgot-password", map[string]any{"email": adaEmail},
		"Host", "evil.example", "X-Forwarded-Host", "evil.example", "Origin", "https://app.example.com").want(t, 200, "")
	link := linkPattern.FindString(s.letters(t, 1)[0])
	if !strings.HasPrefix(link, "https://app.example.com/password/reset/") {
		t.Errorf("link %q", link)
	}
	a := b.post("/auth/login", map[string]any{"login": adaEmail, "password": adaPassword, "remember": true})
	a.want(t, 200, "")
	for _, c := range a.Cookies() {
		if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure {
			t.Errorf("cookie %v", c)
		}
	}
	if a.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS")
	}
	b.post("/auth/login", map[string]any{}, "Origin", "http://app.example.com").want(t, 403, "cross_origin")
}

func TestSecurityHeaders(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Server.PublicDir = publicDir(t) })
	for _, path := range []string{"/login", "/auth/bootstrap", "/auth/login", "/nothing", "/hello.txt", "/", "/healthz", "/ui/auth/assets/main-0a1b2c3d.js", "/dashboard", "/odd%00"} {
		a := s.browser(t).get(path)
		csp := a.Header.Get("Content-Security-Policy")
		for _, word := range []string{"base-uri", "form-action", "frame-ancestors"} {
			if !strings.Contains(csp, word) {
				t.Errorf("%s: policy %q has no %s", path, csp, word)
			}
		}
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Referrer-Policy") == "" || a.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: headers %v", path, a.Header)
		}
	}
	if csp := s.browser(t).get("/login").Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("policy of the page: %q", csp)
	}
	for address, want := range map[string]string{"/login": "", "/login?redirect=%2Fx": "noindex"} {
		if got := s.browser(t).get(address).Header.Get("X-Robots-Tag"); got != want {
			t.Errorf("%s: robots %q, want %q", address, got, want)
		}
	}
}

// The name of a route of the application decides on no header.
func TestHeadersDoNotFollowNames(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		for _, name := range []string{"authority", "passwords", "odata-guide"} {
			o.Routes = append(o.Routes, host.Route{Name: name, Path: "/at/" + name, Redirect: "/x", Guard: host.GuardNone})
		}
	})
	for path, strict := range map[string]bool{
		"/at/authority": false, "/at/passwords": false, "/at/odata-guide": false, "/login": true, "/auth/bootstrap": true, "/healthz": true, "/nothing": true,
	} {
		csp := s.browser(t).get(path).Header.Get("Content-Security-Policy")
		if strings.Contains(csp, "default-src 'none'") != strict {
			t.Errorf("%s has the policy %q", path, csp)
		}
	}
}

func publicDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"hello.txt": "hello", ".secret": "s", "sub/index.html": "sub", "assets/ci/logo-full.svg": "<svg/>", "sub/.git/x": "x",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFiles(t *testing.T) {
	dir := publicDir(t)
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Server.PublicDir = dir
		o.Routes = append(o.Routes,
			host.Route{Name: "one", Path: "/one", File: filepath.Join(dir, "hello.txt"), Guard: host.GuardNone},
			host.Route{Name: "gone", Path: "/gone", File: filepath.Join(dir, "gone.txt"), Guard: host.GuardNone},
			host.Route{Name: "docs", Path: "/docs", Dir: dir, Guard: host.GuardNone},
			host.Route{Name: "inner", Path: "/inner", Dir: dir},
		)
	})
	for path, want := range map[string]string{
		"/one": "200 hello", "/gone": "404", "/hello.txt": "200 hello", "/docs/hello.txt": "200 hello",
		"/docs": "301", "/docs/sub/": "200 sub", "/docs/sub": "301", "/docs/": "404",
		"/.secret": "404", "/sub/.git/x": "404", "/docs/.secret": "404", "/link": "404", "/docs/link": "404",
		"/docs/%2e%2e/x": "301", "//hello.txt": "301", "/sub/../hello.txt": "301", "/inner/hello.txt": "302", "/missing": "404",
	} {
		a := s.browser(t).get(path)
		got := a.Status[:3]
		if a.StatusCode == 200 {
			got += " " + a.body
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	s.browser(t).do("POST", "/hello.txt", "", "").want(t, 405, "method_not_allowed")
	s.browser(t).do("POST", "/nothing.txt", "", "").want(t, 404, "not_found")
}

// An application that answers with what it was sent.
func echo(t *testing.T) *url.URL {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		w.Header().Set("X-Request-Id", "forged")
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s|%s|%s|%s|%s|%s|%s", r.Method, r.URL.RequestURI(), body,
			r.Header.Get("X-Vestibule-User"), r.Header.Get("X-Vestibule-Email"), r.Header.Get("X-Vestibule-Name"),
			r.Header.Get("X-Vestibule-Other")+r.Header.Get("X_vestibule_user"), r.Header.Get("Cookie"), r.Header.Get("X-Forwarded-For"))
	})
	mux.Handle("/app/ws", websocket.Handler(func(c *websocket.Conn) { _, _ = io.Copy(c, c) }))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestProxy(t *testing.T) {
	app := echo(t)
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = append(o.Routes,
			host.Route{Name: "app", Path: "/app", Proxy: app},
			host.Route{Name: "open", Path: "/open", Proxy: app, Guard: host.GuardNone},
			host.Route{Name: "dead", Path: "/dead", Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, Guard: host.GuardNone},
		)
	})
	forged := []string{"X-Vestibule-User", "99", "X-Vestibule-Other", "x", "X_Vestibule_User", "99", "Cookie", "mine=1", "X-Forwarded-For", "6.6.6.6"}
	b := s.browser(t)
	a := b.get("/open/a?b=1;c", forged...)
	if want := "GET /open/a?b=1;c |||||mine=1|127.0.0.1"; a.body != want {
		t.Errorf("guest: %q, want %q", a.body, want)
	}
	if a.Header.Get("Content-Security-Policy") != "default-src 'self'" || a.Header.Get("X-Request-Id") == "forged" {
		t.Errorf("headers %v", a.Header)
	}
	b.get("/app/x").want(t, 302, "")
	b.get("/dead").want(t, 502, "upstream_unavailable")
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	a = b.do("POST", "/app/x%2Fy", "text/plain", "body", forged...)
	want := fmt.Sprintf("POST /app/x%%2Fy body|%s|%s|Ada||mine=1|127.0.0.1", s.user.ID, adaEmail)
	if a.body != want {
		t.Errorf("user: %q, want %q", a.body, want)
	}
	t.Run("WebSocket", func(t *testing.T) {
		cfg, err := websocket.NewConfig(strings.Replace(s.URL, "http", "ws", 1)+"/app/ws", s.URL)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Header.Set("Cookie", "vestibule_session="+b.cookie(sessionName))
		conn, err := websocket.DialConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("ping")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 4)
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "ping" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestBootstrap(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Server.PublicDir = publicDir(t)
		o.UI.AppName = "</script><b>"
	})
	a := s.browser(t).get("/auth/bootstrap?lang=de")
	a.want(t, 200, "")
	want := `{"core":"2.0.0","app_name":"\u003c/script\u003e\u003cb\u003e","locale":"de","languages":["en","de"],"logo":"/assets/ci/logo-full.svg","logo_dark":null,` +
		`"routes":{"cookies":null,"dashboard":"/dashboard","home":"/","privacy":null,"terms":null},"password":{"min_length":12,"sign_in":true},"passkeys":false,"identities":[],"pending":null,"login_field":"email","session":"guest","next":null}`
	if got := strings.TrimSpace(a.body); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	page := s.browser(t).get("/login?lang=de").body
	if !strings.Contains(page, `id="bootstrap">`+want+`<`) || !strings.Contains(page, `<html lang="de"`) {
		t.Errorf("page %s", page)
	}
	a = s.browser(t).get("/ui/modules.json")
	if want := `{"infra":{"auth":{"login":"/login","logout":"/logout"}},"modules":[{"name":"auth","version":"2.0.0","core":"2","url":"/ui/auth/"}]}`; strings.TrimSpace(a.body) != want {
		t.Errorf("modules %s", a.body)
	}
	s.browser(t).get("/ui/vestibule/Session.js").want(t, 404, "not_found")
	helped := newSite(t, sqliteStore(t), func(o *host.Options) { o.UI.App, o.UI.UI5, o.UI.Steps = nil, ui.UI5(), ui.Steps() })
	a = helped.browser(t).get("/ui/modules.json")
	if want := `{"infra":{"auth":{"login":"/login","logout":"/logout"}},"modules":[{"name":"vestibule","version":"2.0.0","core":"2","url":"/ui/vestibule/"},{"name":"steps","version":"2.0.0","core":"2","url":"/ui/steps/"}]}`; strings.TrimSpace(a.body) != want {
		t.Errorf("modules %s", a.body)
	}
	a = helped.browser(t).get("/ui/vestibule/Session.js")
	if !strings.Contains(a.body, "sap.ui.define") || a.Header.Get("Etag") == "" {
		t.Errorf("module: %d %v", a.StatusCode, a.Header)
	}
	for _, name := range []string{"steps.js", "steps.css"} {
		a := helped.browser(t).get("/ui/steps/" + name)
		if a.StatusCode != 200 || a.Header.Get("Cache-Control") != "no-cache" || a.Header.Get("Etag") == "" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", name, a.StatusCode, a.Header)
		}
	}
	helped.browser(t).get("/ui/steps/nothing.js").want(t, 404, "not_found")
	helped.browser(t).get("/ui/vestibule/nothing.js").want(t, 404, "not_found")
	a = s.browser(t).get("/ui/auth/assets/main-0a1b2c3d.js")
	if got := a.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/javascript") {
		t.Errorf("asset: %q, %q", got, a.Header.Get("Content-Type"))
	}
	s.browser(t).get("/ui/auth/nothing.js").want(t, 404, "not_found")
}

func TestHealth(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	s.browser(t).get("/healthz").want(t, 200, "")
	a := s.browser(t).get("/readyz")
	a.want(t, 200, "")
	if got := a.json(t)["status"]; got != "ready" {
		t.Errorf("status %v", got)
	}
	if _, err := s.db.Writer().Exec("DROP TABLE vestibule_sessions"); err != nil {
		t.Fatal(err)
	}
	// It is looked at in the background, every second.
	for a.StatusCode == 200 {
		a = s.browser(t).get("/readyz")
	}
	a.want(t, 503, "")
	if checks, _ := a.json(t)["checks"].(map[string]any); checks["tables"] != "failed" || checks["database"] != "ok" {
		t.Errorf("checks %v", checks)
	}
	if strings.Contains(a.body, "sql") {
		t.Errorf("tells too much: %s", a.body)
	}
}
