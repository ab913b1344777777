package uitest

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/ui"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// stepPage is a page of an application with one field and no script of its own.
const stepPage = `<!doctype html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Your phone · Acme Orders</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/ui/steps/steps.css">
<script type="module" src="/ui/steps/steps.js"></script>
</head>
<body>
<div class="stage">
<header><img class="logo plate" src="/assets/ci/logo-full.svg" alt="Acme Orders"></header>
<main>
<div class="card">
<h1 tabindex="-1">Your phone</h1>
<noscript>
<p class="hint" lang="en">This step needs JavaScript. Please switch it on and load the page again.</p>
<p class="hint" lang="de">Dieser Schritt braucht JavaScript. Bitte schalten Sie es ein und laden Sie die Seite neu.</p>
</noscript>
<p class="intro" id="why">We call before we deliver to <span data-from="city"></span>.</p>
<form method="dialog" data-step>
<input type="hidden" name="version" data-from="version">
<div class="field"><label for="phone">Phone number</label><div class="box"><input id="phone" name="phone" type="tel" autocomplete="tel" required aria-describedby="why"></div></div>
<fieldset class="field"><legend>When</legend>
<label class="tick"><input type="radio" name="when" value="am" required> In the morning</label>
<label class="tick"><input type="radio" name="when" value="pm"> In the afternoon</label>
</fieldset>
<div class="actions">
<button class="primary">Save</button>
<button class="secondary" name="later" value="yes" formnovalidate>Not now</button>
</div>
</form>
</div>
</main>
<footer></footer>
</div>
</body>
</html>`

const asked = "POST /auth/intents/redirect"

// newStep serves the page at /step, where the dispenser holds people.
func newStep(t *testing.T, lang string) (*host, *tab) {
	t.Helper()
	h := newHost(t)
	h.answer("GET /step", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, stepPage, lang)
	})
	h.answer(asked, says(200, satisfaction("needs_more_input", obj{"target": "/step", "version": "7", "city": "Kiel"}, nil, nil)))
	return h, open(t)
}

// opened waits until the page knows its step.
func (b *tab) opened(h *host) {
	b.T.Helper()
	b.Visit(h.URL + "/step")
	b.Wait(`document.querySelector('[name=version]').value === '7'`)
}

// A page of an application links two files: its form has the errors, the busy button and the way on of the sign-in.
func TestStep(t *testing.T) {
	h, b := newStep(t, "en")
	b.opened(h)
	b.See("deliver to Kiel.")
	edge := b.edge(".card")

	b.Click("button.primary") // nothing is filled in
	b.Focused("#phone[aria-invalid=true][aria-describedby='why phone-error']")
	b.Wait(`[...document.querySelectorAll('.fault')].map((e) => e.innerText).join() === 'Please fill this in.,Please choose one.'`)
	if n := len(h.posted("/auth/intents/redirect")); n != 1 {
		t.Errorf("an incomplete form was sent: %d requests", n)
	}

	h.answer(asked, says(200, satisfaction("error", nil, []string{"We cannot call this number."}, nil)))
	b.Fill("#phone", "0")
	b.Click("[value=pm]")
	b.Click("button.primary")
	b.Wait(`document.querySelector('#phone-error').innerText === 'We cannot call this number.'`)
	b.Focused("#phone[aria-invalid=true]")
	b.Wait(`document.querySelector('[role=alert]').textContent === 'Phone number: We cannot call this number.'`)
	if after := b.edge(".card"); after != edge {
		t.Errorf("an error moves the card from %v to %v", edge, after)
	}
	if outside := browsertest.Eval[bool](b.Tab, `(() => { const card = document.querySelector('.card').getBoundingClientRect();
		return [...document.querySelectorAll('.fault, .strip')].some((e) => e.checkVisibility() && e.getBoundingClientRect().bottom > card.bottom); })()`); outside {
		t.Error("an error stands outside of the card")
	}

	release := make(chan struct{})
	h.answer(asked, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		writeJSON(w, 200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard")))
	})
	b.Press(kb.Enter)
	b.Wait(`document.querySelector('button.primary.busy')?.innerText.startsWith('One moment') && document.querySelector('[role=status]').textContent !== ''`)
	b.Click("button.primary") // sends nothing
	close(release)
	b.At(h.URL + "/dashboard")
	want := []map[string]any{
		{}, {"version": "7", "phone": "0", "when": "pm"}, {"version": "7", "phone": "0", "when": "pm"},
	}
	if d := cmp.Diff(want, h.posted("/auth/intents/redirect")); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

// Back to a page that the browser kept as it was asks again which step is open.
func TestStepLoadsAgain(t *testing.T) {
	h, b := newStep(t, "en")
	b.opened(h)
	h.answer(asked, says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))))
	browsertest.Eval[any](b.Tab, `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })); null`)
	b.At(h.URL + "/dashboard")
}

// A button that needs no fields sends its name; a host that is busy has the form wait.
func TestStepWaitsAndSkips(t *testing.T) {
	h, b := newStep(t, "de")
	b.opened(h)
	h.answer(asked, says(429, fault("auth_throttle|42|1", ""), "Retry-After", "42"))
	b.Click("button.secondary")
	b.Wait(`document.querySelector('.countdown')?.textContent.startsWith('Sie können es in 4')`)
	b.Focused("button.secondary[aria-disabled=true]")
	if got := b.Text("button.secondary"); got != "Not now" {
		t.Errorf("the button says %q", got)
	}
	if got, want := h.posted("/auth/intents/redirect")[1], (map[string]any{"version": "7", "phone": "", "later": "yes"}); cmp.Diff(want, got) != "" {
		t.Errorf("posted %v, want %v", got, want)
	}
}

