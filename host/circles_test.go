package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

// navigating are the headers of a browser that goes to a page.
func navigating() []string {
	return []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
}

// led is where an answer to GET /login leads by itself, empty where it does not, and the
// target of somebody whom it has stopped.
type led struct{ on, stopped string }

func (a answer) led(t *testing.T) led {
	t.Helper()
	if a.StatusCode == http.StatusFound {
		return led{on: a.Header.Get("Location")}
	}
	a.want(t, 200, "")
	_, after, _ := strings.Cut(a.body, `<script type="application/json" id="bootstrap">`)
	data, _, _ := strings.Cut(after, "</script>")
	var boot struct {
		Next    *envelope
		Stopped *string
	}
	if err := json.Unmarshal([]byte(data), &boot); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	var out led
	if boot.Next != nil && boot.Next.Kind == "redirect" {
		out.on = boot.Next.Target()
	}
	if boot.Stopped != nil {
		out.stopped = *boot.Stopped
	}
	if refreshed := strings.Contains(a.body, `http-equiv="refresh"`); refreshed != (out.on != "") {
		t.Errorf("led on to %q, without JavaScript: %v", out.on, refreshed)
	}
	return out
}

// wantLed fails unless an answer leads on to a target, or stops somebody at it.
func (a answer) wantLed(t *testing.T, what string, want led) {
	t.Helper()
	if got := a.led(t); got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// Somebody whom an application sends straight back to the sign-in is stopped the third time
// within ten seconds, be they settled or held, a person or a program.
func TestCircleIsStopped(t *testing.T) {
	settled := func(t *testing.T) *testSite {
		return newSite(t, sqliteStore(t), func(o *host.Options) { o.UI.App = ui.FS() })
	}
	held := func(t *testing.T) *testSite {
		return withGate(t, sqliteStore(t), &gate{}, func(o *host.Options) { o.UI.App = ui.FS() })
	}
	for _, test := range []struct {
		name   string
		site   func(*testing.T) *testSite
		header []string
		target string
	}{
		{"settled, a person", settled, navigating(), "/dashboard"},
		{"settled, a program", settled, nil, "/dashboard"},
		{"settled, in a frame", settled, []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, "/dashboard"},
		{"held, a person", held, navigating(), "/app/terms?v=2"},
		{"held, a program", held, nil, "/app/terms?v=2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.site(t)
			b := s.browser(t)
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			visit := func() answer { return b.get("/login", test.header...) }
			on, stopped := led{on: test.target}, led{stopped: test.target}
			visit().wantLed(t, "the first time", on)
			s.clock.Advance(4 * time.Second)
			visit().wantLed(t, "the second time", on)
			s.clock.Advance(4 * time.Second)
			a := visit()
			a.wantLed(t, "the third time", stopped)
			if link := `<p class="actions"><a class="primary" href="` + test.target + `">Go on</a></p>`; !strings.Contains(a.body, link) {
				t.Errorf("without JavaScript there is no button %s\n%s", link, a.body)
			}
			visit().wantLed(t, "the fourth time", stopped)
			s.clock.Advance(10 * time.Second)
			visit().wantLed(t, "ten seconds later", on)
			s.clock.Advance(6 * time.Second)
			visit().wantLed(t, "slowly", on)
			s.clock.Advance(6 * time.Second)
			visit().wantLed(t, "more slowly than three times in ten seconds", on)
		})
	}
}

// Each target is counted by itself, also where an application leads to several in turn. One
// that leads to a new address each time is stopped, too.
func TestCircleOfSeveralTargets(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.UI.App = ui.FS() })
	visit := func(b *browser, target string) led {
		return b.get("/login?redirect="+url.QueryEscape(target), navigating()...).led(t)
	}
	signedIn := func() *browser {
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		return b
	}
	b := signedIn()
	for _, target := range []string{"/a", "/b", "/a", "/b"} {
		if got := visit(b, target); got != (led{on: target}) {
			t.Errorf("%s: %+v", target, got)
		}
	}
	for _, target := range []string{"/a", "/b"} {
		if got := visit(b, target); got != (led{stopped: target}) {
			t.Errorf("%s, the third time: %+v", target, got)
		}
	}
	if got := visit(b, "/c"); got != (led{on: "/c"}) {
		t.Errorf("another target: %+v", got)
	}
	b = signedIn()
	rounds := 0
	for ; rounds < 50 && visit(b, fmt.Sprintf("/a?t=%d", rounds)).stopped == ""; rounds++ {
		s.clock.Advance(100 * time.Millisecond)
	}
	if rounds != 9 {
		t.Errorf("%d rounds to addresses that are new each time, want 9", rounds)
	}
}

