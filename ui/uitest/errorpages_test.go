package uitest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/chromedp/cdproto/emulation"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	hostfault "github.com/vestibule-dev/vestibule/v2/host/auth/fault"
	"github.com/vestibule-dev/vestibule/v2/host/frontend"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/ui"
	"github.com/vestibule-dev/vestibule/v2/ui/browsertest"
)

// faults are those that people meet on a page of their own.
func faults() map[string]*hostfault.Fault {
	return map[string]*hostfault.Fault{
		"400":           {Code: hostfault.Malformed},
		"400-ambiguous": {Code: hostfault.Malformed, Fields: []hostfault.Field{{Field: "path", Code: "encoded_slash"}}},
		"403":           {Code: hostfault.CrossOrigin},
		"403-identity":  {Code: hostfault.IdentityRefused, Text: "The sign-in was cancelled there.", Again: "/login"},
		"403-taken":     {Code: hostfault.IdentityTaken, Again: "/login?account"},
		"404":           {Code: hostfault.NotFound},
		"405":           {Code: hostfault.MethodNotAllowed},
		"421":           {Code: hostfault.Misdirected},
		"429":           {Code: hostfault.Busy},
		"500":           {Code: hostfault.Internal},
		"502":           {Code: hostfault.UpstreamUnavailable},
		"503":           {Code: hostfault.DispenserUnavailable},
		"503-identity":  {Code: hostfault.IdentityUnavailable, Again: "/login"},
	}
}

// newFaults serves every fault at /fault/NAME with the host's own screens, and at
// /outage what outage says, or a page where it says nothing.
func newFaults(t *testing.T, outage func() *hostfault.Fault) *httptest.Server {
	t.Helper()
	app, err := frontend.Open(ui.FS(), false, "2")
	if err != nil {
		t.Fatal(err)
	}
	site := web.NewSite(web.SiteOptions{Routes: map[string]string{
		"home": "/", "terms": "/terms", "privacy": "/privacy",
	}})
	signIn := auth.New(auth.Options{Site: site})
	screens := frontend.NewScreens(frontend.ScreensOptions{
		SignIn: signIn, AppName: "Acme Orders", IsNavigation: web.IsNavigation,
		NamesSession: func(r *http.Request) bool { _, err := r.Cookie("session"); return err == nil },
		Public:       fstest.MapFS{"assets/ci/logo-full.svg": {Data: []byte(logo)}},
	})
	screens.SetApp(app)
	signIn.Show = screens.ShowFault
	mux := http.NewServeMux()
	mux.HandleFunc("/fault/{name}", func(w http.ResponseWriter, r *http.Request) {
		signIn.Fail(w, r, faults()[r.PathValue("name")])
	})
	mux.HandleFunc("/outage", func(w http.ResponseWriter, r *http.Request) {
		if f := outage(); f != nil {
			signIn.Fail(w, r, f)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>There</title><h1>There</h1></html>`))
	})
	mux.HandleFunc("/before", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Before</title><h1>Before</h1><a href="/fault/404">on</a></html>`))
	})
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc(frontend.Prefix, screens.Files)
	mux.HandleFunc("/assets/ci/logo-full.svg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(logo))
	})
	guest := func(*http.Request) (auth.Session, error) { return auth.Session{}, nil }
	middleware := web.NewMiddleware(site, signIn.Fail, signIn.Logger, telemetry.New(), web.NewLimits(web.LimitOptions{}, signIn.Logger, nil), guest)
	s := httptest.NewServer(middleware.Wrap(web.Route{Kind: web.Page}, mux))
	t.Cleanup(s.Close)
	return s
}

// Every error page in every look and language: axe finds nothing, nothing is cut
// off, the page does not complain.
func TestErrorPages(t *testing.T) {
	source := needAxe(t)
	s := newFaults(t, nil)
	for name := range faults() {
		for _, lang := range []string{"en", "de"} {
			t.Run(name+"/"+lang, func(t *testing.T) {
				b := open(t)
				b.Visit(s.URL + "/fault/404") // a page that asks again by itself must not go while it is looked at
				browsertest.Eval[any](b.Tab, `sessionStorage.setItem('vestibule.tries', JSON.stringify({ count: 9, at: Date.now() })); null`)
				b.Visit(s.URL + "/fault/" + name + "?lang=" + lang)
				b.Ready("h1")
				b.Wait(`!document.querySelector('.logo') || document.querySelector('.logo').complete`)
				for _, l := range looksIn(lang) {
					b.inspect(source, lang, "error-"+name+"."+lang+"."+l.name, l)
				}
			})
		}
	}
}

// The page of an outage asks again by itself, from time to time more patiently,
// and shows the page once it is there.
func TestOutageEnds(t *testing.T) {
	for _, code := range []string{hostfault.UpstreamUnavailable, hostfault.Unavailable} {
		t.Run(code, func(t *testing.T) {
			var asked atomic.Int64
			s := newFaults(t, func() *hostfault.Fault {
				if asked.Add(1) <= 4 {
					return &hostfault.Fault{Code: code}
				}
				return nil
			})
			b := open(t)
			b.hurry()
			b.Visit(s.URL + "/outage")
			b.See("There")
			if n := asked.Load(); n != 5 {
				t.Errorf("asked %d times, want 5", n)
			}
			if got := browsertest.Eval[int](b.Tab, `JSON.parse(sessionStorage.getItem('vestibule.tries')).count`); got != 4 {
				t.Errorf("the tab has counted %d tries, want 4", got)
			}
		})
	}
}

