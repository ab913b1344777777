package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to add the column, as an application would

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// termsConfig is that of examples/dispenser-go, with applications behind it.
const termsConfig = `
server {
  address         = "127.0.0.1:0"
  trusted_proxies = ["127.0.0.1/32"]
}
database {
  dsn = "shop.db"
}
auth {
  %s
  tokens {
    self_service = true
  }
}
odata {
  discover = ["products"]
}
route "home" {
  path = "/"
  file = "home.html"
}
route "dashboard" {
  path = "/dashboard"
  file = "dashboard.html"
}
route "app" {
  path  = "/app"
  proxy = %q
}
route "accept" {
  path = "/terms/accept"
  file = "accept.html"
}
plugin "terms" {
  command    = [%q]
  roles      = ["dispenser"]
  user_read  = ["terms_accepted"]
  user_write = ["terms_accepted"]
}
`

// otherDispensers are asked before and after the terms.
const otherDispensers = `
plugin "landing" {
  command = [%q]
  roles   = ["dispenser"]
}
plugin "orgs" {
  command    = [%q]
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}
`

// startTerms serves the plugin and the page of examples/dispenser-go, and an application at
// /app that writes "reached". The plugin is alone, or between two others.
func startTerms(t *testing.T, alone bool) string {
	t.Helper()
	dir := t.TempDir()
	copyShop(t, dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	if err == nil {
		_, err = db.Exec(`ALTER TABLE users ADD COLUMN terms_accepted DATETIME`)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "reached %q", r.RequestURI)
	}))
	t.Cleanup(app.Close)
	plugins, order, others := buildPlugins(t), "", ""
	if !alone {
		order = `dispensers = ["landing", "terms", "orgs"]`
		others = fmt.Sprintf(otherDispensers, filepath.Join(plugins, "landing"), filepath.Join(plugins, "orgsetup"))
	}
	for name, text := range map[string]string{
		"config.hcl": fmt.Sprintf(termsConfig, order, app.URL, filepath.Join(plugins, "dispenser-go")) + others,
		"home.html":  "<!doctype html><title>Home</title>", "dashboard.html": "<!doctype html><title>Dashboard</title><p>reached",
		"accept.html": files(t, "examples/dispenser-go/accept.html")["examples/dispenser-go/accept.html"],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return startHost(t, dir, "-c", "config.hcl", "serve")
}

// A stroller is a browser that follows no redirect and types addresses.
type stroller struct {
	t    *testing.T
	base *url.URL
	http.Client
}

func newStroller(t *testing.T, base string) *stroller {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil) // never fails
	return &stroller{t, u, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (w *stroller) send(method, path, body string, header ...string) (int, string, http.Header) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.base.String()+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := w.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// raw sends a GET of a path as it stands, perhaps as a WebSocket.
func (w *stroller) raw(path, header string) string {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.base.Host)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range w.Jar.Cookies(w.base) {
		header += "Cookie: " + c.Name + "=" + c.Value + "\r\n"
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, w.base.Host, header); err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	return resp.Status + " " + string(text)
}

func (w *stroller) forget(cookie string) {
	w.Jar.SetCookies(w.base, []*http.Cookie{{Name: cookie, Path: "/", MaxAge: -1}})
}

// Nobody walks around the terms of examples/dispenser-go: the real binary, the plugin as
// a process, the page of the example. Other dispensers open no way either.
func TestNobodyWalksAroundTheTerms(t *testing.T) {
	for name, alone := range map[string]bool{"alone": true, "between others": false} {
		t.Run(name, func(t *testing.T) {
			ada := newStroller(t, startTerms(t, alone))
			ada.send("GET", "/app/orders?id=7", "")
			status, body, _ := ada.send("POST", "/auth/login", fmt.Sprintf(`{"login":%q,"password":%q,"remember":true}`, seed.Email, seed.Password))
			if status != 200 || !strings.Contains(body, `"target":"/terms/accept"`) {
				t.Fatalf("sign-in: %d %s", status, body)
			}
			outside(t, ada)
			ada.forget("vestibule_session") // the browser was closed, and the device comes back
			outside(t, ada)
			if status, body, _ := ada.send("POST", "/auth/intents/redirect", `{"accept":false}`); status != 200 || !strings.Contains(body, `"needs_more_input"`) {
				t.Errorf("not accepted: %d %s", status, body)
			}
			outside(t, ada)
			status, body, _ = ada.send("POST", "/auth/intents/redirect", `{"accept":true}`)
			if !alone {
				if status != 200 || !strings.Contains(body, `"kind":"org_setup"`) {
					t.Errorf("accepted: %d %s", status, body)
				}
				for _, path := range []string{"/terms/accept", "/dashboard", "/app/orders?id=7"} {
					if status, body, header := ada.send("GET", path, ""); status != 302 || header.Get("Location") != "/login" {
						t.Errorf("%s before the organisation is named: %d to %q: %s", path, status, header.Get("Location"), body)
					}
				}
				status, body, _ = ada.send("POST", "/auth/intents/org-setup", `{"legal_form":1,"org_name":"Engines","company_size":"solo","function":"developer","marketing_consent":false}`)
			}
			if status != 200 || !strings.Contains(body, `"target":"/app/orders?id=7"`) { // asked for first, and kept with the device
				t.Errorf("all steps done: %d %s", status, body)
			}
			if _, body, _ := ada.send("GET", "/app/orders?id=7", ""); !strings.HasPrefix(body, "reached") {
				t.Errorf("accepted, and still outside: %s", body)
			}
			if status, _, _ := ada.send("GET", "/auth/verify", "", forwarded(ada, "/elsewhere")...); status != 200 {
				t.Errorf("forward auth: %d", status)
			}
		})
	}
}

