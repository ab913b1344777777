package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

const password = "engine-of-analysis-1843"

// start runs a host whose route app leads to the example, and the example itself.
func start(t *testing.T) (hostURL, appURL string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	hostURL = "http://" + server.Listener.Addr().String()
	app := httptest.NewServer(&Verifier{Issuer: hostURL, Audience: "app", KeysURL: hostURL + "/auth/jwks.json"})
	t.Cleanup(app.Close)
	upstream, err := url.Parse(app.URL)
	if err != nil {
		t.Fatal(err)
	}
	options := host.Options{Store: db, Routes: []host.Route{
		{Name: "dashboard", Path: "/dashboard", Redirect: "/app"},
		{Name: "app", Path: "/app", Proxy: upstream, Assertion: true},
		{Name: "other", Path: "/other", Proxy: upstream, Assertion: true},
	}}
	h, err := host.New(options)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := host.NewAdmin(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.AddUser(t.Context(), "ada@example.com", "Ada", password); err != nil {
		t.Fatal(err)
	}
	if server.Config.Handler, err = h.Handler(); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Stop(context.Background()) })
	server.Start()
	t.Cleanup(server.Close)
	return hostURL, app.URL
}

func get(t *testing.T, client *http.Client, address, assertion string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if assertion != "" {
		req.Header.Set("X-Vestibule-Assertion", assertion)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestVerifier(t *testing.T) {
	hostURL, appURL := start(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ada := &http.Client{Jar: jar}
	resp, err := ada.Post(hostURL+"/auth/login", "application/json", strings.NewReader(`{"login":"ada@example.com","password":"`+password+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if status, body := get(t, ada, hostURL+"/app", "forged"); status != 200 || body != "1 is Ada\n" {
		t.Errorf("by way of the host: %d %q", status, body)
	}
	if status, _ := get(t, ada, hostURL+"/other", ""); status != 401 {
		t.Errorf("an assertion for another route: %d", status)
	}
	for _, assertion := range []string{"", "x", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."} {
		if status, _ := get(t, http.DefaultClient, appURL, assertion); status != 401 {
			t.Errorf("past the host with %q: %d", assertion, status)
		}
	}
}

// What the documentation shows is what is tested here.
func TestVerifierIsThatOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/forward-auth.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(text), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	if code == "" || !strings.Contains(string(source), code) {
		t.Error("docs/forward-auth.md shows another Verify than main.go")
	}
}