// A tab that cannot keep anything asks no more often for it.
func TestOutageWithoutStorage(t *testing.T) {
	var asked atomic.Int64
	s := newFaults(t, func() *hostfault.Fault {
		if asked.Add(1) == 1 {
			return &hostfault.Fault{Code: hostfault.Unavailable}
		}
		return nil
	})
	b := open(t)
	b.Script(`Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } })`)
	b.Script(`{ const later = setTimeout, now = Date.now.bind(Date); let ahead = 0;
		Date.now = () => now() + ahead;
		window.setTimeout = (f, ms) => { ahead += ms; document.cookie = 'ahead=' + ahead; return later(f, 1); }; }`)
	b.Visit(s.URL + "/outage")
	b.See("There")
	if ahead := browsertest.Eval[float64](b.Tab, `Number(document.cookie.replace('ahead=', ''))`); ahead < 20_000 {
		t.Errorf("asked again after %v ms of the page's time", ahead)
	}
}

// A host that cannot be reached at all leaves the page where it is.
func TestOutageOffline(t *testing.T) {
	var asked atomic.Int64
	s := newFaults(t, func() *hostfault.Fault {
		if asked.Add(1) == 1 {
			return &hostfault.Fault{Code: hostfault.Unavailable}
		}
		return nil
	})
	b := open(t)
	b.Script(`window.probes = 0; { const real = fetch; window.fetch = (...args) => { window.probes++; return window.probes < 3 ? Promise.reject(new TypeError('refused')) : real(...args); }; }`)
	b.hurry()
	b.Visit(s.URL + "/outage")
	b.See("There")
	if n := asked.Load(); n != 2 {
		t.Errorf("the page was asked for %d times while the host was away, want 2", n)
	}
}

// hurry makes the time of every page to come go fifty times as fast.
func (b *tab) hurry() {
	b.T.Helper()
	b.Script(`{ const now = Date.now.bind(Date), start = now(), later = setTimeout;
		Date.now = () => start + (now() - start) * 50;
		window.setTimeout = (f, ms) => later(f, ms / 50); }`)
}

// Without scripts the page asks again as well, by itself or by its link.
func TestOutageWithoutScripts(t *testing.T) {
	var asked atomic.Int64
	s := newFaults(t, func() *hostfault.Fault {
		if asked.Add(1) == 1 {
			return &hostfault.Fault{Code: hostfault.Unavailable}
		}
		return nil
	})
	b := open(t)
	browsertest.Call(b.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Visit(s.URL + "/outage")
	b.See("This page asks again by itself.")
	if got := browsertest.Eval[string](b.Tab, `document.querySelector('noscript > meta[http-equiv=refresh]')?.content ?? 'none'`); got != "30" {
		t.Errorf("without scripts the page asks again after %s s", got)
	}
	b.Click("a.primary")
	b.See("There")
}

// The page of a 404 is calm. It links to the page before, to the start page and, for a guest, to the sign-in.
func TestMissingPageLeadsOn(t *testing.T) {
	s := newFaults(t, nil)
	b := open(t)
	links := func() string {
		return browsertest.Eval[string](b.Tab, `[...document.querySelectorAll('.actions a')].map((a) => a.textContent + ' ' + a.getAttribute('href') + ' ' + a.className).join('; ')`)
	}
	b.Visit(s.URL + "/before?x=1#part")
	b.Click("a")
	b.Ready(".strip.information")
	if got, want := links(), "Back to the page before /before?x=1 primary; To the start page / back; Sign in /login back"; got != want {
		t.Errorf("the links are %q, want %q", got, want)
	}
	b.Click("a.primary")
	b.See("Before")
	browsertest.Eval[any](b.Tab, `document.cookie = 'session=x'; null`)
	b.Visit(s.URL + "/fault/404")
	b.Ready(".strip.information")
	if got, want := links(), "To the start page / primary"; got != want {
		t.Errorf("without a page before, and with a session, the links are %q, want %q", got, want)
	}
}

// A stranger's address leads nowhere from the page: what it links to is of this
// site.
func TestErrorPageLinks(t *testing.T) {
	s := newFaults(t, nil)
	b := open(t)
	for _, name := range []string{"404", "500"} {
		b.Visit(s.URL + "/fault/" + name + "?x=" + url.QueryEscape(`"><a href="https://evil.example">`) + "#//evil.example")
		b.Ready("h1")
		links := browsertest.Eval[[]string](b.Tab, `[...document.querySelectorAll('a')].map((a) => a.href)`)
		for _, l := range links {
			if !strings.HasPrefix(l, s.URL+"/") {
				t.Errorf("%s links to %s", name, l)
			}
		}
		if len(links) < 3 {
			t.Errorf("%s has the links %v", name, links)
		}
	}
	b.Visit(s.URL + "/fault/500")
	first := b.Text(".reference")
	b.Click("a.primary")
	b.Wait(fmt.Sprintf(`document.querySelector('.reference')?.innerText !== %q`, first))
}
