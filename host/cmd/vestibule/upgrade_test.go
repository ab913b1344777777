package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"golang.org/x/crypto/bcrypt"
)

// lastRelease is the commit whose program runs beside this one: the state before, until
// 2.0.0 is tagged, and the last release afterwards.
const lastRelease = "6ba2621"

const upgradePassword, upgradedPassword = "engine-of-analysis-1843", "another-engine-1844"

// The last release and this one share a database, one after the other in both orders and
// side by side. People in every state move from one to the other and back: nobody loses
// anything, and nobody who has an open step gets further than before. PostgreSQL and
// MariaDB need LONG=1, which make nightly sets.
func TestLastReleaseBesideThisOne(t *testing.T) {
	old := buildLastRelease(t)
	for _, engine := range []struct {
		name string
		dsn  func(t *testing.T) string
		open func(ctx context.Context, dsn string) (*store.DB, error)
	}{
		{"sqlite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "vestibule.db") }, sqlite.Open},
		{"postgres", func(t *testing.T) string { return dbtest.Postgres(t) }, postgres.Open},
		{"mysql", func(t *testing.T) string { return dbtest.MySQL(t) }, mysql.Open},
	} {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel() // much of it waits
			if engine.name != "sqlite" && os.Getenv("LONG") == "" {
				t.Skip("LONG is not set: it takes half a minute (make nightly)")
			}
			u := newUpgrade(t, engine.name, engine.dsn(t))
			before, now := u.host("before", old), u.host("now", "")

			before.start()
			u.open(engine.open)
			people := u.gather(before, "a")
			before.breakMail()
			people.owe(before)
			before.stop()

			now.start() // migrates
			people.visit(now)
			people.mailed(now)
			now.stop()

			before.mendMail()
			before.start() // goes back, on the newer tables
			people.visit(before)
			people.finish(before)

			now.start() // beside it
			people.settled(now)
			people.settled(before)

			others := u.gather(now, "b")
			others.owe(now)
			others.mailed(now, before)
			others.visit(before)
			others.visit(now)
			others.finish(now)
			others.settled(before)
			others.settled(now)
		})
	}
}

// buildLastRelease builds the program of the pinned commit.
func buildLastRelease(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	top := strings.TrimSpace(string(root))
	if err == nil {
		err = exec.Command("git", "-C", top, "cat-file", "-e", lastRelease+"^{commit}").Run()
	}
	if err != nil {
		t.Skipf("the last release, %s, is not in this copy of the source: clone it with its history (git fetch --unshallow)", lastRelease)
	}
	dir := t.TempDir()
	archive := exec.Command("git", "-C", top, "archive", lastRelease, "--", "go.mod", "go.sum", "host", "odata", "plugins", "pluginsdk", "ui")
	unpack := exec.Command("tar", "-x", "-C", dir)
	var faults bytes.Buffer
	archive.Stderr, unpack.Stderr = &faults, &faults
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := unpack.Start(); err != nil {
		t.Skipf("tar is missing: %v", err)
	}
	if err := archive.Run(); err != nil {
		t.Fatalf("git archive: %v: %s", err, faults.String())
	}
	if err := unpack.Wait(); err != nil {
		t.Fatalf("tar: %v: %s", err, faults.String())
	}
	program := filepath.Join(dir, "vestibule")
	build := exec.Command("go", "build", "-o", program, "./host/cmd/vestibule")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the last release: %v: %s", err, out)
	}
	return program
}

// An upgrade is a database that two programs serve, and the application behind them.
type upgrade struct {
	*testing.T
	engine, dsn, plugin string
	db                  *store.DB
	upstream            *httptest.Server
	hosts               []*releasedHost
}

