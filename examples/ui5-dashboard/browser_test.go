package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

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

// browser starts a Chromium for one test, or skips the test by name where there
// is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := chromium()
	if err != nil {
		if os.Getenv("REQUIRE_UI5") != "" {
			t.Fatalf("browser required: %v", err)
		}
		t.Skipf("skipped %s: %v", t.Name(), err)
	}
	dir, err := os.MkdirTemp("", "ui5-")
	if err != nil {
		t.Fatal(err)
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(90*time.Second),
	)
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		stop()
		stopAlloc()
		_ = os.RemoveAll(dir)
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// tab is one page of the browser with cookies of its own, and what it complains
// about: errors on the console, and requests that failed.
type tab struct {
	t    *testing.T
	ctx  context.Context
	site *site

	mu         sync.Mutex
	complaints []string
	batches    []string // bodies of $batch requests
	asked      []string // URLs of all requests to the service
}

// look is what the system of a reader asks for.
type look struct {
	name          string
	language      string
	scheme        string
	more          string // a further media feature, "name: value"
	width, height int64
}

func open(t *testing.T, browser context.Context, s *site, l look) *tab { //nolint:revive // a test names itself first
	t.Helper()
	ctx, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, site: s}
	b.must(chromedp.Listen(ctx, b.listen))
	call(b, runtime.Enable, cdp.Empty{})
	call(b, log.Enable, cdp.Empty{})
	call(b, page.Enable, page.EnableParams{})
	call(b, network.Enable, network.EnableParams{})
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: helpers})
	b.see(l)
	t.Cleanup(func() {
		if t.Failed() {
			b.picture("failed." + strings.ReplaceAll(t.Name(), "/", "."))
		}
		b.quiet()
		stop()
	})
	return b
}

// see sets language, theme and size.
func (b *tab) see(l look) {
	b.t.Helper()
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: l.scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}
	if name, value, ok := strings.Cut(l.more, ": "); ok {
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: l.height, DeviceScaleFactor: 1})
	call(b, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: eval[string](b, `navigator.userAgent`), AcceptLanguage: l.language,
	})
}

func (b *tab) complain(format string, args ...any) {
	b.complaints = append(b.complaints, fmt.Sprintf(format, args...))
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complain("exception: %s", e.ExceptionDetails.Text)
		if e.ExceptionDetails.Exception != nil {
			b.complain("%s", e.ExceptionDetails.Exception.Description)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			for _, arg := range e.Args {
				b.complain("console: %s", arg.Value)
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.complain("browser: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if strings.Contains(e.Request.URL, "/odata/") && e.Request.Method != "HEAD" { // UI5 asks for a token with it
			b.asked = append(b.asked, e.Request.URL)
			for _, part := range e.Request.PostDataEntries {
				b.batches = append(b.batches, string(part.Bytes))
			}
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			b.complain("answer: %d %s", e.Response.Status, e.Response.URL)
		}
	case *network.EventLoadingFailed:
		if !e.Canceled && e.ErrorText != "net::ERR_ABORTED" {
			b.complain("request failed: %s", e.ErrorText)
		}
	}
}

// forgive returns the complaints so far, and forgets them.
func (b *tab) forgive() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.complaints
	b.complaints = nil
	return all
}

// quiet fails the test when the page has complained.
func (b *tab) quiet() {
	b.t.Helper()
	for _, c := range b.forgive() {
		b.t.Errorf("the page complains: %s", c)
	}
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
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("browser: %s: %v", expression, err)
	}
	return value
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 60*time.Second)
	defer cancel()
	b.must(chromedp.Do(ctx, actions...))
}

// wait asks until the expression is true. It outlives a change of the page.
func (b *tab) wait(expression string) {
	b.t.Helper()
	var ok bool
	var err error
	ctx, cancel := context.WithTimeout(b.ctx, 60*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+expression+`)`))
		if ok && err == nil {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
	b.t.Fatalf("waited for %s (%v)\n%s\n%s", expression, err,
		eval[string](b, `location.href + '\n' + document.body.innerText.slice(0, 800)`), strings.Join(b.forgive(), "\n"))
}

// picture writes a screenshot into $SCREENS_DIR, where that is set.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENS_DIR")
	if dir == "" {
		return
	}
	b.must(os.MkdirAll(dir, 0o755))
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	b.must(err)
	b.must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
