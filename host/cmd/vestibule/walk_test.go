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

// newWalker returns a stranger with an empty home directory. bin holds the installed command.
func newWalker(t *testing.T, env []string, bin string) *walker {
	t.Helper()
	w := &walker{t, t.TempDir(), env}
	tools := t.TempDir()
	if python := pythonWithGRPC(); python != "" {
		w.check(os.Symlink(python, filepath.Join(tools, "python3")))
	}
	w.env = append(w.env[:len(w.env):len(w.env)], "PATH="+tools+":"+bin+":"+os.Getenv("PATH"), "HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	w.run("", "vestibule", "init")
	return w
}

// walk takes a stranger from nothing to a plugin that decides over a sign-in, and then to
// a second one beside it, which another stranger has written in another language, by the
// commands that docs/plugins.md shows.
func walk(t *testing.T, env []string, bin, lang string) {
	began, used := time.Now(), childrenTime()
	w := newWalker(t, env, bin)
	block := w.writes("hello", lang, "dispenser", "org_setup")
	program := regexp.MustCompile(`command += \["([^"]+)"`).FindStringSubmatch(block)
	sum := checksumOf(block)
	if program == nil || sum == "" || strings.TrimSpace(w.run("", "vestibule", "plugin", "sum", program[1])) != sum {
		t.Fatalf("the block has not the checksum that plugin sum prints:\n%s", block)
	}
	block = withConfig(block, `domain = "partner.example"`)
	w.append("config.hcl", block)
	if lang == "go" {
		w.pageSays("vestibule plugin list", "cd ..\nvestibule check\nvestibule serve\nvestibule plugin list\n") // as is done below
		w.pageSays(`plugin "hello"`, strings.Replace(block, sum, "655908bbdd99…", 1))
		w.publishes()
	}
	w.run("", "vestibule", "check")
	w.run("", "sh", "-c", "echo analytical-engine-1843 | vestibule user add --email ada@partner.example --name Ada --password-stdin")
	w.signIn("redirect /partners", `hello +ready .* dispenser,org_setup +0\.1\.0 +0 +3 `)
	t.Logf("from nothing to a sign-in that a plugin in %s decides: %v, of which processor %v", lang,
		time.Since(began).Round(100*time.Millisecond), (childrenTime() - used).Round(100*time.Millisecond))
	t.Run("and one that signs people in", func(t *testing.T) { newWalker(t, env, bin).identifies(lang) })
	t.Run("and one that judges changes", func(t *testing.T) { newWalker(t, env, bin).judges(lang) })
	other := map[string]string{"go": "python", "python": "node", "node": "go"}[lang]
	t.Run("and puts one in "+other+" beside it", func(t *testing.T) {
		w.t = t
		w.takes(newWalker(t, env, bin), other)
	})
}

// writes makes a plugin, does what the command says comes next, and returns the block with
// which the check ends.
func (w *walker) writes(name, lang string, roles ...string) string {
	w.t.Helper()
	command := []string{"vestibule", "plugin", "new", name, "--lang", lang}
	for _, role := range roles {
		command = append(command, "--role", role)
	}
	_, steps, _ := strings.Cut(w.run("", command...), "\n\n  cd "+name+"\n")
	walks()[lang](w, filepath.Join(w.dir, name))
	if page := map[string]string{"hello": "go", "members": "python"}; page[name] == lang {
		first := strings.Join(command, " ") + "\ncd " + name + "\n"
		if name == "hello" {
			first = "vestibule init\n" + first
		}
		w.pageSays("vestibule plugin new "+name, first+steps)
	}
	checked := ""
	for step := range strings.Lines(steps) {
		if step = strings.TrimSpace(step); step != "npm install" { // which needs the network
			checked = w.run(name, "sh", "-c", step)
		}
	}
	return w.block(checked)
}

// identifies writes an identity provider, and begins a sign-in at it by hand.
func (w *walker) identifies(lang string) {
	w.t.Helper()
	block := w.writes("door", lang, "identity_provider")
	if !strings.Contains(block, `identity "door" { plugin = "door" }`) {
		w.t.Errorf("the block does not name the identity:\n%s", block)
	}
	w.append("config.hcl", block)
	w.check(os.WriteFile(filepath.Join(w.dir, "begin.json"), []byte(`{"begin": {"state": "s1"}}`), 0o600))
	if begun := w.run("", "vestibule", "plugin", "call", "door", "begin.json"); !strings.Contains(begun, `"url": "https://id.example.com/authorize?`) {
		w.t.Errorf("the new identity provider begins with %s", begun)
	}
}

// judges writes a validator, and asks it about a change by hand.
func (w *walker) judges(lang string) {
	w.t.Helper()
	block := w.writes("prices", lang, "validator")
	if !strings.Contains(block, `validator = "prices"`) {
		w.t.Errorf("the block does not name the set's line:\n%s", block)
	}
	w.append("config.hcl", block)
	w.check(os.WriteFile(filepath.Join(w.dir, "change.json"), []byte(`{"changes": [{"set": "Products", "kind": "create", "key": "$1", "new": {"price": -1}}]}`), 0o600))
	if verdict := w.run("", "vestibule", "plugin", "call", "prices", "change.json"); !strings.Contains(verdict, `"message": "A price cannot be negative."`) {
		w.t.Errorf("the new validator answers %s", verdict)
	}
}

// block returns the block with which a check of a plugin ends.
func (w *walker) block(checked string) string {
	w.t.Helper()
	_, block, ok := strings.Cut(checked, "vestibule serve`:\n\n")
	if !ok || strings.Contains(checked, "FAIL") {
		w.t.Fatalf("plugin check does not end with a block:\n%s", checked)
	}
	return block
}

func withConfig(block, config string) string {
	return strings.TrimSuffix(block, "}\n") + "  config {\n    " + config + "\n  }\n}\n"
}

func checksumOf(block string) string {
	if sum := regexp.MustCompile(`sha256 += "([0-9a-f]{64})"`).FindStringSubmatch(block); sum != nil {
		return sum[1]
	}
	return ""
}

// takes puts the plugin of another author beside the one that is there.
func (w *walker) takes(author *walker, lang string) {
	w.t.Helper()
	published := map[string]string{"go": "members/members", "node": "members/plugin.js", "python": "members/plugin.py"}[lang]
	offered := author.writes("members", lang, "dispenser")
	if lang == "go" { // the program alone
		w.check(os.Mkdir(filepath.Join(w.dir, "members"), 0o755))
		w.run("", "cp", filepath.Join(author.dir, published), published)
	} else {
		w.run("", "cp", "-R", filepath.Join(author.dir, "members"), "members")
	}
	block := w.block(w.run("", "vestibule", "plugin", "check", published))
	if checksumOf(block) == "" || checksumOf(block) != checksumOf(offered) {
		w.t.Errorf("who takes the plugin has another checksum than its author:\n%s\n%s", block, offered)
	}
	block = withConfig(block, "domain = \"partner.example\"\n    page   = \"/members\"")
	w.append("config.hcl", block)

	// Without an order the check names the one that it needs.
	const order = `dispensers = ["hello", "members"]`
	if out, err := w.command("", "vestibule", "check").CombinedOutput(); err == nil || !strings.Contains(string(out), "add "+order+" to auth") {
		w.t.Errorf("check without an order says %v:\n%s", err, out)
	}
	w.replace("config.hcl", `# dispensers     = []`, order)
	w.run("", "vestibule", "check")
	if lang == "python" {
		w.pageSays("vestibule plugin check members/plugin.py", "vestibule plugin check members/plugin.py\n")
		sums := regexp.MustCompile(`"[0-9a-f]{64}"`)
		w.pageSays(`plugin "members"`, sums.ReplaceAllString("auth {\n  "+order+"\n}\n"+block, `"…"`))
	}
	hello, members := `hello +ready .* dispenser,org_setup +0\.1\.0 +0 .*`, `members +ready .* dispenser +0\.1\.0 +0 .*`
	w.signIn("redirect /partners", "(?s)"+hello+members)
	w.signIn("redirect /members", "(?s)"+members+hello, `auth.dispensers=["members", "hello"]`)
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

// replace puts a text into a file where another one is.
func (w *walker) replace(name, from, to string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	text, err := os.ReadFile(file)
	w.check(err)
	if !strings.Contains(string(text), from) {
		w.t.Fatalf("%s has no %s", name, from)
	}
	w.check(os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600))
}

// signIn serves, and has Ada go through what the plugins ask for, to an end. The plugins
// of the host match list.
func (w *walker) signIn(end, list string, settings ...string) {
	w.t.Helper()
	admin := freeAddress(w.t)
	w.serve("", append(settings, "server.admin_address="+admin), func(base string) { w.visit(base, admin, end, list) })
}

// visit goes through the steps, and asks the admin address for the plugins.
func (w *walker) visit(base, admin, end, list string) {
	t := w.t
	t.Helper()
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	first := post(t, client, base+"/auth/login", `{"login": "ada@partner.example", "password": "analytical-engine-1843"}`)
	second := post(t, client, base+"/auth/intents/org-setup",
		`{"legal_form": 2, "org_name": "Analytical Engines", "company_size": "small", "function": "developer", "marketing_consent": false}`)
	if first != "org_setup " || second != end {
		t.Errorf("the sign-in went over %q to %q, want the organisation and %q", first, second, end)
	}
	if out := w.run("", "vestibule", "plugin", "list", "--set", "server.admin_address="+admin); !regexp.MustCompile(list).MatchString(out) {
		t.Errorf("plugin list says\n%s", out)
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

// walks returns the languages, each with a function that does for a plugin what a stranger gets from the network.
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
