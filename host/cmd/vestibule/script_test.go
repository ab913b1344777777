package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// The stories in testdata/script run this very command, and these helpers, as
// processes of their own.
func TestMain(m *testing.M) {
	testscript.Main(cleaner{m}, map[string]func(){
		"vestibule": main,
		"http":      httpMain,
		"walk":      walkMain,
		"stepper":   stepperMain,
	})
}

// A cleaner removes what the tests shared.
type cleaner struct{ m *testing.M }

// Run runs the tests.
func (c cleaner) Run() int {
	defer func() {
		browsertest.Stop()
		_ = os.RemoveAll(shopOnce.dir)
		_ = os.RemoveAll(buildsOnce.dir)
	}()
	return c.m.Run()
}

func TestStories(t *testing.T) {
	bin, shop := buildPlugins(t), makeShop(t)
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PLUGINS", bin)
			e.Setenv("EXAMPLES", examples)
			e.Setenv("JAR", filepath.Join(e.WorkDir, "jar.json"))
			e.Setenv("SHOP", shop)
			e.Values[hostKey{}] = &running{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":  serveStory,
			"stop":   stopStory,
			"signal": signalStory,
			"port":   portStory("ADDRESS"), "admin": portStory("ADMIN_ADDRESS"), "adduser": addUser, "listen": listenStory, "seed": seedStory, "eventually": eventually,
			"certificate": certificateStory, "monitored": monitoredStory, "numbers": numbersStory,
		},
	})
}

// builds are the programs of this test run, made once.
type builds struct {
	once sync.Once
	dir  string
	err  error
}

var buildsOnce builds

// buildPlugins returns a folder with the first-party plugins, and those of examples that
// pages name.
func buildPlugins(t *testing.T) string {
	t.Helper()
	buildsOnce.once.Do(func() {
		if buildsOnce.dir, buildsOnce.err = os.MkdirTemp("", "plugins-"); buildsOnce.err != nil {
			return
		}
		sources, err := filepath.Glob("../../../plugins/*")
		if err != nil || len(sources) == 0 {
			buildsOnce.err = fmt.Errorf("no plugins: %w", err)
			return
		}
		cmd := exec.Command("go", append([]string{"build", "-o", buildsOnce.dir + "/", "../../../examples/dispenser-go", "../../../examples/verify-email", "../../../examples/order-rules"}, sources...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			buildsOnce.err = fmt.Errorf("build the plugins: %w\n%s", err, out)
		}
	})
	if buildsOnce.err != nil {
		t.Fatal(buildsOnce.err)
	}
	return buildsOnce.dir
}

// demo is the shop of this test run: made once, by a program of its own, since
// the race detector would make it slow.
type demo struct {
	once sync.Once
	dir  string
	err  error
}

var shopOnce demo

// makeShop returns a directory with the demo's shop.db, not to be changed.
func makeShop(t *testing.T) string {
	t.Helper()
	shopOnce.once.Do(func() {
		if shopOnce.dir, shopOnce.err = os.MkdirTemp("", "shop-"); shopOnce.err != nil {
			return
		}
		cmd := exec.Command("go", "run", "../../../examples/shop", "-db", filepath.Join(shopOnce.dir, "shop.db"))
		if out, err := cmd.CombinedOutput(); err != nil {
			shopOnce.err = fmt.Errorf("make the shop: %w\n%s", err, out)
		}
	})
	if shopOnce.err != nil {
		t.Fatal(shopOnce.err)
	}
	return shopOnce.dir
}

// copyShop puts a copy of the demo's shop into dir.
func copyShop(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(makeShop(t), "shop.db"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "shop.db"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type hostKey struct{}

// running is the host of a story.
type running struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan error
}

func hostOf(ts *testscript.TestScript) *running { return ts.Value(hostKey{}).(*running) }

// serveStory starts the host and waits for its line: serve [flags]. It sets BASE
// to the address; the log goes to serve.log.
func serveStory(ts *testscript.TestScript, _ bool, args []string) {
	h := hostOf(ts)
	if h.cmd != nil {
		ts.Fatalf("the host runs already")
	}
	log, err := os.Create(ts.MkAbs("serve.log"))
	ts.Check(err)
	program, err := exec.LookPath(filepath.Join(strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator))[0], "vestibule"))
	ts.Check(err)
	h.cmd, h.log, h.done = exec.Command(program, append([]string{"serve"}, args...)...), log, make(chan error, 1)
	h.cmd.Dir = ts.MkAbs(".")
	h.cmd.Env = environment(ts)
	h.cmd.Stderr = log
	out, err := h.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(h.cmd.Start())
	ts.Defer(func() { h.end() })
	ready := make(chan string, 1)
	var read sync.WaitGroup
	read.Go(func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			select {
			case ready <- lines.Text():
			default:
				_, _ = fmt.Fprintln(log, "second line on the standard output:", lines.Text())
			}
		}
		close(ready)
	})
	go func() {
		read.Wait()
		h.done <- h.cmd.Wait()
	}()
	select {
	case line, ok := <-ready:
		base := regexp.MustCompile(`https?://[^\s/]+`).FindString(line)
		if !ok || base == "" {
			ts.Fatalf("the host did not get ready: %q\n%s", line, ts.ReadFile("serve.log"))
		}
		ts.Setenv("BASE", base)
	case <-time.After(time.Minute):
		ts.Fatalf("the host was not ready within a minute\n%s", ts.ReadFile("serve.log"))
	}
}

