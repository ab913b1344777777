package upstreams_test

import (
	"context"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/ui"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// The person who signs in.
const (
	email    = "ada@example.com"
	password = "engine-of-analysis-1843"
)

// need skips the test for want of something, by name.
func need(t *testing.T, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("REQUIRE_UPSTREAMS") != "":
		t.Fatalf("%s required: %v", what, err)
	default:
		t.Skipf("skipped %s: %v", t.Name(), err)
	}
}

// needPackage returns the program of an npm package.
func needPackage(t *testing.T, program string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("node_modules", filepath.FromSlash(program)))
	if err == nil {
		_, err = os.Stat(path)
	}
	need(t, "the npm packages (npm ci in internal/suites/upstreams)", err)
	return path
}

// application starts a program that listens on a free port, and waits until it
// does. It ends with the test.
func application(t *testing.T, env []string, command func(port string) []string) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(address)
	args := command(port)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s:\n%s", args[0], text)
		}
	})
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return &url.URL{Scheme: "http", Host: address}
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%v ended: %v", args, err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v does not listen: %v", args, err)
		}
	}
}

// A site is a host with one person, in front of an application.
type site struct {
	*httptest.Server
	admin *host.Admin
	db    *store.DB
}

// openStore opens a new database.
func openStore(t *testing.T, file string) *store.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// newSite starts a host with the routes. Settled people alone reach them, unless a
// route says otherwise.
func newSite(t *testing.T, db *store.DB, format host.PasswordFormat, routes ...host.Route) *site {
	t.Helper()
	o := host.Options{
		Store: db, UI: host.UIOptions{App: ui.FS(), AppName: "Upstreams"},
		Mail:   host.MailOptions{Transport: "log"},
		Auth:   host.AuthOptions{Rules: host.Rules{PasswordHash: format}},
		Routes: append([]host.Route{{Name: "home", Path: "/", Redirect: "/login", Guard: host.GuardNone}, {Name: "dashboard", Path: "/dashboard", Redirect: "/"}}, routes...),
	}
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := h.Handler()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = h.Stop(ctx)
	})
	admin, err := host.NewAdmin(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{httptest.NewServer(handler), admin, db}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// visit opens a guarded page as a stranger, signs in, and arrives there.
func (s *site) visit(t *testing.T, b *browsertest.Tab, path string) {
	t.Helper()
	b.Visit(s.URL + path)
	b.Ready("#login")
	b.Fill("#login", email)
	b.Fill("#password", password)
	b.Click("button[type=submit]")
	b.Wait(`location.pathname.startsWith('` + path + `')`)
}
