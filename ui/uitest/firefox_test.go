package uitest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// A fox is a tab of Firefox, driven by WebDriver BiDi (w3.org/TR/webdriver-bidi).
type fox struct {
	t       *testing.T
	conn    *websocket.Conn
	context string
	calls   int
}

// TestFirefoxScreens looks at the sign-in and the explorer in Firefox, as TestScreens does in Chromium: in both themes and
// languages axe finds nothing, and nothing scrolls sideways.
func TestFirefoxScreens(t *testing.T) {
	source := needAxe(t)
	program := needFirefox(t)
	r := newViews(t)
	for i, lang := range []string{"en", "de"} {
		theme := []string{"light", "dark"}[i]
		t.Run(lang+" "+theme, func(t *testing.T) {
			f := openFox(t, program, theme)
			query := "?lang=" + lang
			f.show(source, lang, theme, "sign-in", r.base+"/login"+query, `document.querySelector('#password')`)
			f.show(source, lang, theme, "forgot", r.base+"/login"+query+"#/forgot-password", `document.querySelector('h1')`)
			f.show(source, lang, theme, "404", r.base+"/nothing"+query, `document.querySelector('h1')`)
			f.signIn(r)
			f.show(source, lang, theme, "account", r.base+"/login"+query+"&account", `document.querySelector('main h2')`)
			for _, v := range views() {
				if v.act != nil {
					continue // those who act there are of Chromium
				}
				f.open(r, lang, i, v)
				f.look(source, lang, theme, "explorer-"+v.name)
			}
		})
	}
}

// needFirefox returns the program, or skips the test by name.
func needFirefox(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"firefox", "firefox-esr"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("REQUIRE_FIREFOX") != "" {
		t.Fatal("Firefox is missing: apt-get install firefox-esr")
	}
	t.Skipf("skipped %s: Firefox is missing (apt-get install firefox-esr)", t.Name())
	return ""
}

// openFox starts Firefox with a profile of its own.
func openFox(t *testing.T, program, theme string) *fox {
	t.Helper()
	profile := t.TempDir()
	dark := map[string]int{"dark": 1}[theme]
	prefs := fmt.Sprintf("user_pref('ui.systemUsesDarkTheme', %d);\nuser_pref('ui.prefersReducedMotion', 1);\n", dark)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0", "--remote-allow-origins=http://localhost")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &fox{t: t}
	t.Cleanup(func() {
		if f.conn != nil {
			f.call("browser.close", struct{}{}, nil)
			_ = f.conn.Close()
		}
		time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
	})
	address := ""
	for lines := bufio.NewScanner(said); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "WebDriver BiDi listening on ")
	}
	if f.conn, err = websocket.Dial(address+"/session", "", "http://localhost"); err != nil {
		t.Fatalf("connect to Firefox at %q: %v", address, err)
	}
	f.conn.MaxPayloadBytes = 64 << 20
	f.call("session.new", obj{"capabilities": obj{}}, nil)
	var tree struct{ Contexts []struct{ Context string } }
	f.call("browsingContext.getTree", struct{}{}, &tree)
	f.context = tree.Contexts[0].Context
	return f
}