// Somebody who presses the button before the dispenser has answered sends what it gives all the same.
func TestStepIsFilledBeforeItIsSent(t *testing.T) {
	h, b := newStep(t, "en")
	release, first := make(chan struct{}), says(200, satisfaction("needs_more_input", obj{"target": "/step", "version": "7"}, nil, nil))
	h.answer(asked, func(w http.ResponseWriter, r *http.Request) {
		<-release
		first(w, r)
	})
	b.Visit(h.URL + "/step")
	b.Ready("button.secondary")
	b.Click("button.secondary")
	b.Wait(`document.querySelector('button.secondary.busy')`)
	close(release)
	b.Wait(`document.querySelector('[name=version]').value === '7'`)
	for range 100 { // until it is sent
		if len(h.posted("/auth/intents/redirect")) > 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	want := []map[string]any{{}, {"version": "7", "phone": "", "later": "yes"}}
	if d := cmp.Diff(want, h.posted("/auth/intents/redirect")[:2]); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

// A press before the module is there sends nothing and loses nothing.
func TestStepBeforeItsModule(t *testing.T) {
	h, b := newStep(t, "en")
	release := make(chan struct{})
	h.answer("GET /ui/steps/steps.js", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		http.StripPrefix("/ui/steps/", http.FileServerFS(ui.Steps())).ServeHTTP(w, r)
	})
	b.Visit(h.URL + "/dashboard")
	browsertest.Eval[any](b.Tab, `location.href = '/step'`) // which is not complete before its module
	b.Ready("#phone")
	b.Fill("#phone", "0431 12345")
	b.Click("[value=am]")
	b.Click("button.primary")
	b.Click("button.secondary")
	b.Press(kb.Enter)
	close(release)
	b.Wait(`document.querySelector('[name=version]').value === '7'`)
	if got := b.Text("h1"); got != "Your phone" || browsertest.Eval[string](b.Tab, `document.querySelector('#phone').value`) != "0431 12345" {
		t.Errorf("the page shows %q and has lost what was typed", got)
	}
	b.Click("button.primary")
	posted := func(path string) bool { return slices.Contains(h.requested(), "POST "+path) }
	b.Wait(`document.querySelector('.busy') === null`)
	if posted("/step") || !posted("/auth/intents/redirect") {
		t.Errorf("the host was asked %v", h.requested())
	}
	if d := cmp.Diff([]map[string]any{{}, {"version": "7", "phone": "0431 12345", "when": "am"}}, h.posted("/auth/intents/redirect")[:2]); d != "" {
		t.Errorf("posted (-want +got):\n%s", d)
	}
}

// Without scripts the page says what to do, in both of its languages: which one the reader prefers a file cannot know.
func TestStepWithoutScript(t *testing.T) {
	h, b := newStep(t, "en")
	browsertest.Call(b.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Visit(h.URL + "/step")
	for _, text := range []string{"This step needs JavaScript.", "Dieser Schritt braucht JavaScript."} {
		b.See(text)
	}
}

// The page redirects if its step is not open or nobody is signed in, and shows an error if the host gives no answer.
func TestStepLeadsOn(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		at     string
	}{
		"another step": {says(200, satisfaction("needs_more_input", obj{"target": "/dashboard", "x": 1}, nil, nil)), "/dashboard"},
		"done":         {says(200, satisfaction("satisfied", nil, nil, redirectTo("/dashboard"))), "/dashboard"},
		"a form":       {says(200, satisfaction("satisfied", nil, nil, orgSetup())), "/login"},
		"signed out":   {says(401, fault("unauthenticated", "")), "/login"},
		"over":         {says(409, fault("intent_not_current", "")), "/login"},
		"unsafe":       {says(200, satisfaction("satisfied", nil, nil, redirectTo("javascript:alert(1)"))), ""},
		"down":         {says(503, fault("dispenser_unavailable", "")), ""},
		"unreachable":  {hangUp, ""},
		"nonsense":     {says(200, obj{}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, b := newStep(t, "en")
			h.answer(asked, c.answer)
			b.Visit(h.URL + "/step")
			if c.at != "" {
				b.At(h.URL + c.at)
				return
			}
			b.See("That did not work")
			b.Focused("h1")
			b.Wait(`document.querySelectorAll('h1').length === 2 && [...document.querySelectorAll('.card')].filter((c) => c.checkVisibility()).length === 1`)
			h.answer(asked, says(200, satisfaction("needs_more_input", obj{"target": "/step", "version": "7"}, nil, nil)))
			b.Click("button.primary:not([hidden] *)")
			b.Wait(`document.querySelector('[name=version]')?.value === '7'`)
		})
	}
}

// The page of a step in every look, with its errors.
func TestStepScreens(t *testing.T) {
	source := needAxe(t)
	for _, lang := range []string{"en", "de"} {
		h, b := newStep(t, lang)
		b.opened(h)
		b.Click("button.primary")
		b.Focused("#phone[aria-invalid=true]")
		for _, l := range append(looks(), extremes()...) {
			b.inspect(source, lang, "step."+lang+"."+l.name, l)
		}
	}
}
