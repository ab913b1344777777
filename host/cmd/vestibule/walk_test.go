package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/node"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/python"
)

// A walker is a stranger with an empty folder, the installed command, and nothing of
// this tree.
type walker struct {
	t   *testing.T
	dir string
	env []string
}

// walk takes a stranger from nothing to a plugin that decides over a sign-in, by the
// commands that docs/plugins.md shows. bin holds the installed command; prepare does
// what a stranger gets from the network.
func walk(t *testing.T, env []string, bin, lang string, prepare func(w *walker, plugin string)) {
	began, used := time.Now(), childrenTime()
	w := &walker{t, t.TempDir(), env}
	tools := filepath.Join(w.dir, "tools")
	w.check(os.Mkdir(tools, 0o755))
	if python := pythonWithGRPC(); python != "" {
		w.check(os.Symlink(python, filepath.Join(tools, "python3")))
	}
	w.env = append(w.env, "PATH="+tools+":"+bin+":"+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1")
	w.run("", "vestibule", "init")
	out := w.run("", "vestibule", "plugin", "new", "hello", "--lang", lang, "--role", "dispenser", "--role", "org_setup")
	prepare(w, filepath.Join(w.dir, "hello"))

	// The command says what comes next, and that works as it is.
	_, steps, _ := strings.Cut(out, "\n\n  cd hello\n")
	if lang == "go" {
		w.pageSays("vestibule plugin new", "vestibule init\nvestibule plugin new hello --lang go --role dispenser --role org_setup\ncd hello\n"+steps)
		w.pageSays("vestibule plugin list", "cd ..\nvestibule check\nvestibule serve\nvestibule plugin list\n") // as is done below
	}
	checked := ""
	for step := range strings.Lines(steps) {
		if step = strings.TrimSpace(step); step != "npm install" { // which needs the network
			checked = w.run("hello", "sh", "-c", step)
		}
	}
	_, block, ok := strings.Cut(checked, "vestibule serve`:\n\n")
	if !ok || strings.Contains(checked, "FAIL") {
		t.Fatalf("plugin check does not end with a block:\n%s", checked)
	}
	sum := regexp.MustCompile(`sha256 += "([0-9a-f]{64})"`).FindStringSubmatch(block)
	program := regexp.MustCompile(`command += \["([^"]+)"`).FindStringSubmatch(block)
	if sum == nil || program == nil || strings.TrimSpace(w.run("", "vestibule", "plugin", "sum", program[1])) != sum[1] {
		t.Fatalf("the block has not the checksum that plugin sum prints:\n%s", block)
	}
	block = strings.TrimSuffix(block, "}\n") + "  config {\n    domain = \"partner.example\"\n  }\n}\n"
	w.append("config.hcl", block)
	if lang == "go" {
		w.pageSays(`plugin "hello"`, strings.Replace(block, sum[1], "655908bbdd99…", 1))
		w.publishes()
	}
	w.run("", "vestibule", "check")
	w.run("", "sh", "-c", "echo analytical-engine-1843 | vestibule user add --email ada@partner.example --name Ada --password-stdin")
	w.signIn()
	t.Logf("from nothing to a sign-in that a plugin in %s decides: %v, of which processor %v", lang,
		time.Since(began).Round(100*time.Millisecond), (childrenTime() - used).Round(100*time.Millisecond))
}

// pageSays wants a block of docs/plugins.md to be a text, but for its comments.
func (w *walker) pageSays(words, want string) {
	w.t.Helper()
	want = withoutComments(want)
	if got := w.page(words); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		w.t.Errorf("docs/plugins.md has\n%s\nand what is done is\n%s", got, want)
	}
}

// page returns the block of docs/plugins.md that has some words in it.
func (w *walker) page(words string) string {
	w.t.Helper()
	for _, b := range blocks(w.t) {
		if b.page == "docs/plugins.md" && strings.Contains(b.text, words) {
			return withoutComments(b.text)
		}
	}
	w.t.Fatalf("no block of docs/plugins.md says %s", words)
	return ""
}

func withoutComments(text string) string {
	return regexp.MustCompile(`(?m) +# .*$`).ReplaceAllString(text, "")
}

// publishes makes what the page tells authors to publish, for this platform alone, and
// takes it as the page tells those who use it.
func (w *walker) publishes() {
	w.t.Helper()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	author := regexp.MustCompile(`for target in [^;]*;`).ReplaceAllString(w.page("for target in"), "for target in "+platform+";")
	user := strings.ReplaceAll(w.page("plugin sum SHA256SUMS"), "hello_linux_amd64", "hello_"+strings.ReplaceAll(platform, "/", "_"))
	w.run("hello", "sh", "-eu", "-c", author)
	out := w.run("hello/dist", "sh", "-eu", "-c", user)
	if !regexp.MustCompile(`\nsha256 += "[0-9a-f]{64}" # hello_\w+, this machine's platform\n$`).MatchString(out) {
		w.t.Errorf("plugin sum of a published plugin says\n%s", out)
	}
}

