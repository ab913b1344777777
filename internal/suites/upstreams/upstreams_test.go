package upstreams_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// An application in PHP goes on checking passwords of the shared table by itself
// after people have signed in through the host, and after they have got a new one
// there; and it keeps its cookies, its redirects and its files.
func TestPHP(t *testing.T) {
	php, err := exec.LookPath("php")
	need(t, "PHP (apt-get install php-cli php-sqlite3)", err)
	made := func(t *testing.T, cost int) string {
		t.Helper()
		out, err := exec.Command(php, "-r", fmt.Sprintf(`echo password_hash(%q, PASSWORD_BCRYPT, ['cost' => %d]);`, password, cost)).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for _, c := range []struct {
		name   string
		format host.PasswordFormat
		hash   func(t *testing.T) string // empty for one of the host's
		strip  bool
		want   string // how the stored hash begins after the sign-in
	}{
		{"bcrypt, made by PHP", "bcrypt", func(t *testing.T) string { return made(t, 12) }, false, "$2y$12$"},
		{"bcrypt, made by PHP at a lower cost", "bcrypt", func(t *testing.T) string { return made(t, 10) }, true, "$2y$1"},
		{"bcrypt, made by the host", "bcrypt", nil, true, "$2y$12$"},
		{"keep, made by PHP", "keep", func(t *testing.T) string { return made(t, 10) }, true, "$2y$10$"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "shared.db")
			db := openStore(t, file)
			script, err := filepath.Abs(filepath.Join("php", "index.php"))
			if err != nil {
				t.Fatal(err)
			}
			app := application(t, []string{"APP_DATABASE=" + file, "APP_PATH=" + map[bool]string{true: "/", false: "/shop/"}[c.strip]}, func(port string) []string {
				return []string{php, "-d", "session.save_path=" + t.TempDir(), "-S", "127.0.0.1:" + port, script}
			})
			s := newSite(t, db, c.format, host.Route{Name: "shop", Path: "/shop", Proxy: app, StripPrefix: c.strip})
			if c.hash == nil {
				_, err = s.admin.AddUser(t.Context(), email, "Ada", password)
			} else {
				_, err = db.AddUser(t.Context(), email, "Ada", c.hash(t))
			}
			if err != nil {
				t.Fatal(err)
			}
			b := browsertest.Open(t, nil)
			s.visit(t, b, "/shop/")
			b.See("The host says: " + email)
			b.See("The application says: nobody")
			user, err := s.admin.FindUser(t.Context(), email)
			if err != nil || !strings.HasPrefix(user.Password, c.want) {
				t.Errorf("stored as %.7q after the sign-in (%v), want %s", user.Password, err, c.want)
			}
			shopSignIn(t, b, s, password)

			const fresh = "another-engine-of-1844"
			if err := s.admin.SetPassword(t.Context(), email, fresh); err != nil {
				t.Fatal(err)
			}
			b.Visit(s.URL + "/shop/")
			b.Ready("#login") // the session has ended with the password
			b.Fill("#login", email)
			b.Fill("#password", fresh)
			b.Click("button[type=submit]")
			b.See("The host says: " + email)
			shopSignIn(t, b, s, fresh)
		})
	}
}

// shopSignIn signs in to the application itself, and looks at what it got.
func shopSignIn(t *testing.T, b *browsertest.Tab, s *site, secret string) {
	t.Helper()
	b.Fill("[name=email]", email)
	b.Fill("[name=password]", secret)
	b.Click("form button")
	b.At(s.URL + "/shop/account") // its own redirect
	b.See("The application says: Ada")
	got := b.Text("#cookies")
	for _, want := range []string{`prefs={"theme":"dark"}`, "place=Zürich", "PHPSESSID=", "format=%242y%24"} {
		if !strings.Contains(got, want) {
			t.Errorf("the application got the cookies %q, without %q", got, want)
		}
	}
	if strings.Contains(got, "vestibule") {
		t.Errorf("the application got our cookies: %q", got)
	}
	b.Wait(`getComputedStyle(document.querySelector('h1')).color === 'rgb(0, 112, 242)'`) // from its style sheet
}

// requests notes what a page asked for in vain, and its WebSockets.
type requests struct {
	mu      sync.Mutex
	failed  []string
	sockets int
}

