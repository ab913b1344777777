package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A learner does what docs/tutorial.md says, in its order.
type learner struct {
	*walker
	// home is the folder within dir that the files of the page belong into.
	home string
	// folder is where the commands of the next block begin.
	folder string
	// app is where the application is to listen.
	app string
	// client is the browser; nil before its first use.
	client *http.Client
	// ran is the number of commands of the page that were run.
	ran int
}

// newLearner returns a learner in an empty folder, who says at the end how many commands of a page were run.
func newLearner(t *testing.T, page string, env []string) *learner {
	t.Helper()
	l := &learner{walker: &walker{t: t, dir: t.TempDir(), env: env}, app: freeAddress(t)}
	l.folder = l.dir
	t.Cleanup(func() { saysRan(t, page, l.ran) })
	return l
}

// saysRan logs the line from which .ci/summary takes the sum for `.ci/run`.
func saysRan(t *testing.T, page string, commands int) {
	t.Helper()
	if commands > 0 {
		t.Logf("ran %d commands of %s", commands, page)
	}
}

// commandsIn returns the number of commands in a script: its lines, without comments, with
// those that a backslash or a quotation continues.
func commandsIn(script string) int {
	n, quote, continued := 0, rune(0), false
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if !continued && line != "" && line[0] != '#' {
			n++
		}
		before := ' '
		for _, r := range line {
			switch {
			case quote == 0 && r == '#' && before == ' ':
				line = "" // the rest is a comment
			case quote == 0 && (r == '"' || r == '\''):
				quote = r
			case r == quote:
				quote = 0
			}
			if line == "" {
				break
			}
			before = r
		}
		continued = quote != 0 || strings.HasSuffix(line, `\`)
	}
	return n
}

func TestCommandsIn(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"": 0, "# no command, it's none\n\n": 0, "a\nb # isn't one\nc": 3, "a \\\n  b\nc\n": 2,
		"a \"b\nit's c;\nd\"\ne 'f\n\"g'\n": 2, "a && b\n": 1, "a # b \\\nc": 2,
	} {
		if got := commandsIn(script); got != want {
			t.Errorf("%q has %d commands, want %d", script, got, want)
		}
	}
}

// tutorial follows docs/tutorial.md in an empty folder, with nothing of this tree but
// the page and the installed command.
func tutorial(t *testing.T, env []string, bin string) {
	for _, program := range []string{"sqlite3", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			missingFor(t, "REQUIRE_TUTORIAL", "no "+program)
		}
	}
	text, err := os.ReadFile("../../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	l := newLearner(t, "docs/tutorial.md", append(env[:len(env):len(env)], "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+t.TempDir()))
	l.home = "tasks"
	step := func(from, to string) {
		_, part, ok := strings.Cut(string(text), from)
		part, _, ok2 := strings.Cut(part, to)
		if !ok || !ok2 {
			t.Fatalf("the tutorial has nothing from %q to %q", from, to)
		}
		_, port, _ := strings.Cut(l.app, ":")
		l.follow(strings.NewReplacer("127.0.0.1:3000", l.app, "listen(3000", "listen("+port).Replace(part))
	}

	step("## 1. ", "## 2. ")
	step("## 2. ", "## 3. ")
	l.applications(map[string]string{"go": "app/main.go", "node": "app/main.mjs"})
	step("## 3. ", "## 4. ")
	l.host(func(get func(string) (int, string, string), _ func(string, string) string) {
		if status, body, _ := get("/tasks/"); status != 200 || !strings.Contains(body, "Tasks of Ada") {
			t.Errorf("/tasks/ is %d %s", status, body)
		}
		if status, body, _ := get("/odata/Tasks?$orderby=id"); status != 200 || strings.Count(body, `"title"`) != 2 || strings.Contains(body, "Bob") {
			t.Errorf("/odata/Tasks is %d %s, want the two of Ada", status, body)
		}
		if status, body, _ := get("/odata/Tasks(3)"); status != 404 {
			t.Errorf("Bob's task is %d %s", status, body)
		}
	})
	step("## 4. ", "Stop the host")
	l.serve(l.home, nil, func(base string) {
		get, post := l.browse(base)
		if status, body, where := get("/tasks/"); status != 200 || !strings.Contains(body, "Tasks of Ada") {
			t.Errorf("who has signed in before there was a step gets %d %s %s", status, where, body)
		}
		step("Stop the host", "## What next")
		if status, _, where := get("/tasks/"); status != 302 || where != "/login" {
			t.Errorf("after all sessions were ended /tasks/ is %d %s", status, where)
		}
		l.enter(base)
		for _, path := range []string{"/tasks/", "/tasks", "/tasks/list.js", "/tasks/../tasks/", "/tasks/rules", "/rules/../tasks/"} {
			if status, body, where := get(path); status == 200 || status == 302 && where != "/login" && where != "/rules" {
				t.Errorf("before the rules are accepted %s is %d %s %s", path, status, where, body)
			}
		}
		if status, body, _ := get("/odata/Tasks"); status != 403 {
			t.Errorf("before the rules are accepted /odata/Tasks is %d %s", status, body)
		}
		if status, body, _ := get("/rules"); status != 200 || !strings.Contains(body, "I accept") {
			t.Errorf("/rules is %d %s", status, body)
		}
		if next := post("/auth/intents/redirect", `{"accept":true}`); next != "redirect /tasks/" {
			t.Errorf("accepting leads to %q", next)
		}
		if status, body, _ := get("/tasks/"); status != 200 || !strings.Contains(body, "Tasks of Ada") {
			t.Errorf("after the rules were accepted /tasks/ is %d %s", status, body)
		}
	})
}

// follow runs the commands, and saves the files, of a part of the page.
func (l *learner) follow(text string) {
	l.t.Helper()
	block := regexp.MustCompile("(?s)(?:((?:[^\n]+\n)+)\n)?```(\\w+)\n(.*?)```")
	named := regexp.MustCompile("(?i)(save|append) (?:this|it) (?:as|to) `([^`]+)`")
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		before, lang, body := m[1], m[2], m[3]
		if lang == "sh" {
			l.shell(body)
			continue
		}
		before = strings.ReplaceAll(before, "\n", " ")
		if strings.Contains(before, "Put this into") { // a part of a file that is there
			l.check(os.WriteFile(filepath.Join(l.dir, "part"), []byte("<?"+lang+"\n"+body), 0o644))
			l.run("", lang, "-l", "part")
			continue
		}
		how := named.FindAllStringSubmatch(before, -1)
		if how == nil {
			l.t.Fatalf("the page does not say where this belongs:\n%s", body)
		}
		verb, name := how[len(how)-1][1], how[len(how)-1][2]
		file := filepath.Join(l.dir, l.home, name)
		l.check(os.MkdirAll(filepath.Dir(file), 0o755))
		if strings.EqualFold(verb, "append") {
			l.append(filepath.Join(l.home, name), "\n"+body)
			continue
		}
		l.check(os.WriteFile(file, []byte(body), 0o644))
	}
}

// shell runs the commands of a block, but for the installation, which was done, and for
// those that want a terminal or do not end.
func (l *learner) shell(block string) {
	l.t.Helper()
	block = regexp.MustCompile(`(?m)^(go install .*|vestibule serve.*)$`).ReplaceAllString(block, "")
	block = regexp.MustCompile(`(?m)^(vestibule user add .*?)( +#.*)?$`).ReplaceAllString(block, "echo analytical-engine-1843 | $1 --password-stdin")
	block = regexp.MustCompile(`(?m)^(.* && .*)$`).ReplaceAllString(block, "$1 || exit") // which -e does not see
	place := filepath.Join(l.dir, "place")
	cmd := l.command("", "sh", "-e", "-c", "cd "+l.folder+"\n"+block+"\npwd > "+place)
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("%s%v\n%s", block, err, out)
	}
	l.ran += commandsIn(block)
	folder, err := os.ReadFile(place)
	l.check(err)
	l.folder = strings.TrimSpace(string(folder))
}

// applications runs each of the applications, and leaves the last one running.
func (l *learner) applications(files map[string]string) {
	l.t.Helper()
	for _, program := range []string{"node", "go"} {
		cmd := l.command("tasks", program, files[program])
		if program == "go" {
			l.run("tasks", "go", "build", "-o", "tasks", files[program])
			cmd = l.command("tasks", "./tasks")
		}
		var log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &log, &log
		l.check(cmd.Start())
		stop := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
		if status, body := l.page(); status != 200 || !strings.Contains(body, "Tasks of &#38;Ada") && !strings.Contains(body, "Tasks of &amp;Ada") {
			stop()
			l.t.Fatalf("the application in %s answers %d %s\n%s", program, status, body, &log)
		}
		if program == "go" {
			l.t.Cleanup(stop)
			return
		}
		stop()
	}
}

// page asks the application itself, as the host will, until it listens.
func (l *learner) page() (int, string) {
	for range 100 {
		req, err := http.NewRequest("GET", "http://"+l.app+"/tasks/", http.NoBody)
		l.check(err)
		req.Header.Set("X-Vestibule-Name", "&Ada")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			defer func() { _ = resp.Body.Close() }()
			body, _ := io.ReadAll(resp.Body)
			return resp.StatusCode, string(body)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return 0, ""
}

// host serves, signs Ada in, and hands over what a page and a post of hers give.
func (l *learner) host(visit func(get func(string) (int, string, string), post func(string, string) string)) {
	l.serve(l.home, nil, func(base string) {
		l.enter(base)
		visit(l.browse(base))
	})
}

// browser is Ada's, which keeps its cookies from one host to the next.
func (l *learner) browser() *http.Client {
	if l.client == nil {
		jar, err := cookiejar.New(nil)
		l.check(err)
		l.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return l.client
}

// enter signs Ada in at a host.
func (l *learner) enter(base string) {
	l.t.Helper()
	if first := post(l.t, l.browser(), base+"/auth/login", `{"login": "ada@example.com", "password": "analytical-engine-1843"}`); !strings.HasPrefix(first, "redirect /") {
		l.t.Errorf("the sign-in leads to %q", first)
	}
}

// browse returns what a page, and a post, of Ada's give at a host.
func (l *learner) browse(base string) (get func(string) (int, string, string), send func(string, string) string) {
	get = func(path string) (int, string, string) {
		req, err := http.NewRequest("GET", base+path, http.NoBody)
		l.check(err)
		if !strings.HasPrefix(path, "/odata/") {
			req.Header.Set("Accept", "text/html")
		}
		resp, err := l.browser().Do(req)
		l.check(err)
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body), resp.Header.Get("Location")
	}
	return get, func(path, body string) string { return post(l.t, l.browser(), base+path, body) }
}
