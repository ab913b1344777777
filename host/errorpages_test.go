package host_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

// people is a site with the real front end, an application that is away, and one
// that answers every request with 503 and words of its own.
func people(t *testing.T, change func(*host.Options)) *testSite {
	t.Helper()
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("the application's own words"))
	}))
	t.Cleanup(own.Close)
	proxied := func(s *httptest.Server) *url.URL { u, _ := url.Parse(s.URL); return u }
	return newSite(t, sqliteStore(t), func(o *host.Options) {
		o.UI.App = ui.FS()
		o.Routes = append(o.Routes,
			host.Route{Name: "away", Path: "/away", Proxy: proxied(away), Guard: host.GuardNone},
			host.Route{Name: "own", Path: "/own", Proxy: proxied(own), Guard: host.GuardNone},
			host.Route{Name: "admin", Path: "/away/admin", Proxy: proxied(own)},
			host.Route{Name: "terms", Path: "/terms", Redirect: "/away", Guard: host.GuardNone},
		)
		if change != nil {
			change(o)
		}
	})
}

// navigate sends what a browser sends that goes to a page.
func (b *browser) navigate(method, path string, header ...string) answer {
	b.t.Helper()
	kind := ""
	if method == "POST" {
		kind = "application/x-www-form-urlencoded"
	}
	return b.do(method, path, kind, "", append([]string{"Sec-Fetch-Mode", "navigate", "Accept", "text/html,*/*;q=0.8"}, header...)...)
}

// wantPage fails unless the answer is a page about a fault, in a language, that
// keeps its own policy.
func (a answer) wantPage(t *testing.T, status int, code, lang, title string) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	h := a.Header
	id := h.Get("X-Request-Id")
	for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Content-Language": lang} {
		if h.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, h.Get(name), want)
		}
	}
	for _, part := range []string{`<html lang="` + lang + `"`, "<h1>" + title + "</h1>", `data-code="` + code + `"`, id} {
		if !strings.Contains(a.body, part) || part == "" {
			t.Errorf("%s is missing in the page:\n%s", part, a.body)
		}
	}
	if strings.Contains(a.body, "error.") {
		t.Errorf("a key is shown in place of its text:\n%s", a.body)
	}
	policy := h.Get("Content-Security-Policy")
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(a.body)
	sum := sha256.Sum256([]byte(style[1]))
	if !strings.Contains(policy, "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; ") {
		t.Errorf("the policy does not fit the page: %s", policy)
	}
	if inline := regexp.MustCompile(`<script[^>]*>[^<]|\sstyle=|\son[a-z]+=`).FindString(a.body); inline != "" {
		t.Errorf("inline: %s", inline)
	}
}

