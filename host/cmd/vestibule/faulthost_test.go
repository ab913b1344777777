package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// faultPassword is everybody's.
const faultPassword = "engine-of-analysis-1843"

// A faultKit is what the hosts of the fault table share: the plugin that misbehaves, and
// a database with a person for each way to do so, which hashing takes its time for.
type faultKit struct{ plugin, database string }

func newFaultKit(t *testing.T, rows []fault) faultKit {
	t.Helper()
	dir := t.TempDir()
	kit := faultKit{filepath.Join(dir, "faultplugin"), filepath.Join(dir, "test.db")}
	out, err := exec.Command("go", "build", "-o", kit.plugin, "../../pluginproc/internal/faultplugin").CombinedOutput()
	if err != nil {
		t.Fatalf("build the plugin: %v\n%s", err, out)
	}
	h := &faultHost{T: t, dir: dir}
	h.write("config.hcl", "database {\n  dsn = \"test.db\"\n}\n")
	h.add("good")
	db, err := sql.Open("sqlite", kit.database)
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range append(people(rows), "fork") {
		_, err = db.Exec(`INSERT INTO users (name, email, password) SELECT name, ?1, password FROM users WHERE email = 'good@example.com'
			AND NOT EXISTS (SELECT 1 FROM users WHERE email = ?1)`, who+"@example.com")
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, status VARCHAR(20) NOT NULL); INSERT INTO orders VALUES (1, 'open')`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return kit
}

func people(rows []fault) []string {
	var all []string
	for _, row := range rows {
		all = append(all, row.who)
	}
	return all
}

// A faultHost is the real command with its defaults, serving the plugin that misbehaves.
type faultHost struct {
	*testing.T
	dir    string // of the configuration, the database and the program
	store  string // the lines of the block database
	tmp    string // TMPDIR of the host, where nothing may be left; short, for sockets
	base   string
	cmd    *exec.Cmd
	log    lockedBuffer
	client http.Client
}

func newFaultHost(t *testing.T, kit faultKit, row fault) *faultHost {
	t.Helper()
	h := &faultHost{T: t, dir: t.TempDir(), store: `dsn = "test.db"`, client: http.Client{Timeout: time.Minute}}
	var err error
	if h.tmp, err = os.MkdirTemp("/tmp", "vf"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(h.tmp); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(h.log.String())
		}
	})
	for name, from := range map[string]string{"faultplugin": kit.plugin, "test.db": kit.database} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(h.dir, name), text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	h.write("told", "ok")
	h.write("script", "as it was checked")
	if err := os.Mkdir(filepath.Join(h.dir, "pids"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.configure(row, "1")
	return h
}

func (h *faultHost) write(name, text string) {
	h.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

// configure writes config.hcl, with a version of the plugin.
func (h *faultHost) configure(row fault, version string) {
	h.Helper()
	command, start := fmt.Sprintf("%q", "./faultplugin"), "told"
	if row.through != "" {
		command = row.through + ", " + command
	}
	if row.start != "" {
		start = row.start
	}
	role, endpoint := "dispenser", ""
	if row.writes {
		role, endpoint = "validator", judgedOrders
	}
	h.write("config.hcl", fmt.Sprintf(`
server {
  address = "127.0.0.1:0"
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
  command = [%s, %q, %q]
  roles   = [%q]
  env     = { TOLD = "%s/told", PIDS = "%[6]s/pids", ONCE = "%[6]s/once" }
  %s
}
%s`, h.store, command, start, version, role, h.dir, row.block(h), endpoint))
}

// add adds a person.
func (h *faultHost) add(who string) {
	h.Helper()
	cmd := vestibuleCommand(h.T, "-c", filepath.Join(h.dir, "config.hcl"), "user", "add",
		"--email", who+"@example.com", "--name", "Ada", "--password-stdin")
	cmd.Stdin = strings.NewReader(faultPassword + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("%v: %s", err, out)
	}
}

// serve starts the host and waits until it is ready, and somebody has signed in.
func (h *faultHost) serve() {
	h.Helper()
	h.cmd = vestibuleCommand(h.T, "-c", filepath.Join(h.dir, "config.hcl"), "serve")
	h.cmd.Env = append(os.Environ(), "TMPDIR="+h.tmp)
	h.cmd.Stderr = &h.log
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		h.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		h.Fatal(err)
	}
	cmd := h.cmd
	h.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it has ended unless the test failed
	line, err := bufio.NewReader(out).ReadString('\n')
	if h.base = regexp.MustCompile(`http://\S+`).FindString(line); h.base == "" {
		h.Fatalf("the host did not get ready: %q, %v", line, err)
	}
	if saw := h.signIn("good"); saw.what != "200" {
		h.Fatalf("nobody can sign in before anything happens: %v", saw)
	}
}

