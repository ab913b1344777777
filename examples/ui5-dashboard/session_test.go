package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/vestibule-dev/vestibule/v2/examples/shop/seed"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// ten asks the service ten times at once, in both ways in which a script can ask.
const ten = `for (let i = 0; i < 5; i++) {
	fetch('/odata/Products?$top=1');
	const request = new XMLHttpRequest();
	request.open('GET', '/odata/Orders?$top=1');
	request.send();
}
null`

// one asks once, and waits for the answer.
const one = `fetch('/odata/Orders').then(() => null)`

// pending makes the application's model have something that is not saved.
const pending = `(() => {
	const model = sap.ui.require('sap/ui/core/Component').getComponentById('fernweh-dashboard').getModel();
	model.bindList('/Products', undefined, [], [], { $$updateGroupId: 'later' }).create({ name: 'New' }, true).created().catch(() => {});
	return model.hasPendingChanges();
})()`

// unhandled tells whether the browser reports a promise of fetch that is rejected, and that nobody handles.
const unhandled = `new Promise((resolve) => {
	addEventListener('unhandledrejection', (event) => {
		event.preventDefault();
		resolve(true);
	}, { once: true });
	setTimeout(resolve, 5000, false);
	fetch('/odata/Orders', { signal: AbortSignal.abort() });
})`

// noBoxes lets the module that shows boxes fail to load, as when the session has ended before, and says OK to the
// browser's own.
const noBoxes = `(() => {
	const plain = sap.ui.require;
	sap.ui.require = Object.assign((names, found, failed) => names[0] === 'sap/m/MessageBox' ? failed(new Error('401')) : plain(names, found, failed), plain);
	window.confirm = (text) => {
		sessionStorage.setItem('asked', text);
		return true;
	};
	return null;
})()`

// session sees what the host's helper does for the application: one way to the sign-in, whatever is refused, and back to
// the same place; not before somebody who has typed something agrees; and faults in the language of the reader.
func session(t *testing.T, s *site) {
	b := open(t, s, desk)
	b.intercepts()
	b.Script(`window.requestIdleCallback = () => {}`) // what shows boxes is not loaded in advance
	b.visit("?page=3#/products/77")
	b.shows("77")
	if !browsertest.Eval[bool](b.Tab, unhandled) {
		t.Error("nobody hears of a fetch that failed and that the application forgot")
	}
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(foreign.Close)
	if got := browsertest.Eval[int](b.Tab, `fetch('`+foreign.URL+`').then((answer) => answer.status)`); got != 401 {
		t.Errorf("another site answered %d", got)
	}
	b.went(0, 0)

	browsertest.Call(b.Tab, network.ClearBrowserCookies, cdp.Empty{})
	b.calledOff()
	// In the browser's own box, which alone is left, OK leads to the sign-in.
	browsertest.Eval[any](b.Tab, noBoxes)
	if !browsertest.Eval[bool](b.Tab, pending) {
		t.Fatal("nothing is pending")
	}
	browsertest.Eval[any](b.Tab, ten)
	b.Wait(`location.pathname === '/login'`)
	b.went(2, 2)
	if got := browsertest.Eval[string](b.Tab, `sessionStorage.getItem('asked')`); !strings.HasSuffix(got, "\n\nLeave and sign in?") {
		t.Errorf("the browser's box asked %q", got)
	}
	b.signIn()
	b.Wait(`location.search === '?page=3' && location.hash === '#/products/77'`)
	b.shows("77")
	if !browsertest.Eval[bool](b.Tab, `sap.ui.require('vestibule/leaving').goesInCircles()`) {
		t.Error("the sign-in has made it forget how often the page was left")
	}
	b.Forgive()

	b.unsaved()
	b.faults()
	b.another()
	b.Forgive()
}

// calledOff asks for the sign-in, which leaves the page where it is, and lets the time pass after which nobody is still
// under way.
func (b *tab) calledOff() {
	b.T.Helper()
	done := make(chan struct{})
	b.paused("*/login?*", func(id fetch.RequestID) {
		_, _ = chromedp.Call(b.Ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: id, ResponseCode: http.StatusNoContent})
		close(done)
	})
	browsertest.Eval[any](b.Tab, one) // of which no answer comes late
	select {
	case <-done:
	case <-b.Ctx.Done():
		b.T.Fatal("the page did not go to the sign-in")
	}
	browsertest.Call(b.Tab, fetch.Disable, cdp.Empty{})
	browsertest.Eval[any](b.Tab, one) // it is under way
	browsertest.Eval[any](b.Tab, `{ const now = Date.now; Date.now = () => now() + 11_000; } null`)
}

// went compares how often the page went to the sign-in, and asked for the session, since it was asked last.
func (b *tab) went(signIns, checks int) {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.signIns != signIns || b.checks != checks {
		b.T.Errorf("went %d times to the sign-in and asked %d times, want %d and %d", b.signIns, b.checks, signIns, checks)
	}
	b.signIns, b.checks = 0, 0
}

// unsaved has something to lose when the session ends.
func (b *tab) unsaved() {
	b.T.Helper()
	if !browsertest.Eval[bool](b.Tab, pending) {
		b.T.Fatal("nothing is pending")
	}
	browsertest.Call(b.Tab, network.ClearBrowserCookies, cdp.Empty{})
	browsertest.Eval[any](b.Tab, ten)
	b.box("Your session has ended")
	b.Picture("session.unsaved")
	b.answer("Stay here")
	browsertest.Eval[any](b.Tab, ten)
	browsertest.Eval[any](b.Tab, one)
	if browsertest.Eval[bool](b.Tab, `document.querySelector('.sapMDialog') !== null`) {
		b.T.Error("asks again at once")
	}
	b.went(0, 1)
	// The sign-out asks as well, and does what was decided.
	b.Click(frame + "signOut")
	b.box("Sign out")
	b.answer("Sign out")
	b.Wait(`location.pathname === '/'`)
	b.Forgive()
	b.visit("#/products/77")
	b.shows("77")
}