func TestPeopleGetPages(t *testing.T) {
	var dispense error
	s := people(t, func(o *host.Options) {
		o.Dispenser = pluginsdk.DispenserFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Intent{}, dispense
		})
	})
	login := func(b *browser, header ...string) answer {
		return b.do("POST", "/auth/login", "application/x-www-form-urlencoded", url.Values{"login": {adaEmail}, "password": {adaPassword}}.Encode(),
			append([]string{"Sec-Fetch-Mode", "navigate", "Origin", b.base}, header...)...)
	}
	for name, c := range map[string]struct {
		status        int
		code          string
		title, german string
		ask           func(b *browser, header ...string) answer
		again         bool // the page asks again by itself
	}{
		"NUL": {
			400, "malformed_request", "This address cannot be read", "Diese Adresse ist nicht lesbar",
			func(b *browser, h ...string) answer { return b.navigate("GET", "/x%00", h...) }, false,
		},
		"ambiguous path": {
			400, "malformed_request", "This address cannot be read", "Diese Adresse ist nicht lesbar",
			func(b *browser, h ...string) answer { return b.navigate("GET", "/away/x%2f..%2fadmin", h...) }, false,
		},
		"another site": {
			403, "cross_origin", "Not allowed", "Nicht erlaubt",
			func(b *browser, h ...string) answer {
				return b.navigate("POST", "/logout", append(h, "Origin", "https://evil.example")...)
			}, false,
		},
		"no page": {
			404, "not_found", "Page not found", "Seite nicht gefunden",
			func(b *browser, h ...string) answer { return b.navigate("GET", "/nothing", h...) }, false,
		},
		"another method": {
			405, "method_not_allowed", "Not possible here", "Hier nicht möglich",
			func(b *browser, h ...string) answer { return b.navigate("GET", "/logout", h...) }, false,
		},
		"another host": {
			421, "misdirected_request", "Wrong address", "Falsche Adresse",
			func(b *browser, h ...string) answer {
				return b.navigate("GET", "/", append(h, "Host", "evil.example")...)
			}, false,
		},
		"dispenser away": {
			503, "dispenser_unavailable", "Not available at the moment", "Im Moment nicht verfügbar",
			func(b *browser, h ...string) answer {
				dispense = errors.New("away")
				return login(b, h...)
			}, false,
		},
		"impossible step": {
			502, "dispenser_contract", "No answer from the application", "Keine Antwort der Anwendung",
			func(b *browser, h ...string) answer {
				dispense = nil
				return login(b, h...)
			}, false,
		},
		"application away": {
			502, "upstream_unavailable", "No answer from the application", "Keine Antwort der Anwendung",
			func(b *browser, h ...string) answer { return b.navigate("GET", "/away/x", h...) }, true,
		},
		"application away, posted to": {
			502, "upstream_unavailable", "No answer from the application", "Keine Antwort der Anwendung",
			func(b *browser, h ...string) answer { return b.navigate("POST", "/away/x", h...) }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.ask(s.browser(t))
			a.wantPage(t, c.status, c.code, "en", c.title)
			if asks := strings.Contains(a.body, `id="again"`) && strings.Contains(a.body, `<script type="module" src="/ui/auth/`) && strings.Contains(a.body, `http-equiv="refresh"`); asks != c.again {
				t.Errorf("asks again: %v, want %v", asks, c.again)
			}
			c.ask(s.browser(t), "Accept-Language", "de-AT,en;q=0.5").wantPage(t, c.status, c.code, "de", c.german)

			c.ask(s.browser(t), "Accept-Language", "en;q=0, *").wantPage(t, c.status, c.code, "de", c.german)

			// A script and a program get JSON as ever.
			for _, header := range [][]string{{"Sec-Fetch-Mode", "cors"}, {"Sec-Fetch-Mode", "", "Accept", "*/*"}, {"Sec-Fetch-Mode", "", "Accept", "text/html;q=0, */*"}} {
				c.ask(s.browser(t), header...).want(t, c.status, c.code)
			}
		})
	}
	b := s.browser(t)
	b.navigate("GET", "/nothing?lang=de", "Accept-Language", "en").wantPage(t, 404, "not_found", "de", "Seite nicht gefunden")
	// In front of forward auth it was a form that failed: nobody sends it again unasked.
	if a := b.navigate("GET", "/away/x", "X-Forwarded-Method", "POST"); a.StatusCode != 502 || strings.Contains(a.body, `id="again"`) || strings.Contains(a.body, `href=""`) {
		t.Errorf("a form is sent again:\n%s", a.body)
	}
	if a := b.navigate("GET", "/away/x%2f..%2fadmin"); !strings.Contains(a.body, "encoded slash") {
		t.Errorf("the page does not say what is ambiguous:\n%s", a.body)
	}
	if a := b.navigate("HEAD", "/nothing"); a.StatusCode != 404 || a.body != "" || a.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("HEAD: %d %v %q", a.StatusCode, a.Header, a.body)
	}
	if a := b.navigate("GET", "/nothing"); !strings.Contains(a.body, `href="/terms"`) || !strings.Contains(a.body, `<a class="primary" href="/">`) {
		t.Errorf("the links of the site are missing:\n%s", a.body)
	}
	if a := b.navigate("GET", "/", "Host", "evil.example"); strings.Contains(a.body, `href="/`) {
		t.Errorf("links under another name lead nowhere:\n%s", a.body)
	}
}

// Throttled people get a page, and when to come back.
func TestThrottledPage(t *testing.T) {
	s := people(t, nil)
	b := s.browser(t)
	for range 6 {
		b.login(adaEmail, "wrong", false)
	}
	a := b.do("POST", "/auth/login", "application/x-www-form-urlencoded", "login="+adaEmail+"&password=x", "Sec-Fetch-Mode", "navigate")
	a.wantPage(t, 429, "auth_throttle|60|1", "en", "One moment, please")
	if a.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After: %q", a.Header.Get("Retry-After"))
	}
}

func TestRouteNotFoundPage(t *testing.T) {
	s := people(t, func(o *host.Options) { o.Routes = o.Routes[1:] }) // no home
	s.browser(t).navigate("POST", "/logout").wantPage(t, 500, "route_not_found", "en", "Something went wrong")
}

// What an application answers, what is no navigation's fault, and everything below
// /odata/ stays as it is.
func TestNoPages(t *testing.T) {
	s := people(t, nil)
	b := s.browser(t)
	if a := b.navigate("GET", "/own/x"); a.StatusCode != 503 || a.body != "the application's own words" {
		t.Errorf("an application's answer: %d %s", a.StatusCode, a.body)
	}
	b.navigate("GET", "/odata/Products").want(t, 404, "not_found")
	b.navigate("GET", "/odata/%00").want(t, 400, "malformed_request")
	b.navigate("GET", "/odata/", "Host", "evil.example").want(t, 421, "misdirected_request")
	b.navigate("GET", "/auth/intents/current").want(t, 401, "unauthenticated") // not among those with a page
	b.do("POST", "/auth/login", "application/x-www-form-urlencoded", "login=&password=", "Sec-Fetch-Mode", "navigate").want(t, 422, "required")
}