// end ends the host, without draining.
func (h *faultHost) end() {
	h.Helper()
	if err := h.cmd.Process.Signal(os.Interrupt); err != nil {
		h.Error(err)
	}
	if err := h.cmd.Wait(); err != nil {
		h.Errorf("the host ended with %v", err)
	}
	if strings.Contains(h.log.String(), faultPassword) {
		h.Error("the password is in the log")
	}
}

// A sight is what a person who signed in saw, after a time.
type sight struct {
	what string // status and message
	wait time.Duration
}

func (h *faultHost) signIn(who string) sight {
	begin := time.Now()
	body := fmt.Sprintf(`{"login": "%s@example.com", "password": %q}`, who, faultPassword)
	resp, err := h.client.Post(h.base+"/auth/login", "application/json", strings.NewReader(body))
	if err != nil {
		return sight{"no connection", time.Since(begin)}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	var answer struct{ Message string }
	if err != nil || json.Unmarshal(text, &answer) != nil {
		answer.Message = string(text)
	}
	if resp.StatusCode == http.StatusOK {
		answer.Message = ""
	} else if cookies := resp.Cookies(); slices.ContainsFunc(cookies, func(c *http.Cookie) bool { return c.Value != "" && c.MaxAge >= 0 }) {
		h.Errorf("a sign-in that failed made a session: %v", cookies)
	}
	return sight{strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + answer.Message), time.Since(begin)}
}

// processes are those of the host, by number: all that have its TMPDIR in their
// environment or command line, and those that the plugin has told of.
func (h *faultHost) processes() map[int]string {
	h.Helper()
	found := map[int]string{}
	all, err := os.ReadDir("/proc")
	if err != nil {
		h.Fatal(err)
	}
	for _, p := range all {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline")) // it may have ended
		environ, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		_, err = os.Stat(filepath.Join(h.dir, "pids", p.Name()))
		if len(line) > 0 && err == nil || bytes.Contains(line, []byte(h.tmp)) || bytes.Contains(environ, []byte("TMPDIR="+h.tmp+"\x00")) {
			found[pid] = string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
	return found
}

// pids are the processes whose command line has a word in it.
func (h *faultHost) pids(word string) []int {
	h.Helper()
	var found []int
	for pid, line := range h.processes() {
		if strings.Contains(line, word) {
			found = append(found, pid)
		}
	}
	return found
}

// kill sends a signal to the only process with a word in its command line.
func (h *faultHost) kill(word string, signal syscall.Signal) {
	h.Helper()
	pids := h.pids(word)
	if len(pids) != 1 {
		h.Fatalf("%d processes have %q in their command line: %v", len(pids), word, h.processes())
	}
	if err := syscall.Kill(pids[0], signal); err != nil {
		h.Fatal(err)
	}
}

// eventually waits for what must come true, and is not a matter of speed.
func (h *faultHost) eventually(what string, is func() bool) {
	h.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			h.Errorf("%s not come true within a minute", what)
			return
		}
	}
}
