package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
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

// pending makes the application's model have something that is not saved.
const pending = `(() => {
	const model = sap.ui.require('sap/ui/core/Component').getComponentById('fernweh-dashboard').getModel();
	model.bindList('/Products', undefined, [], [], { $$updateGroupId: 'later' }).create({ name: 'New' }, true).created().catch(() => {});
	return model.hasPendingChanges();
})()`

// session sees what the host's helper does for the application: one way to the sign-in, whatever is refused, and back to
// the same place; not before somebody who has typed something agrees; and faults in the language of the reader.
func session(t *testing.T, s *site) {
	b := open(t, s, desk)
	b.visit("?page=3#/products/77")
	b.shows("77")
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
	browsertest.Eval[any](b.Tab, ten)
	b.Wait(`location.pathname === '/login'`)
	b.went(1, 1)
	b.signIn()
	b.Wait(`location.search === '?page=3' && location.hash === '#/products/77'`)
	b.shows("77")
	b.Forgive()

	b.unsaved()
	b.faults()
	b.Forgive()
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
	browsertest.Eval[any](b.Tab, `fetch('/odata/Orders').then(() => null)`)
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
	var answer atomic.Pointer[func(fetch.RequestID)]
	b.Must(chromedp.Listen(b.Ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			go (*answer.Load())(e.RequestID) // an answer waits for the browser, which waits for this
		}
	}))
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
		answer.Store(&tt.with)
		browsertest.Call(b.Tab, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/odata/$batch*"}}})
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

// answer presses a button of the dialogue.
func (b *tab) answer(text string) {
	b.T.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll('.sapMDialog button')].find((button) => seen(button) === %q)`, text)
	b.Wait(button)
	browsertest.Eval[any](b.Tab, button+`.setAttribute('data-test', 'answer'); null`)
	b.Click(`[data-test=answer]`)
	b.Wait(`document.querySelector('.sapMDialog') === null`)
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