func newUpgrade(t *testing.T, engine, dsn string) *upgrade {
	t.Helper()
	u := &upgrade{T: t, engine: engine, dsn: dsn, plugin: filepath.Join(t.TempDir(), "stepper")}
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(this, u.plugin); err != nil { // which TestMain runs by its name
		t.Fatal(err)
	}
	u.upstream = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "application %s", r.URL.Path)
	}))
	t.Cleanup(u.upstream.Close)
	return u
}

// open opens the database that the first program has migrated, to add people.
func (u *upgrade) open(open func(context.Context, string) (*store.DB, error)) {
	u.Helper()
	var err error
	if u.db, err = open(u.Context(), u.dsn); err != nil {
		u.Fatal(err)
	}
	u.Cleanup(func() { _ = u.db.Close() })
}

// A releasedHost is one of the two programs with a configuration of its own. Its program is
// empty for this one.
type releasedHost struct {
	*upgrade
	name, program, dir, address string
	cmd                         *exec.Cmd
	log                         *os.File
}

func (u *upgrade) host(name, program string) *releasedHost {
	u.Helper()
	h := &releasedHost{upgrade: u, name: name, program: program, dir: u.TempDir(), address: unusedAddress(u.T)}
	text := fmt.Sprintf(`
server {
  address = %q
}
database {
  driver = %q
  dsn    = %q
}
auth {
  password {
    hash = "keep"
  }
}
mail {
  transport = "file"
  dir       = %q
  from      = "Vestibule <no-reply@example.com>"
}
plugin "stepper" {
  command = [%q]
  roles   = ["dispenser", "org_setup"]
}
route "home" {
  path  = "/"
  proxy = %[6]q
  guard = "none"
}
route "dashboard" {
  path  = "/dashboard"
  proxy = %[6]q
}
route "app" {
  path   = "/app"
  proxy  = %[6]q
  tokens = true
}
`, h.address, u.engine, u.dsn, h.mails(), u.plugin, u.upstream.URL)
	if err := os.WriteFile(h.config(), []byte(text), 0o600); err != nil {
		u.Fatal(err)
	}
	var err error
	if h.log, err = os.Create(filepath.Join(h.dir, "log")); err != nil {
		u.Fatal(err)
	}
	u.hosts = append(u.hosts, h)
	return h
}

func (h *releasedHost) config() string { return filepath.Join(h.dir, "config.hcl") }
func (h *releasedHost) mails() string  { return filepath.Join(h.dir, "mails") }

func (h *releasedHost) command(args ...string) *exec.Cmd {
	h.Helper()
	args = append([]string{"-c", h.config()}, args...)
	if h.program == "" {
		return vestibuleCommand(h.T, args...)
	}
	return exec.Command(h.program, args...)
}

func (h *releasedHost) start() {
	h.Helper()
	h.cmd = h.command("serve")
	h.cmd.Stderr = h.log
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		h.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		h.Fatal(err)
	}
	cmd := h.cmd
	h.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		h.Fatalf("the host %s did not get ready: %q, %v: %s", h.name, line, err, h.text())
	}
}

func (h *releasedHost) stop() {
	h.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		h.Fatal(err)
	}
	if err := h.cmd.Wait(); err != nil {
		h.Fatalf("the host %s ended with %v: %s", h.name, err, h.text())
	}
}

func (h *releasedHost) text() string {
	text, _ := os.ReadFile(h.log.Name())
	return string(text)
}

// breakMail makes that no mail goes out, until mendMail.
func (h *releasedHost) breakMail() {
	h.Helper()
	if err := os.Rename(h.mails(), h.mails()+"-before"); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(h.mails(), nil, 0o600); err != nil {
		h.Fatal(err)
	}
}

func (h *releasedHost) mendMail() {
	h.Helper()
	if err := os.Remove(h.mails()); err != nil {
		h.Fatal(err)
	}
}

// upgradeHash is a hash of the people's password that costs little.
var upgradeHash = sync.OnceValue(func() string {
	hash, err := bcrypt.GenerateFromPassword([]byte(upgradePassword), bcrypt.MinCost)
	must(err)
	return string(hash)
})