// environment is the story's, as exec has it.
func environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "WORK", "PLUGINS", "BASE", "VESTIBULE_SERVER__ADDRESS", "VESTIBULE_SERVER__ADMIN_ADDRESS"} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (h *running) end() {
	if h.cmd == nil {
		return
	}
	_ = h.cmd.Process.Kill()
	<-h.done
	_ = h.log.Close()
	h.cmd = nil
}

// stopStory ends the host as an operator would, and wants exit code 0.
func stopStory(ts *testscript.TestScript, _ bool, _ []string) {
	h := hostOf(ts)
	ts.Check(h.cmd.Process.Signal(os.Interrupt))
	select {
	case err := <-h.done:
		h.cmd = nil
		_ = h.log.Close()
		if err != nil {
			ts.Fatalf("the host ended with %v\n%s", err, ts.ReadFile("serve.log"))
		}
	case <-time.After(30 * time.Second):
		ts.Fatalf("the host did not stop within 30 s\n%s", ts.ReadFile("serve.log"))
	}
}

// signalStory sends SIGHUP: signal HUP.
func signalStory(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check(hostOf(ts).cmd.Process.Signal(syscall.SIGHUP))
}

// addUser adds a person: adduser ADDRESS NAME PASSWORD.
func addUser(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: adduser ADDRESS NAME PASSWORD")
	}
	ts.Check(os.WriteFile(ts.MkAbs("password"), []byte(args[2]+"\n"), 0o600))
	ts.Check(ts.Exec("sh", "-c", fmt.Sprintf("vestibule user add --email %s --name %s --password-stdin < password", args[0], args[1])))
}

// listenStory takes a port and sets TAKEN to its address, until the story ends.
func listenStory(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv("TAKEN", l.Addr().String())
}

// portStory finds a free port and makes it the host's address of that name, for
// what has to know it beforehand.
func portStory(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		ts.Setenv("VESTIBULE_SERVER__"+name, l.Addr().String())
		ts.Check(l.Close())
	}
}

// eventually waits until a file has a line that matches: eventually FILE REGEXP.
func eventually(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: eventually FILE REGEXP")
	}
	pattern := regexp.MustCompile(args[1])
	for range 300 {
		if pattern.MatchString(ts.ReadFile(args[0])) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("%s never had %q:\n%s", args[0], args[1], ts.ReadFile(args[0]))
}

// seedStory puts a copy of the demo's shop into the story: seed FILE.
func seedStory(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: seed FILE")
	}
	text, err := os.ReadFile(filepath.Join(ts.Getenv("SHOP"), "shop.db"))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}
