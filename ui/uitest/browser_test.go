package uitest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is the one Chromium of this test run, started by the first test
// that needs it.
type browser struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

var chrome browser

func TestMain(m *testing.M) {
	code := m.Run()
	if runs := axeTally.runs.Load(); runs > 0 {
		line := fmt.Sprintf("axe-core: %d runs, %d violations\n", runs, axeTally.violations.Load())
		fmt.Print(line)
		if dir := os.Getenv("SCREENS_DIR"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, "axe.txt"), []byte(line), 0o644)
		}
	}
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	if chrome.stop != nil {
		chrome.stop()
	}
	os.Exit(code)
}

// chromium finds the program: $CHROMIUM, or the names that distributions use.
func chromium() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium in PATH: install the package chromium, or set CHROMIUM")
}

func (c *browser) start() {
	path, err := chromium()
	if err != nil {
		c.err = err
		return
	}
	dir, err := os.MkdirTemp("", "uitest-")
	if err != nil {
		c.err = err
		return
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(90*time.Second),
	)
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(alloc)
	c.err = chromedp.Do(ctx)
	c.ctx = ctx
	c.stop = func() {
		stop()
		stopAlloc()
		_ = os.RemoveAll(dir)
	}
}

// tab is one page of the browser, with what it complains about.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// open makes a tab, or skips the test by name where there is no browser.
func open(t *testing.T) *tab {
	t.Helper()
	chrome.once.Do(chrome.start)
	if chrome.err != nil {
		if os.Getenv("REQUIRE_BROWSER") != "" {
			t.Fatalf("browser required: %v", chrome.err)
		}
		t.Skipf("skipped %s: %v", t.Name(), chrome.err)
	}
	ctx, stop := chromedp.NewContext(chrome.ctx)
	b := &tab{t: t, ctx: ctx}
	b.must(chromedp.Listen(ctx, b.listen))
	call(b, runtime.Enable, cdp.Empty{})
	call(b, log.Enable, cdp.Empty{})
	call(b, page.Enable, page.EnableParams{})
	b.script(`window.addEventListener('securitypolicyviolation', (e) =>
		console.error('CSP: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample))`)
	b.size(1280, 900)
	b.media("light")
	t.Cleanup(func() {
		b.quiet()
		stop()
	})
	return b
}

// listen keeps script errors, error messages and violations. A failed request
// is no complaint: faults of the host are what many tests are about.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.complaints = append(b.complaints, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			for _, arg := range e.Args {
				b.complaints = append(b.complaints, string(arg.Value))
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	}
}

// quiet fails the test when the page has complained.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the page complains: %s", c)
	}
	b.complaints = nil
}

func (b *tab) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// call sends one command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	b.must(err)
	return result
}

// eval returns the value of an expression, awaited when it is a promise.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("browser: %s: %v", expression, err)
	}
	return value
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	b.must(chromedp.Do(ctx, actions...))
}

// script runs before the scripts of every page to come.
func (b *tab) script(source string) {
	b.t.Helper()
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
}

func (b *tab) size(width, height int64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// media sets the colour scheme and further "name: value" features; motion is
// off, so that pictures are alike.
func (b *tab) media(scheme string, more ...string) {
	b.t.Helper()
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}
	for _, m := range more {
		name, value, _ := strings.Cut(m, ": ")
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// visit loads a page from nothing, so that a changed fragment is a new page.
func (b *tab) visit(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url))
}

// text returns the visible text of the first match.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ''`, selector))
}

// wait asks until the expression is true. It outlives a change of the page.
func (b *tab) wait(expression string) {
	b.t.Helper()
	var ok bool
	var err error
	ctx, cancel := context.WithTimeout(b.ctx, 40*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
		ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+expression+`)`))
		if ok && err == nil {
			return
		}
	}
	b.t.Fatalf("waited for %s (%v)\n%s", expression, err, eval[string](b, `location.href + '\n' + document.body.innerText`))
}

// see waits for words on the page.
func (b *tab) see(words string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.body.innerText.includes(%q)`, words))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// fill types a value over what a field holds.
func (b *tab) fill(selector, value string) {
	b.t.Helper()
	eval[any](b, fmt.Sprintf(`document.querySelector(%q).select(); null`, selector))
	b.do(chromedp.SendKeys(chromedp.CSS(selector), value))
}

// choose picks a value of a select.
func (b *tab) choose(selector, value string) {
	b.t.Helper()
	eval[any](b, fmt.Sprintf(`document.querySelector(%q).value = %q; null`, selector, value))
}

// picture writes what is seen to SCREENS_DIR, when that is set.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENS_DIR")
	if dir == "" {
		return
	}
	// The window is made as tall as the page: what is fixed to it covers all of it.
	width, height := eval[int64](b, `innerWidth`), eval[int64](b, `Math.max(innerHeight, document.documentElement.scrollHeight)`)
	b.size(width, height)
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	b.must(err)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