// An app without error pages of its own gets those of the one that stands in, with
// the script that they load.
func TestErrorPagesStandIn(t *testing.T) {
	s := people(t, func(o *host.Options) { o.UI.App, o.UI.Errors = testApp(), ui.FS() })
	b := s.browser(t)
	a := b.navigate("GET", "/away")
	a.wantPage(t, 502, "upstream_unavailable", "en", "No answer from the application")
	script := regexp.MustCompile(`<script type="module" src="([^"]+)"`).FindStringSubmatch(a.body)
	if script == nil {
		t.Fatalf("no script in\n%s", a.body)
	}
	if a := b.get(script[1]); a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%s: %d %v", script[1], a.StatusCode, a.Header)
	}
	// One with pages of its own shows those, and nothing of ours.
	own := testApp()
	own["error.html"] = ownFile(`<!doctype html><html lang="{{.Lang}}"><style>h1{color:red}</style><h1>{{.Title}}</h1>{{.AppName}} {{.Code}} {{.Reference}}`)
	own["errors.json"] = ownFile(`{"en":{"error.title.404":"Lost","common.reference":"{0}"}}`)
	s = people(t, func(o *host.Options) {
		o.UI = host.UIOptions{App: own, Errors: ui.FS(), AppName: "<b>&"}
	})
	b = s.browser(t)
	if a := b.navigate("GET", "/x"); !strings.Contains(a.body, "<h1>Lost</h1>&lt;b&gt;&amp; not_found "+a.Header.Get("X-Request-Id")) {
		t.Errorf("%s", a.body)
	}
	b.navigate("GET", script[1]).want(t, 404, "")
	for name, files := range map[string][2]string{
		"no template": {"{{", "{}"}, "no words": {"x", ""}, "words of another kind": {"x", "[]"}, "unknown value": {"{{.Nothing}}", "{}"},
	} {
		broken := testApp()
		broken["error.html"] = ownFile(files[0])
		if files[1] != "" {
			broken["errors.json"] = ownFile(files[1])
		}
		if _, err := host.New(host.Options{Store: sqliteStore(t), UI: host.UIOptions{App: broken}}); err == nil || !strings.Contains(err.Error(), "error") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ownFile(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// The link back points at a page of this site, and to no address that only looks like one.
func TestBackLeadsToThisSite(t *testing.T) {
	s := people(t, nil)
	b := s.browser(t)
	for referer, want := range map[string]string{
		b.base + "/shop?x=1":            `href="/shop?x=1"`,
		b.base + "/nope":                "", // the same address
		b.base + "//evil.example/":      "",
		b.base + `/\\evil.example/`:     `href="/%5C%5Cevil.example/"`,
		"https://evil.example/":         "",
		b.base + "@evil.example/":       "",
		"javascript:alert(1)":           "",
		b.base + `/"><script>alert(1)`:  `href="/%22%3E%3Cscript%3Ealert%281%29"`,
		strings.ToUpper(b.base) + "/up": `href="/up"`,
	} {
		got := b.navigate("GET", "/nope", "Referer", referer)
		if got.StatusCode != 404 || strings.Contains(got.body, "evil.example") && want == "" || !strings.Contains(got.body, want) || strings.Contains(got.body, "Back to the page before") != (want != "") {
			t.Errorf("%s: %d, want %q in\n%s", referer, got.StatusCode, want, got.body[strings.Index(got.body, "<main>"):])
		}
	}
}

// Without JavaScript the sign-in shows whose it is: by the logo for each theme, or by name.
func TestNameWithoutJavaScript(t *testing.T) {
	for name, c := range map[string]struct {
		logos []string
		want  string
	}{
		"no logo": {nil, `<p class="app-name">Acme &amp; Sons</p>`},
		"one":     {[]string{"logo-full.svg"}, `<img class="logo plate" src="/assets/ci/logo-full.svg" alt="Acme &amp; Sons">`},
		"two": {
			[]string{"logo-full.svg", "logo-full-dark.svg"},
			`<picture><source srcset="/assets/ci/logo-full-dark.svg" media="(prefers-color-scheme: dark)"><img class="logo" src="/assets/ci/logo-full.svg" alt="Acme &amp; Sons"></picture>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, logo := range c.logos {
				path := filepath.Join(dir, "assets/ci", logo)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("<svg/>"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			s := people(t, func(o *host.Options) { o.UI.AppName, o.Server.PublicDir = "Acme & Sons", dir })
			a := s.browser(t).navigate("GET", "/login")
			body := a.body[strings.Index(a.body, "<body>"):]
			noscript, _, _ := strings.Cut(body[strings.Index(body, "<noscript>"):], "</noscript>")
			if !strings.Contains(noscript, "<header>"+c.want+"</header>") {
				t.Errorf("the header is not %s in\n%s", c.want, noscript)
			}
		})
	}
}