// outside tries every way around the terms.
func outside(t *testing.T, w *stroller) {
	w.forget("vestibule_hops") // or the third visit of /login within ten seconds is a circle
	t.Helper()
	for range 2 { // and in another tab
		for _, path := range []string{"/dashboard", "/app", "/app/orders?id=7", "/app/terms/accept"} {
			if status, body, header := w.send("GET", path, ""); status != 302 || header.Get("Location") != "/login" {
				t.Errorf("%s: %d to %q: %s", path, status, header.Get("Location"), body)
			}
		}
	}
	if status, body, _ := w.send("GET", "/login", "", "Sec-Fetch-Dest", "document"); status != 200 || !strings.Contains(body, `"target":"/terms/accept"`) {
		t.Errorf("/login: %d", status)
	}
	if status, body, _ := w.send("GET", "/terms/accept", ""); status != 200 || !strings.Contains(body, "I accept the terms") {
		t.Errorf("the terms: %d", status)
	}
	for _, path := range []string{"/odata/", "/odata/products", "/auth/tokens"} {
		if status, _, _ := w.send("GET", path, "", "Accept", "application/json"); status != 403 {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _, _ := w.send("POST", "/auth/tokens", `{"name":"x"}`); status != 403 {
		t.Errorf("a token is made: %d", status)
	}
	const socket = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for _, path := range []string{
		"/terms/accept/../../dashboard", "/terms/accept/%2e%2e/%2e%2e/dashboard", "/terms/accept%2f..%2f..%2fdashboard", "/terms/accept/..;/..;/dashboard",
		`/terms/accept\..\..\dashboard`, "/terms/accept/%5c..%5c..%5cdashboard", "/TERMS/accept", "//dashboard", "/./dashboard", "/dashboard;x=1", "/Dashboard", "/dashboard%2f",
		"/app/..%2fterms/accept", "/app/%2e%2e/terms/accept", "/app;/terms/accept", "//app/x", "/app//x", "/app/./x",
	} {
		for _, header := range []string{"Connection: close\r\n", socket} {
			if got := w.raw(path, header); strings.Contains(got, "reached") || strings.HasPrefix(got, "101") {
				t.Errorf("%s: %s", path, got)
			}
		}
	}
	for uri, want := range map[string]int{"/elsewhere": 401, "/dashboard": 401, "/terms/accept/../x": 400, "/terms/accept;/x": 401, "/terms/acceptx": 401, "/terms/accept": 200} {
		status, _, header := w.send("GET", "/auth/verify", "", forwarded(w, uri)...)
		if status != want || (header.Get("X-Vestibule-Step") == "held") != (want == 200) {
			t.Errorf("forward auth, %s: %d, step %q", uri, status, header.Get("X-Vestibule-Step"))
		}
	}
}

// forwarded is what a proxy tells of a request.
func forwarded(w *stroller, uri string) []string {
	return []string{"X-Forwarded-Method", "GET", "X-Forwarded-Proto", "http", "X-Forwarded-Host", w.base.Host, "X-Forwarded-Uri", uri}
}

// In a browser the example's page lets people on where they wanted to go.
func TestBrowserAcceptsTheTerms(t *testing.T) {
	b := browsertest.Open(t, nil)
	base := startTerms(t, true)
	b.Visit(base + "/app/orders#/17")
	b.Ready("#login")
	b.Fill("#login", seed.Email)
	b.Fill("#password", seed.Password)
	b.Click("button[type=submit]")
	b.At(base + "/terms/accept#/17")
	b.Visit(base + "/dashboard") // typed in between, it leads back
	b.At(base + "/terms/accept")
	b.Click("button")
	b.At(base + "/app/orders")
	b.Visit(base + "/dashboard")
	b.See("reached")
}
