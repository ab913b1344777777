package host_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

// wantAgain fails unless a page asks again by itself, or does not, as is wanted.
func (a answer) wantAgain(t *testing.T, want bool) {
	t.Helper()
	if again := strings.Contains(a.body, `id="again"`) && strings.Contains(a.body, `http-equiv="refresh" content="30"`); again != want {
		t.Errorf("%d asks again: %v, want %v", a.StatusCode, again, want)
	}
}

// Whatever stands in the way of a page of the host itself, people get a page about it, with
// the request id; scripts and programs get JSON. What may be over soon is asked for again,
// unless the person has to do less.
func TestPagesOfFaultsThatPass(t *testing.T) {
	g := &gate{}
	s := withGate(t, sqliteStore(t), g, func(o *host.Options) { o.UI.App = ui.FS() })
	b := s.signedIn(t)
	for _, c := range []struct {
		name   string
		err    error
		status int
		code   string
		title  string
		again  bool
	}{
		{"plugin away", fmt.Errorf("%w: restarting", pluginsdk.ErrUnavailable), 503, "dispenser_unavailable", "Not available at the moment", true},
		{"plugin at fault", errors.New("at fault"), 503, "dispenser_unavailable", "Not available at the moment", true},
		{"an impossible step", nil, 502, "dispenser_contract", "No answer from the application", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.answers(pluginsdk.Intent{}, c.err)
			a := b.navigate("GET", "/login", "Sec-Fetch-Dest", "document")
			a.wantPage(t, c.status, c.code, "en", c.title)
			a.wantAgain(t, c.again)
			b.get("/login", "Sec-Fetch-Mode", "", "Accept", "application/json").want(t, c.status, c.code)
		})
	}
	t.Run("a panic", func(t *testing.T) {
		g.mu.Lock()
		g.answer = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { panic("at fault") }
		g.mu.Unlock()
		a := b.navigate("GET", "/login", "Sec-Fetch-Dest", "document")
		a.wantPage(t, 500, "internal_error", "en", "Something went wrong")
		a.wantAgain(t, false)
	})
	t.Run("no database", func(t *testing.T) {
		if err := s.db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/login", "/app/orders", "/ui/auth/"} {
			a := b.navigate("GET", path, "Sec-Fetch-Dest", "document")
			if a.StatusCode < 500 || !strings.Contains(a.Header.Get("Content-Type"), "text/html") || !strings.Contains(a.body, a.Header.Get("X-Request-Id")) {
				t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
			}
			a.wantAgain(t, a.StatusCode == 503)
		}
	})
}

// A client that has too much under way gets a page for what it opens besides.
func TestBusyPage(t *testing.T) {
	s, source := limited(t, func(o *host.Options) {
		o.Limits.RequestsPerClient, o.Limits.Wait = 2, 100*time.Millisecond
		o.UI.App = ui.FS()
	})
	b := s.browser(t)
	occupy(t, b, source, "Slow", "192.0.2.1", 2)
	a := b.navigate("GET", "/login", "X-Forwarded-For", "192.0.2.1")
	a.wantPage(t, 429, "busy", "en", "One moment, please")
	a.wantAgain(t, false)
	if a.Header.Get("Retry-After") != "1" || !strings.Contains(a.body, `<a class="primary" href="">`) {
		t.Errorf("Retry-After %q, and no link to try again:\n%s", a.Header.Get("Retry-After"), a.body)
	}
}
