package uitest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// A circling is a real host with an application that sends everybody back to the sign-in.
type circling struct {
	*real
	rounds atomic.Int64
	ends   atomic.Bool // the application answers as it should
}

// newCircling starts it: settled people are led to /app/orders, and those who are held to
// /app/code.
func newCircling(t *testing.T, held bool) *circling {
	t.Helper()
	build(t)
	c := &circling{}
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.ends.Load() {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>There</title><h1>There</h1>`))
			return
		}
		c.rounds.Add(1) // whatever is asked for, lest a browser circle for ever
		http.Redirect(w, r, "/login", http.StatusFound)
	}))
	t.Cleanup(app.Close)
	blocks := fmt.Sprintf(`
app {
  name = "Acme Orders"
}
route "app" {
  path  = "/app"
  proxy = %q
  guard = "session"
}
`, app.URL)
	if held {
		blocks += fmt.Sprintf(`
plugin "totp" {
  command    = [%q]
  roles      = ["dispenser"]
  user_read  = ["second_factor"]
  user_write = ["second_factor"]
  config {
    key    = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    page   = "/app/code"
    issuer = "Acme"
  }
}
`, filepath.Join(built.dir, "totp"))
	}
	c.real = newRealWith(t, "", blocks, "second_factor TEXT")
	return c
}

// Somebody whom an application sends straight back to the sign-in sees a button after two
// rounds, with JavaScript and without, whether they are settled or held.
func TestRealCircle(t *testing.T) {
	source := needAxe(t)
	for _, test := range []struct {
		name          string
		held, scripts bool
	}{{"settled", false, true}, {"settled without JavaScript", false, false}, {"held", true, true}, {"held without JavaScript", true, false}} {
		t.Run(test.name, func(t *testing.T) {
			c := newCircling(t, test.held)
			for _, lang := range []string{"en", "de"} {
				c.circle(t, source, lang, test.held, test.scripts)
			}
		})
	}
}

// circle signs somebody in whom the application sends back, and looks at what stops them.
func (c *circling) circle(t *testing.T, source, lang string, held, scripts bool) {
	t.Helper()
	title, target, state := "You were sent back here", "/app/orders", "settled"
	if lang == "de" {
		title = "Sie wurden hierher zurückgeschickt"
	}
	if held {
		target, state = "/app/code", "held"
	}
	b := open(t)
	b.Language(lang)
	c.ends.Store(true)
	b.Visit(c.base + "/login?redirect=/app/orders")
	b.signIn(password)
	b.At(c.base + target)
	c.ends.Store(false)
	c.rounds.Store(0)
	browsertest.Call(b.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	// The application's redirect carries the fragment along.
	b.Visit(c.base + "/login?redirect=/app/orders#/line/7")
	b.See(title)
	if n := c.rounds.Load(); n != 2 {
		t.Errorf("%d rounds before the page stopped, want 2", n)
	}
	if scripts {
		b.Focused("button.primary")
		for _, l := range looksIn(lang) {
			b.inspect(source, lang, strings.Join([]string{"circle", state, lang, l.name}, "."), l)
		}
	} else {
		for _, l := range looks() {
			b.Size(l.width, l.height)
			b.Media(l.scheme)
			b.PictureOfAll(strings.Join([]string{"circle", state, "no-script", lang, l.name}, "."))
		}
	}
	c.ends.Store(true)
	b.Click(".card .primary")
	want := c.base + target
	if scripts {
		want += "#/line/7"
	}
	b.At(want)
	c.ends.Store(false)
}