// childrenTime is the processor time of the programs that have ended.
func childrenTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (w *walker) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// run runs a command in a folder of the stranger's and returns what it printed.
func (w *walker) run(dir string, command ...string) string {
	w.t.Helper()
	out, err := w.command(dir, command...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return string(out)
}

// command is one that is looked up where the stranger would find it.
func (w *walker) command(dir string, command ...string) *exec.Cmd {
	cmd := exec.Command("env", append(append([]string{"-i"}, w.env...), command...)...)
	cmd.Dir = filepath.Join(w.dir, dir)
	return cmd
}

func (w *walker) append(name, text string) {
	w.t.Helper()
	file, err := os.OpenFile(filepath.Join(w.dir, name), os.O_APPEND|os.O_WRONLY, 0)
	w.check(err)
	_, err = file.WriteString(text)
	w.check(err)
	w.check(file.Close())
}

// serve starts a host in a folder, calls visit with its address, and ends it.
func (w *walker) serve(dir string, settings []string, visit func(base string)) {
	t := w.t
	t.Helper()
	command := []string{"vestibule", "serve", "--set", "server.address=127.0.0.1:0"}
	for _, s := range settings {
		command = append(command, "--set", s)
	}
	cmd := w.command(dir, command...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	w.check(err)
	w.check(cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // without draining
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("serve ended with %v\n%s", err, &log)
		}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	base := regexp.MustCompile(`https?://\S+`).FindString(line)
	if err != nil || base == "" {
		t.Errorf("serve says %q (%v)", line, err)
		return
	}
	visit(base)
}

// signIn serves, and has Ada go through what the plugin asks for.
func (w *walker) signIn() {
	admin := freeAddress(w.t)
	w.serve("", []string{"server.admin_address=" + admin}, func(base string) { w.visit(base, admin) })
}

// visit goes through the steps, and asks the admin address for the plugins.
func (w *walker) visit(base, admin string) {
	t := w.t
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	first := post(t, client, base+"/auth/login", `{"login": "ada@partner.example", "password": "analytical-engine-1843"}`)
	second := post(t, client, base+"/auth/intents/org-setup",
		`{"legal_form": 2, "org_name": "Analytical Engines", "company_size": "small", "function": "developer", "marketing_consent": false}`)
	if first != "org_setup " || second != "redirect /partners" {
		t.Errorf("the sign-in went over %q to %q, want the organisation and /partners", first, second)
	}
	if list := w.run("", "vestibule", "plugin", "list", "--set", "server.admin_address="+admin); !regexp.MustCompile(`hello +ready .* dispenser,org_setup +0\.1\.0 +0 +3 `).MatchString(list) {
		t.Errorf("plugin list says\n%s", list)
	}
}

// post sends JSON and returns kind and target of the next step.
func post(t *testing.T, client *http.Client, url, body string) string {
	t.Helper()
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Next struct {
			Kind    string
			Payload struct{ Target string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v", url, resp.Status, err)
	}
	return fmt.Sprintf("%s %s", answer.Next.Kind, answer.Next.Payload.Target)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// pythonWithGRPC is Debian's Python, or the first in PATH; empty when neither has
// gRPC.
func pythonWithGRPC() string {
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "import grpc").Run() == nil {
			return path
		}
	}
	return ""
}

// walks are the languages, with what takes the place of the network.
func walks() map[string]func(*walker, string) {
	return map[string]func(*walker, string){
		"go": func(*walker, string) {},
		"node": func(w *walker, plugin string) {
			modules, err := filepath.Abs("../../../pluginsdk/node/node_modules")
			if _, missing := os.Stat(filepath.Join(modules, "@grpc", "grpc-js")); err != nil || missing != nil {
				missingFor(w.t, "REQUIRE_NODE", "@grpc/grpc-js is missing: run npm ci in pluginsdk/node")
			}
			w.check(os.Symlink(modules, filepath.Join(plugin, "node_modules")))
			w.same(filepath.Join(plugin, "vestibule.js"), node.SDK)
		},
		"python": func(w *walker, plugin string) {
			if pythonWithGRPC() == "" {
				missingFor(w.t, "REQUIRE_PYTHON", "Python with grpcio is missing: apt-get install python3-grpcio")
			}
			w.same(filepath.Join(plugin, "vestibule.py"), python.SDK)
		},
	}
}

func missingFor(t *testing.T, variable, what string) {
	t.Helper()
	if os.Getenv(variable) == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// same wants the SDK of this tree in a file.
func (w *walker) same(file, sdk string) {
	w.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || string(text) != sdk {
		w.t.Errorf("%s is not the SDK of this tree: %v", file, err)
	}
}