// call sends a command and waits for its result.
func (f *fox) call(method string, params, result any) {
	f.t.Helper()
	f.calls++
	if err := websocket.JSON.Send(f.conn, obj{"id": f.calls, "method": method, "params": params}); err != nil {
		f.t.Fatalf("%s: %v", method, err)
	}
	_ = f.conn.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		var answer struct {
			ID             int
			Type           string
			Result         json.RawMessage
			Error, Message string
		}
		if err := websocket.JSON.Receive(f.conn, &answer); err != nil {
			f.t.Fatalf("%s: %v", method, err)
		}
		if answer.ID != f.calls {
			continue // an event
		}
		if answer.Type != "success" {
			f.t.Fatalf("%s: %s: %s", method, answer.Error, answer.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				f.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// eval puts what an expression is, or what its promise gives, into out by way of JSON.
func (f *fox) eval(expression string, out any) {
	f.t.Helper()
	var answer struct {
		Type      string
		Result    struct{ Value string }
		Exception struct{ Text string } `json:"exceptionDetails"`
	}
	f.call("script.evaluate", obj{
		"expression": "(async () => JSON.stringify((await (" + expression + ")) ?? null))()",
		"target":     obj{"context": f.context}, "awaitPromise": true,
	}, &answer)
	if answer.Type != "success" {
		f.t.Fatalf("%.200s: %s", expression, answer.Exception.Text)
	}
	if err := json.Unmarshal([]byte(answer.Result.Value), out); err != nil {
		f.t.Fatalf("%.200s: %q: %v", expression, answer.Result.Value, err)
	}
}

// wait waits until an expression is true.
func (f *fox) wait(expression string) {
	f.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var there bool
		f.eval("!!("+expression+")", &there)
		if there {
			return
		}
		if time.Now().After(end) {
			var page string
			f.eval("document.body.innerText", &page)
			f.t.Fatalf("waited for %s\n%.400s", expression, page)
		}
	}
}

func (f *fox) visit(address string) {
	f.t.Helper()
	f.call("browsingContext.navigate", obj{"context": f.context, "url": address, "wait": "complete"}, nil)
}

// show opens an address and looks at it.
func (f *fox) show(axe, lang, theme, name, address, until string) {
	f.t.Helper()
	f.visit(address)
	f.wait(until)
	f.look(axe, lang, theme, name)
}

// signIn signs in at the page that is opened.
func (f *fox) signIn(r *real) {
	f.t.Helper()
	f.visit(r.base + "/login?redirect=/odata/")
	f.wait(`document.querySelector('#password')`)
	var done bool
	f.eval(fmt.Sprintf(`(() => {
		for (const [id, value] of [['login', %q], ['password', %q]]) {
			const field = document.getElementById(id);
			field.value = value;
			field.dispatchEvent(new Event('input', { bubbles: true }));
		}
		document.querySelector('main form').requestSubmit();
		return true;
	})()`, person, password), &done)
	f.wait(`!location.pathname.startsWith('/login')`)
}

// open opens a view of the explorer.
func (f *fox) open(r *real, lang string, i int, v view) {
	f.t.Helper()
	f.visit(r.base + "/odata/?lang=" + lang + "&view=" + v.name + v.hash)
	f.wait(`document.querySelector('main h1') && document.querySelector('.waiting')?.textContent === ''`)
	if words := v.press[i]; words != "" {
		button := fmt.Sprintf(`[...document.querySelectorAll('main button')].find((x) => x.textContent === %q)`, words)
		f.wait(button)
		var done bool
		f.eval(button+`.click() ?? true`, &done)
	}
	f.wait(v.until)
}

// look asks axe at the widest and the narrowest page, or with SCREENS_DIR at three widths, of which it takes pictures.
func (f *fox) look(axe, lang, theme, name string) {
	f.t.Helper()
	widths := []int{1280, 300}
	if os.Getenv("SCREENS_DIR") != "" {
		widths = []int{1280, 390, 300}
	}
	for _, width := range widths {
		state := fmt.Sprintf("firefox-%s.%s.%s.%d", name, lang, theme, width)
		f.call("browsingContext.setViewport", obj{"context": f.context, "viewport": obj{"width": width, "height": 900}}, nil)
		f.wait(fmt.Sprintf(`innerWidth === %d && document.getAnimations().every((a) => a.playState !== 'running')`, width))
		axeTally.runs.Add(1)
		var ready bool
		f.eval(`typeof window.axe === 'object'`, &ready)
		if !ready {
			f.call("script.evaluate", obj{"expression": axe + ";null", "target": obj{"context": f.context}, "awaitPromise": false}, nil)
		}
		var found []violation
		f.eval(`axe.run(document, { runOnly: `+wholeAxe+`, rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] })
			.then(({ violations }) => violations.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html.slice(0, 160)) })))`, &found)
		axeTally.violations.Add(int64(len(found)))
		for _, v := range found {
			f.t.Errorf("%s: axe: %s (%s)\n%v", state, v.ID, v.Help, v.Nodes)
		}
		var page struct {
			Lang        string
			Wide, Inner int
			Broken      bool
		}
		f.eval(`({ Lang: document.documentElement.lang, Wide: document.documentElement.scrollWidth, Inner: innerWidth, Broken: document.querySelector('header button')?.offsetHeight > 40 })`, &page)
		if page.Lang != lang || page.Wide > page.Inner {
			f.t.Errorf("%s: language %q, %d pixels wide in a window of %d", state, page.Lang, page.Wide, page.Inner)
		}
		if page.Broken {
			f.t.Errorf("%s: the button of the header has two lines", state)
		}
		f.picture(state)
	}
}

func (f *fox) picture(name string) {
	f.t.Helper()
	dir := os.Getenv("SCREENS_DIR")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	f.call("browsingContext.captureScreenshot", obj{"context": f.context}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}
