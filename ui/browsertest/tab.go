package browsertest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// How long a tab waits before the test fails. The machine may be busy with other
// test binaries.
const (
	evalTimeout = 30 * time.Second
	waitTimeout = 60 * time.Second
)

// A Tab is one page of the browser, with cookies of its own and what the page
// complains about. Its methods fail the test when the browser does not do what
// they ask for. A tab serves one goroutine.
type Tab struct {
	// T is the test that fails. A subtest that goes on with a tab sets it.
	T testing.TB
	// Ctx is for commands that have no method here.
	Ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// Open makes a tab of 1280 by 900 pixels in the light scheme, or skips the test by
// name where there is no browser. hear gets each event of the page and returns what
// is wrong with it; nil means [Complaints]. A complaint that nobody has forgiven
// when the test ends fails it.
func Open(t testing.TB, hear func(event any) []string) *Tab {
	t.Helper()
	if hear == nil {
		hear = Complaints
	}
	ctx, stop := newPage(t)
	b := &Tab{T: t, Ctx: ctx}
	t.Cleanup(func() {
		b.Quiet()
		stop()
	})
	b.Must(chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.complaints = append(b.complaints, hear(event)...)
	}))
	Call(b, runtime.Enable, cdp.Empty{})
	Call(b, log.Enable, cdp.Empty{})
	Call(b, page.Enable, page.EnableParams{})
	b.Script(`window.addEventListener('securitypolicyviolation', (e) =>
		console.error('CSP: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample))`)
	b.Size(1280, 900)
	b.Media("light")
	return b
}

// Complaints returns script errors, errors and warnings of the console, and
// violations of the content security policy. A failed request is none: faults of
// the host are what many tests are about.
func Complaints(event any) []string {
	var all []string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		all = append(all, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			for _, arg := range e.Args {
				all = append(all, string(arg.Value))
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			all = append(all, e.Entry.Text)
		}
	}
	return all
}

// Forgive returns the complaints so far, and forgets them.
func (b *Tab) Forgive() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.complaints
	b.complaints = nil
	return all
}

// Quiet fails the test when the page has complained.
func (b *Tab) Quiet() {
	b.T.Helper()
	for _, c := range b.Forgive() {
		b.T.Errorf("the page complains: %s", c)
	}
}

// Must ends the test when the browser has failed.
func (b *Tab) Must(err error) {
	b.T.Helper()
	if err != nil {
		b.T.Fatalf("browser: %v", err)
	}
}

// Call sends one command of the protocol.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) R {
	b.T.Helper()
	result, err := chromedp.Call(b.Ctx, command, params)
	b.Must(err)
	return result
}

// Eval returns the value of an expression, awaited when it is a promise.
func Eval[T any](b *Tab, expression string) T {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, evalTimeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.T.Fatalf("browser: %s: %v", expression, err)
	}
	return value
}

// Do runs actions one after the other.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, waitTimeout)
	defer cancel()
	b.Must(chromedp.Do(ctx, actions...))
}

// Script runs before the scripts of every page to come.
func (b *Tab) Script(source string) {
	b.T.Helper()
	Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
}

// Wait asks until the expression is true. It outlives a change of the page.
func (b *Tab) Wait(expression string) {
	b.T.Helper()
	var ok bool
	var err error
	ctx, cancel := context.WithTimeout(b.Ctx, waitTimeout)
	defer cancel()
	for ctx.Err() == nil {
		ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+expression+`)`))
		if ok && err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.T.Fatalf("waited for %s (%v)\n%s\n%s", expression, err,
		Eval[string](b, `location.href + '\n' + document.body.innerText.slice(0, 2000)`), strings.Join(b.Forgive(), "\n"))
}
