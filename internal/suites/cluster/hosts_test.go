package cluster

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// password is that of everybody.
const password = "engine-of-analysis-1843"

// wait is database.wait, its default.
const wait = 10 * time.Second

// A site is three hosts on one database, behind two balancers.
type site struct {
	stack
	scene     *scene
	binary    string
	mails     *mailbox
	used      atomic.Int64 // how many people were
	hosts     []*host
	balancers []string // addresses
	db        *sql.DB  // behind no host
}

// A host is the real command.
type host struct {
	program
	address string
	cmd     *exec.Cmd
}

func (h *host) name() string { return filepath.Base(h.dir) }

const siteConfig = `
server {
  address         = %q
  public_url      = "https://app.example.com"
  trusted_proxies = ["127.0.0.1/32"]
}
database {
  driver = %q
  dsn    = %q
}
mail {
  dir = %q
}
auth {
  reset {
    attempts = 10000
  }
  tokens {
    self_service = true
  }
}
odata {
  discover = ["shelves"]
}
route "home" {
  path = "/"
  file = "home.html"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/"
}
`

// newSite starts hosts and balancers. Of the people, one for each number below people,
// nobody has been used yet.
func newSite(t *testing.T, s *scene, st stack, binary string, people int) *site {
	t.Helper()
	w := &site{stack: st, scene: s, binary: binary, mails: &mailbox{
		dir: s.folder(t, st.driver+"-mails", ""), read: map[string]bool{}, tokens: map[string]string{},
	}}
	for i := range 3 {
		w.hosts = append(w.hosts, w.newHost(t, fmt.Sprintf("%s-host%d", st.driver, i+1)))
	}
	add := w.hosts[0].program
	add.args = []string{binary, "migrate"}
	add.run(t)
	w.db = st.open(t)
	w.fill(t, people)
	for _, h := range w.hosts {
		h.serve(t)
	}
	for _, name := range []string{"haproxy", "caddy"} {
		w.balancers = append(w.balancers, w.balance(t, name))
	}
	return w
}

func (w *site) newHost(t *testing.T, name string) *host {
	t.Helper()
	h := &host{address: unused(t)}
	h.dir = w.scene.folder(t, name, "")
	write(t, filepath.Join(h.dir, "config.hcl"), fmt.Sprintf(siteConfig, h.address, w.driver, w.dsn, w.mails.dir), "")
	write(t, filepath.Join(h.dir, "home.html"), "home", "")
	h.args = []string{w.binary, "serve"}
	return h
}

// fill makes people with one password, and the rows that are queried.
func (w *site) fill(t *testing.T, people int) {
	t.Helper()
	cmd := w.hosts[0].program
	cmd.args = []string{w.binary, "user", "add", "--email", email(0), "--name", "Ada", "--password-stdin"}
	add := cmd.command(t)
	add.Stdin = strings.NewReader(password + "\n")
	if err := add.Run(); err != nil {
		t.Fatalf("user add: %v\n%s", err, cmd.log())
	}
	statements := []string{"CREATE TABLE shelves (id INT PRIMARY KEY, label VARCHAR(40) NOT NULL)"}
	for i := range 20 {
		statements = append(statements, fmt.Sprintf("INSERT INTO shelves VALUES (%d, 'shelf %d')", i, i))
	}
	for i := 1; i < people; i++ {
		statements = append(statements, fmt.Sprintf("INSERT INTO users (name, email, password) SELECT 'Ada', '%s', password FROM users WHERE email = '%s'", email(i), email(0)))
	}
	tx, err := w.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := tx.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func email(i int) string { return fmt.Sprintf("person%d@example.com", i) }

// serve starts the host and waits until it is ready.
func (h *host) serve(t *testing.T) {
	t.Helper()
	h.cmd = h.command(t)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, h.name(), h.ready)
}

// ready reports why /readyz, asked without a balancer, does not say 200.
func (h *host) ready() error {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + h.address + "/readyz")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%d", resp.StatusCode)
	}
	return nil
}

// restart ends the host as systemd does, and starts it anew.
func (h *host) restart(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Wait(); err != nil {
		t.Fatalf("%s ended with %v\n%s", h.name(), err, h.log())
	}
	h.serve(t)
}

// balance starts a balancer with its page of docs/operations, and returns its
// address.
func (w *site) balance(t *testing.T, name string) string {
	t.Helper()
	listen := unused(t)
	_, port, _ := strings.Cut(listen, ":")
	page, language, own := "haproxy.md", "haproxy", []string{"bind :443 ssl crt /etc/haproxy/app.pem", "bind " + listen}
	args := []string{find(t, name), "-db", "-f"}
	if name == "caddy" {
		page, language, own = "caddy.md", "caddyfile", []string{"app.example.com {", "{\n\tadmin off\n}\nhttp://127.0.0.1:" + port + " {"}
		args = []string{find(t, name), "run", "--adapter", "caddyfile", "--config"}
	}
	text := recipe(t, page, language)
	text = threeHosts(text)
	for i, h := range w.hosts {
		own = append(own, fmt.Sprintf("10.0.0.%d:8080", i+1), h.address)
	}
	dir := w.scene.folder(t, w.driver+"-"+name, "")
	write(t, filepath.Join(dir, "settings"), fill(t, text, own)+"\n", "")
	p := program{dir: dir, args: append(args, "settings"), env: []string{"XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}}
	p.start(t)
	within(t, time.Minute, name, func() error {
		if err := (&host{address: listen}).ready(); err != nil {
			return fmt.Errorf("%w: %s", err, p.log())
		}
		return nil
	})
	return listen
}

// threeHosts adds a third host behind the second one of a recipe.
func threeHosts(text string) string {
	text = strings.Replace(text, " 10.0.0.2:8080 {", " 10.0.0.2:8080 10.0.0.3:8080 {", 1)
	return strings.Replace(text, "    server two 10.0.0.2:8080", "    server two 10.0.0.2:8080\n    server three 10.0.0.3:8080", 1)
}

// recipe returns the first block in a language on a page of docs/operations.
func recipe(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operations/" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "\n```"+language+"\n")
	block, _, ended := strings.Cut(block, "\n```\n")
	if !found || !ended {
		t.Fatalf("docs/operations/%s has no text in %s", page, language)
	}
	return block
}

// fill replaces what must be in the recipe.
func fill(t *testing.T, text string, pairs []string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the recipe does not say %s:\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}