// faults are told in one box each.
func (b *tab) faults() {
	b.T.Helper()
	for _, tt := range []struct {
		name string
		with func(fetch.RequestID)
		want string
	}{
		{"network", b.fails, "The server cannot be reached. Check your connection and try again."},
		{"busy", b.answers(503, "busy"), "Too much is asked of the server at the moment. Please try again. You can try again in 7 seconds."},
		{"slow", b.answers(503, "unavailable"), "The server took too long, or cannot reach its data at the moment. Please try again. You can try again in 7 seconds."},
		{"share", b.answers(429, "busy"), "Too much is asked of the server at the moment. Please try again. You can try again in 7 seconds."},
	} {
		b.paused("*/odata/$batch*", tt.with)
		browsertest.Eval[any](b.Tab, `sap.ui.require('sap/ui/core/Component').getComponentById('fernweh-dashboard').getModel().refresh(); null`)
		b.box("That did not work")
		text := browsertest.Eval[string](b.Tab, `seen(document.querySelector('.sapMDialog .sapMText, .sapMDialog .sapMMsgBoxText'))`)
		if !strings.HasPrefix(text, tt.want) || strings.Contains(text, "Reference: r-1") != (tt.name != "network") {
			b.T.Errorf("%s: the box says %q", tt.name, text)
		}
		b.Picture("fault." + tt.name)
		browsertest.Call(b.Tab, fetch.Disable, cdp.Empty{})
		b.answer("Try again")
		b.await(detail+"heading", b.site.one(b.T, `SELECT name FROM products WHERE id = 77`))
	}
	b.went(0, 0)
}

// intercepts lets paused say who answers in place of the host.
func (b *tab) intercepts() {
	b.T.Helper()
	b.Must(chromedp.Listen(b.Ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			go (*b.instead.Load())(e.RequestID) // an answer waits for the browser, which waits for this
		}
	}))
}

// paused hands the requests of a pattern to a function, until fetch.Disable.
func (b *tab) paused(pattern string, answer func(fetch.RequestID)) {
	b.T.Helper()
	b.instead.Store(&answer)
	browsertest.Call(b.Tab, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: pattern}}})
}

func (b *tab) fails(id fetch.RequestID) {
	_, _ = chromedp.Call(b.Ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: id, ErrorReason: network.ErrorReasonConnectionRefused})
}

func (b *tab) answers(status int64, code string) func(fetch.RequestID) {
	return func(id fetch.RequestID) {
		_, _ = chromedp.Call(b.Ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{
			RequestID: id, ResponseCode: status,
			ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "application/json"}, {Name: "Retry-After", Value: "7"}, {Name: "OData-Version", Value: "4.0"}},
			Body:            []byte(`{"error":{"code":"` + code + `","message":"technical","innererror":{"request_id":"r-1"}}}`),
		})
	}
}

// box waits for a dialogue.
func (b *tab) box(title string) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`[...document.querySelectorAll('.sapMDialog')].filter((box) => box.checkVisibility()).map((box) => seen(box.querySelector('.sapMDialogTitle, .sapMTitle'))).join() === %q`, title))
}

// answer presses a button of the dialogue, which is the last one.
func (b *tab) answer(text string) {
	b.T.Helper()
	b.press(text)
	b.Wait(`document.querySelector('.sapMDialog') === null`)
}

// press presses a button of the dialogue.
func (b *tab) press(text string) {
	b.T.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll('.sapMDialog button')].find((button) => seen(button) === %q)`, text)
	b.Wait(button)
	b.clickFound(button)
}

// unsettled meets a host whose plugin asks for the organisation first: what the service refuses until then leads there, and
// back to the same product.
func unsettled(t *testing.T, s *site) {
	dir := t.TempDir()
	plugin := filepath.Join(dir, "orgsetup")
	run(t, "build", "-o", plugin, module+"/plugins/orgsetup")
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer(`"../shop/`, `"`+here+`/../shop/`, `"dist"`, `"`+here+`/dist"`, "guard = \"session\"\n  i18n", "guard = \"settled\"\n  i18n").
		Replace(read(t, "config.hcl"))
	config += fmt.Sprintf("plugin \"orgs\" {\n  command = [%q]\n  roles = [\"dispenser\", \"org_setup\"]\n  user_read = [\"partner_id\"]\n  user_write = [\"partner_id\"]\n}\n", plugin)
	file := filepath.Join(dir, "config.hcl")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	other := &site{url: start(t, s.program, file, s.path, dir), db: s.db}
	b := open(t, other, desk)
	b.Visit(other.url + "/login")
	b.Fill(`input[name=login]`, seed.Email)
	b.Fill(`input[name=password]`, seed.Password)
	b.Click(`button[type=submit]`)
	b.Wait(`document.querySelector('#org_name')`)
	// The step is left open: the pages may be seen, but not the data.
	b.Visit(other.url + "/dashboard/#/products/77")
	b.Wait(`location.pathname === '/login' && document.querySelector('#org_name')`)
	b.went(1, 1)
	b.Forgive()
	b.Click(`label:has(#legal_form-2)`)
	b.Fill("#org_name", "Analytical Engines")
	b.Choose("#company_size", "small")
	b.Choose("#function", "architect")
	b.Fill("#billing_email", "bills@example.com")
	b.Click(`button[type=submit]`)
	b.Wait(`location.pathname === '/dashboard/' && location.hash === '#/products/77'`)
	b.Forgive()
	b.shows("77")
	b.Quiet()
}
