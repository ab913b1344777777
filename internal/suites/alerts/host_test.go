package alerts

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// password is that of everybody.
const password = "engine-of-analysis-1843"

// A kit is what the hosts share: a folder, the programs, and a SQLite database with one person.
type kit struct{ dir, vestibule, plugin, database string }

func newKit(t *testing.T) kit {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "val") // short, because of unix sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	k := kit{dir, filepath.Join(dir, "vestibule"), filepath.Join(dir, "faultplugin"), filepath.Join(dir, "test.db")}
	for program, source := range map[string]string{k.vestibule: "../../../host/cmd/vestibule", k.plugin: "../../../host/pluginproc/internal/faultplugin"} {
		if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", source, err, out)
		}
	}
	write(t, filepath.Join(dir, "config.hcl"), "database {\n  dsn = \"test.db\"\n}\n")
	k.addPeople(t, dir, "sqlite", k.database)
	return k
}

func (k kit) folder(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(k.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// people is how many sign in, each at an address of its own: more than there are sign-ins.
const people = 200

func person(i int) string { return fmt.Sprintf("person%d@example.com", i%people) }

// addPeople makes the tables of the configuration in dir, and the people who sign in.
func (k kit) addPeople(t *testing.T, dir, driver, dsn string) {
	t.Helper()
	cmd := exec.Command(k.vestibule, "user", "add", "--email", person(0), "--name", "Ada", "--password-stdin")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(password+"\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("user add: %v\n%s", err, out)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for i := 1; i < people; i++ {
		_, err := db.Exec(fmt.Sprintf("INSERT INTO users (name, email, password) SELECT name, '%s', password FROM users WHERE email = '%s'", person(i), person(0)))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A host is the real command with its defaults, its traffic and its fault.
type host struct {
	*testing.T
	kit
	row            fault
	name, dir      string
	address, admin string
	dsn            string // of PostgreSQL, behind the proxy; empty for SQLite
	proxy          *dbtest.Proxy
	plugin         string        // more lines of the block plugin
	more           string        // more blocks
	over           chan struct{} // closed when the alerts are no longer watched

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed once cmd has ended
	log   *os.File      // the read end of its standard error
	hush  chan struct{} // closed when nobody is to read the log any more
	began time.Time     // the fault; its start if the fault is there from the start
}

func newHost(t *testing.T, k kit, i int, row fault) *host {
	t.Helper()
	h := &host{T: t, kit: k, row: row, name: fmt.Sprintf("h%d", i), address: unused(t), admin: unused(t), over: make(chan struct{}), hush: make(chan struct{}), began: time.Now()}
	h.dir = k.folder(t, h.name)
	text, err := os.ReadFile(k.database)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.dir, "test.db"), string(text))
	write(t, filepath.Join(h.dir, "told"), "ok")
	if row.prepare != nil {
		row.prepare(h)
	}
	h.configure()
	if h.dsn != "" {
		k.addPeople(t, h.dir, "pgx", h.dsn)
	}
	h.serve()
	t.Cleanup(func() { h.kill() })
	eventually(t, h.name+" is ready", func() error { return answers("http://" + h.address + "/readyz") })
	h.traffic()
	return h
}

// configure writes config.hcl.
func (h *host) configure() {
	h.Helper()
	store := "  dsn = \"test.db\""
	if h.dsn != "" {
		store = fmt.Sprintf("  driver = \"postgres\"\n  dsn    = %q", h.dsn)
	}
	write(h.T, filepath.Join(h.dir, "config.hcl"), fmt.Sprintf(`
server {
  address       = %q
  admin_address = %q
}
database {
%s
}
route "home" {
  path     = "/"
  redirect = "/login"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/login"
}
plugin "fault" {
  command = [%q, "told"]
  roles   = ["dispenser"]
  env     = { TOLD = %q }
%s
}
%s
`, h.address, h.admin, store, h.kit.plugin, filepath.Join(h.dir, "told"), h.plugin, h.more))
}

// serve starts the host. Its log is a pipe, which is read into the file log.
func (h *host) serve() {
	h.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		h.Error(err)
		return
	}
	defer func() { _ = w.Close() }()
	cmd := exec.Command(h.vestibule, "serve")
	if h.row.files > 0 {
		cmd = exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d && exec %s serve", h.row.files, h.vestibule))
	}
	cmd.Dir, cmd.Stderr = h.dir, w
	cmd.Env = append(os.Environ(), "TMPDIR="+h.dir)
	if err := cmd.Start(); err != nil {
		h.Error(err)
		return
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	go h.read(r)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cmd, h.ended, h.log = cmd, ended, r
}

// read reads the log until it ends, or nobody is to read it any more.
func (h *host) read(r io.Reader) {
	file, err := os.OpenFile(filepath.Join(h.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		h.Error(err)
		return
	}
	defer func() { _ = file.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		select {
		case <-h.hush:
			return
		default:
		}
		n, err := r.Read(buffer)
		_, _ = file.Write(buffer[:n])
		if err != nil {
			return
		}
	}
}

// kill ends the host as nothing else does, and waits until it has ended.
func (h *host) kill() {
	h.mu.Lock()
	cmd, ended := h.cmd, h.ended
	h.mu.Unlock()
	_ = cmd.Process.Kill()
	<-ended
}

func (h *host) signal(s syscall.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.cmd.Process.Signal(s); err != nil {
		h.Error(err)
	}
}

// meet lets the fault happen.
func (h *host) meet() {
	if h.row.do == nil {
		return
	}
	h.mu.Lock()
	h.began = time.Now()
	h.mu.Unlock()
	h.row.do(h)
}

func (h *host) since() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.began
}

// each calls f at once and then so often, until the alerts are no longer watched.
func (h *host) each(every time.Duration, f func()) {
	for {
		f()
		select {
		case <-h.over:
			return
		case <-time.After(every):
		}
	}
}

// wait waits so long, or until the alerts are no longer watched.
func (h *host) wait(limit time.Duration) {
	select {
	case <-h.over:
	case <-time.After(limit):
	}
}

// traffic is a page each second, and every five somebody else who signs in.
func (h *host) traffic() {
	ctx, stop := context.WithCancel(h.Context())
	var all sync.WaitGroup
	h.Cleanup(func() { stop(); all.Wait() })
	repeat := func(every time.Duration, f func(i int)) {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				f(i)
				select {
				case <-ctx.Done():
				case <-time.After(every):
				}
			}
		})
	}
	browser := &http.Client{Timeout: 30 * time.Second}
	repeat(time.Second/time.Duration(max(h.row.pages, 1)), func(int) { h.send(ctx, browser, "GET", "/login", "") })
	if h.row.backfilled {
		return
	}
	repeat(5*time.Second, func(i int) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+i%people))}}
		client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
		h.send(ctx, client, "POST", "/auth/login", fmt.Sprintf(`{"login": %q, "password": %q}`, person(i), password))
	})
}

// send sends a request. What it answers is counted by the host.
func (h *host) send(ctx context.Context, client *http.Client, method, path, body string) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+h.address+path, strings.NewReader(body))
	if err != nil {
		h.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	if resp, err := client.Do(request); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// logTail is the end of its log.
func (h *host) logTail() string {
	text, _ := os.ReadFile(filepath.Join(h.dir, "log"))
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-5):], []byte("\n")))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// unused returns a loopback address that nobody listens on.
func unused(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// answers reports why an address does not answer with 200.
func answers(address string) error {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", resp.Status)
	}
	return nil
}

// eventually calls f until it returns nil.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	err := f()
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); err = f() {
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("%s: not within a minute: %v", what, err)
	}
}