// What leads nobody on does not count: an open step of the front-end app, what a script or
// a prefetch asks for, and the page of a guest.
func TestWhatIsNoCircle(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup, opts.UI.App = o, o, ui.FS() })
	b := s.browser(t)
	for range 5 {
		b.get("/login?redirect=/dashboard", navigating()...).wantLed(t, "a guest", led{})
	}
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for range 5 {
		b.get("/login", navigating()...).wantLed(t, "an open step", led{})
	}
	if b.cookie("vestibule_hops") != "" {
		t.Error("what leads nobody on was counted")
	}
	b.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 200, "")
	for _, header := range [][]string{
		{"Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"},
		{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Purpose", "prefetch"},
	} {
		for range 5 {
			if a := b.get("/login", header...); a.StatusCode != http.StatusFound || a.Header.Get("Location") != "/dashboard" {
				t.Errorf("%v: %d to %q", header, a.StatusCode, a.Header.Get("Location"))
			}
		}
	}
	b.get("/login", navigating()...).wantLed(t, "the first time of a person", led{on: "/dashboard"})
}

// Neither the cookie of a reset link, nor the page below /ui/auth/, nor a cookie of
// hops that somebody has made up leads past the count, and a broken one does no harm.
func TestCircleIsNotGoneRound(t *testing.T) {
	s := withGate(t, sqliteStore(t), &gate{}, func(o *host.Options) { o.UI.App = ui.FS() })
	const target = "/app/terms?v=2"
	b := s.signedIn(t)
	for i := range 6 {
		b.setCookie("vestibule_screen", "1")
		want := led{on: target}
		if i >= 2 {
			want = led{stopped: target}
		}
		b.get("/login", navigating()...).wantLed(t, fmt.Sprintf("round %d with the cookie of a reset link", i+1), want)
	}
	stopped := func(path string, b *browser) any {
		t.Helper()
		var boot map[string]any
		a := b.get(path, navigating()...)
		text := a.body
		if _, after, ok := strings.Cut(text, `id="bootstrap">`); ok {
			text, _, _ = strings.Cut(after, "</script>")
		}
		if err := json.Unmarshal([]byte(text), &boot); err != nil || (boot["next"] == nil) == (boot["stopped"] == nil) {
			t.Fatalf("%s: %v\n%s", path, err, text)
		}
		return boot["stopped"]
	}
	if got := stopped("/auth/bootstrap", b); got != target {
		t.Errorf("asked for its data, the page that was stopped learns %v", got)
	}
	s.clock.Advance(time.Minute)
	if got := stopped("/auth/bootstrap", b); got != nil {
		t.Errorf("a minute later: %v", got)
	}
	b = s.signedIn(t)
	for i := range 4 {
		if got := stopped("/ui/auth/", b); (got != nil) != (i >= 2) {
			t.Errorf("round %d over /ui/auth/: %v", i+1, got)
		}
	}
	if got := stopped("/auth/bootstrap", s.signedIn(t)); got != nil {
		t.Errorf("somebody who was led nowhere: %v", got)
	}
	for _, value := range []string{"x", "-.-", "0000000.zzz", strings.Repeat("00000000.zzzzzzzzzzzzzz-", 99), "ffffffff.-1", "00000000." + strings.Repeat("9", 40)} {
		b := s.signedIn(t)
		b.setCookie("vestibule_hops", value)
		b.get("/login", navigating()...).wantLed(t, "with the cookie "+value, led{on: target})
		if got := b.cookie("vestibule_hops"); len(got) > 200 {
			t.Errorf("the cookie has %d bytes", len(got))
		}
	}
}

// The cookie says nothing of where somebody went, and goes with them on https alone where
// the site is there.
func TestHopsCookie(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Server.PublicURL = &url.URL{Scheme: "https", Host: "app.example.com"}
		o.Dispenser = &orgs{dispense: func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Redirect("/dashboard?patient=4711"), nil
		}}
	})
	b := s.browser(t)
	a := b.post("/auth/login", map[string]any{"login": adaEmail, "password": adaPassword}, "Origin", "https://app.example.com")
	a.want(t, 200, "")
	session := ""
	for _, c := range a.Cookies() {
		session += c.Name + "=" + c.Value + "; "
	}
	a = b.get("/login", "Cookie", session)
	cookies := a.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	c := cookies[0]
	if c.Name != "__Host-vestibule_hops" || c.Path != "/" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 10 || strings.Contains(c.Value, "4711") {
		t.Errorf("%v", c)
	}
}

// A host without a front-end app has no page to stop anybody with.
func TestNoPageStopsNobody(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.UI.App = nil })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for range 4 {
		b.get("/login").wantLed(t, "without an app", led{on: "/dashboard"})
	}
}