// hear takes the events of a page that fetches things.
func (r *requests) hear(event any) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case *network.EventResponseReceived:
		// The sign-in asks for a logo that this host does not have.
		if e.Response.Status >= 400 && !strings.HasSuffix(e.Response.URL, "/logo-full.svg") {
			r.failed = append(r.failed, fmt.Sprintf("%d %s", e.Response.Status, e.Response.URL))
		}
	case *network.EventWebSocketHandshakeResponseReceived:
		if e.Response.Status != 101 {
			r.failed = append(r.failed, fmt.Sprintf("WebSocket: %d", e.Response.Status))
		}
		r.sockets++
	}
	// Verdaccio warns of languages that it has no words for.
	return slices.DeleteFunc(browsertest.Complaints(event), func(c string) bool { return strings.Contains(c, "file not found, fallback to") })
}

// open makes a tab whose requests are noted.
func open(t *testing.T) (*browsertest.Tab, *requests) {
	t.Helper()
	r := &requests{}
	b := browsertest.Open(t, r.hear)
	browsertest.Call(b, network.Enable, network.EnableParams{})
	return b, r
}

// opened returns how many WebSockets were opened.
func (r *requests) opened() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sockets
}

// wantNoFailure fails for every asset and connection that did not come.
func (r *requests) wantNoFailure(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failed {
		t.Errorf("asked in vain: %s", f)
	}
}

// The editor of Node-RED works behind a guard, with its prefix and without, and its
// WebSocket ends with the session.
func TestNodeRED(t *testing.T) {
	program := needPackage(t, "node-red/red.js")
	node, err := exec.LookPath("node")
	need(t, "Node.js", err)
	for _, strip := range []bool{false, true} {
		t.Run(fmt.Sprintf("strip_prefix=%v", strip), func(t *testing.T) {
			root := "/flows/"
			if strip {
				root = "/"
			}
			dir := t.TempDir()
			settings := filepath.Join(dir, "settings.js")
			app := application(t, nil, func(port string) []string {
				text := fmt.Sprintf(`module.exports = { uiHost: '127.0.0.1', uiPort: %s, httpAdminRoot: %q, httpNodeRoot: %q, flowFile: 'flows.json',
	telemetry: { enabled: false }, editorTheme: { tours: false, palette: { catalogues: [] }, multiplayer: { enabled: false } } };`, port, root, root+"api")
				if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return []string{node, program, "--userDir", dir, "--settings", settings}
			})
			s := newSite(t, openStore(t, filepath.Join(t.TempDir(), "host.db")), "",
				host.Route{Name: "flows", Path: "/flows", Proxy: app, StripPrefix: strip})
			if _, err := s.admin.AddUser(t.Context(), email, "Ada", password); err != nil {
				t.Fatal(err)
			}
			b, r := open(t)
			s.visit(t, b, "/flows/")
			b.Ready("#red-ui-workspace-chart, .red-ui-workspace-chart")
			b.Wait(`document.querySelectorAll('.red-ui-palette-node').length > 20`)
			r.wantNoFailure(t)
			if r.opened() == 0 {
				t.Error("the editor has opened no WebSocket")
			}
			if err := s.admin.RevokeUser(t.Context(), email); err != nil {
				t.Fatal(err)
			}
			b.Wait(`document.body.innerText.includes('Lost connection to server')`)
			b.Forgive() // the editor complains of the connection
			b.Visit(s.URL + "/flows/")
			b.Ready("#login")
		})
	}
}

// The pages of Verdaccio work behind a guard.
func TestVerdaccio(t *testing.T) {
	program := needPackage(t, "verdaccio/bin/verdaccio")
	node, err := exec.LookPath("node")
	need(t, "Node.js", err)
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf("storage: %s/storage\nurl_prefix: /packages/\nweb:\n  title: Packages\nuplinks: {}\nauth:\n  htpasswd:\n    file: %s/htpasswd\n"+
		"packages:\n  '**':\n    access: $all\n    publish: $authenticated\nlog:\n  type: stdout\n  format: pretty\n  level: warn\n", dir, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	app := application(t, nil, func(port string) []string {
		return []string{node, program, "--config", config, "--listen", "127.0.0.1:" + port}
	})
	s := newSite(t, openStore(t, filepath.Join(t.TempDir(), "host.db")), "",
		host.Route{Name: "packages", Path: "/packages", Proxy: app, StripPrefix: true})
	if _, err := s.admin.AddUser(t.Context(), email, "Ada", password); err != nil {
		t.Fatal(err)
	}
	b, r := open(t)
	s.visit(t, b, "/packages/")
	b.See("No Package Published Yet")
	b.Click("button[data-testid='header--button-login']")
	b.Ready("[role=dialog] input")
	r.wantNoFailure(t)
}
