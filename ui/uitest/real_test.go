package uitest

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	_ "modernc.org/sqlite" // adds the host's own column to the users
)

// binaries are the programs that the end-to-end tests run, built once.
type binaries struct {
	once sync.Once
	dir  string
	err  error
}

var built binaries

func (b *binaries) build() {
	b.dir, b.err = os.MkdirTemp("", "uitest-bin-")
	if b.err != nil {
		return
	}
	cmd := exec.Command("go", "build", "-o", b.dir, "./host/cmd/vestibule", "./plugins/orgsetup", "./plugins/totp", "./plugins/terms",
		"./examples/verify-email", "./examples/must-change-password")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.err = fmt.Errorf("build the host and the plugins: %w\n%s", err, out)
	}
}

// real is a running host with its plugin, its database and a mail server.
type real struct {
	t    *testing.T
	dir  string
	base string
	// said is the line in which the host named its address.
	said string
	sink *sink
}

const (
	person   = "ada@example.com"
	password = "nine green bottles hanging"
)

// newReal starts the real binary with the real plugin. A sources text that is
// not empty is written to .ui5-sources.hcl.
func newReal(t *testing.T, sources string) *real {
	t.Helper()
	build(t)
	return newRealWith(t, sources, fmt.Sprintf(`
plugin "orgs" {
  command    = [%q]
  roles      = ["dispenser", "org_setup"]
  user_read  = ["partner_id"]
  user_write = ["partner_id"]
}
`, filepath.Join(built.dir, "orgsetup")), "partner_id INTEGER")
}

func build(t *testing.T) {
	t.Helper()
	built.once.Do(built.build)
	if built.err != nil {
		t.Fatal(built.err)
	}
}

// newRealWith starts the real binary with blocks of its own in conf.d and further
// columns of the users.
func newRealWith(t *testing.T, sources, blocks string, columns ...string) *real {
	t.Helper()
	build(t)
	r := &real{t: t, dir: t.TempDir(), sink: newSink(t)}
	r.write("site/home.html", `<!doctype html><html lang="en"><title>Home</title><h1>Home</h1></html>`)
	r.write("site/dashboard.html", `<!doctype html><html lang="en"><title>Dashboard</title><h1>Dashboard</h1></html>`)
	r.write("public/assets/ci/logo-full.svg", logo)
	r.write("config.hcl", r.config())
	r.write("conf.d/blocks.hcl", blocks)
	if sources != "" {
		r.write(".ui5-sources.hcl", sources)
	}
	r.command("", "migrate")
	db, err := sql.Open("sqlite", filepath.Join(r.dir, "vestibule.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range columns {
		if _, err := db.Exec("ALTER TABLE users ADD COLUMN " + column); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r.command(password+"\n", "user", "add", "--email", person, "--name", "Ada Lovelace", "--password-stdin")
	r.serve()
	return r
}

func (r *real) config() string {
	return fmt.Sprintf(`
server {
  address = "127.0.0.1:0"
}
database {
  driver = "sqlite"
  dsn    = "vestibule.db"
}
auth {
  throttle {
    window = "15s"
  }
  reset {
    resend = "1s"
  }
}
mail {
  transport = "smtp"
  from      = "Acme <no-reply@example.com>"
  smtp {
    host = "127.0.0.1"
    port = %d
    tls  = "none"
  }
}
route "home" {
  path = "/"
  file = "site/home.html"
}
route "dashboard" {
  path  = "/dashboard"
  file  = "site/dashboard.html"
  guard = "settled"
}
`, r.sink.port)
}

func (r *real) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// command runs the binary to its end and returns what it prints.
func (r *real) command(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(filepath.Join(built.dir, "vestibule"), args...)
	cmd.Dir = r.dir
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("vestibule %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// serve starts the host and waits for the line with its address.
func (r *real) serve() {
	r.t.Helper()
	cmd := exec.Command(filepath.Join(built.dir, "vestibule"), "serve")
	cmd.Dir = r.dir
	var logged bytes.Buffer
	cmd.Stderr = &logged
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if r.t.Failed() {
			r.t.Logf("the host logged:\n%s", logged.String())
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		r.said = lines.Text()
		if r.base = regexp.MustCompile(`http://\S+`).FindString(r.said); r.base != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	r.t.Fatalf("the host did not come up:\n%s", logged.String())
}

// sink is a mail server that keeps what it is given.
type sink struct {
	port  int
	mails chan string
}

func newSink(t *testing.T) *sink {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{port: l.Addr().(*net.TCPAddr).Port, mails: make(chan string, 16)}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return delivery{s}, nil }))
	server.Domain = "localhost"
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

type delivery struct{ sink *sink }

func (delivery) Reset()                               {}
func (delivery) Logout() error                        { return nil }
func (delivery) Mail(string, *smtp.MailOptions) error { return nil }
func (delivery) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (d delivery) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	d.sink.mails <- strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(string(text)) // quoted-printable, as far as a link needs it
	return err
}

// link waits for a mail with a reset link and returns it.
func (s *sink) link(t *testing.T) string {
	t.Helper()
	return s.linkTo(t, "/password/reset/")
}

// linkTo waits for a mail with a link to a page and returns it.
func (s *sink) linkTo(t *testing.T, page string) string {
	t.Helper()
	for deadline := time.After(20 * time.Second); ; {
		select {
		case mail := <-s.mails:
			if link := regexp.MustCompile(`http://[^\s"<>/]+` + page + `[^\s"<>]+`).FindString(mail); link != "" {
				return link
			}
		case <-deadline:
			t.Fatalf("no mail with a link to %s arrived", page)
		}
	}
}
