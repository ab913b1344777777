package assertionnode_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// need returns Node, or skips the test, or fails it with REQUIRE_NODE=1, when Node
// or jose is missing.
func need(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat("node_modules/jose/package.json")
	}
	switch {
	case err == nil:
		return node
	case os.Getenv("REQUIRE_NODE") == "1":
		t.Fatal("Node or jose is missing: run npm ci in examples/assertion-node")
	default:
		t.Skip("Node or jose is missing: run npm ci in examples/assertion-node")
	}
	return ""
}

// application starts the example and returns its address.
func application(t *testing.T, issuer string) *url.URL {
	t.Helper()
	cmd := exec.Command(need(t), "server.js")
	cmd.Env = append(os.Environ(), "PORT=0", "ISSUER="+issuer)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func status(t *testing.T, client *http.Client, address string) (int, string) {
	t.Helper()
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestServer(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	issuer := "http://" + server.Listener.Addr().String()
	app := application(t, issuer)
	options := host.Options{Store: db, Routes: []host.Route{
		{Name: "dashboard", Path: "/dashboard", Redirect: "/app"},
		{Name: "app", Path: "/app", Proxy: app, Assertion: true},
		{Name: "other", Path: "/other", Proxy: app, Assertion: true},
	}}
	h, err := host.New(options)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := host.NewAdmin(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.AddUser(t.Context(), "ada@example.com", "Ada Lövelace", "engine-of-analysis-1843"); err != nil {
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
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ada := &http.Client{Jar: jar}
	resp, err := ada.Post(issuer+"/auth/login", "application/json", strings.NewReader(`{"login":"ada@example.com","password":"engine-of-analysis-1843"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if code, body := status(t, ada, issuer+"/app"); code != 200 || body != "1 is Ada Lövelace\n" {
		t.Errorf("by way of the host: %d %q", code, body)
	}
	if code, _ := status(t, ada, issuer+"/other"); code != 401 {
		t.Errorf("an assertion for another route: %d", code)
	}
	if code, _ := status(t, http.DefaultClient, app.String()); code != 401 {
		t.Errorf("past the host: %d", code)
	}
}

// What the documentation shows is what is tested here.
func TestVerifyIsThatOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/forward-auth.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("verify.js")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(text), "```js\n")
	if code, _, _ = strings.Cut(code, "```"); code != string(source) {
		t.Error("docs/forward-auth.md shows another verify.js")
	}
}
