package host_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// newFront starts a proxy by its recipe, with query added to what it asks for.
func newFront(t *testing.T, proxy forwarder, query string) *front {
	t.Helper()
	o := &orgs{dispense: func(u pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
		if u.Email == "bob@example.com" { // whose step stays open
			return pluginsdk.OrgSetup(u.Name), nil
		}
		return pluginsdk.Done(), nil
	}}
	s := withForwardAuth(t, sqliteStore(t), func(opts *host.Options) { step(o)(opts); opts.Now = nil })
	if _, err := s.db.AddUser(t.Context(), "bob@example.com", "Bob", weakHash()); err != nil {
		t.Fatal(err)
	}
	// As long as a name can be, in letters that grow on the way.
	if _, err := s.db.Writer().Exec("UPDATE users SET name = '" + strings.Repeat("ß", 255) + "' WHERE email = '" + adaEmail + "'"); err != nil {
		t.Fatal(err)
	}
	app := &seen{}
	server := httptest.NewServer(app)
	t.Cleanup(server.Close)
	// Not below t.TempDir(), whose path may be too long for a configuration.
	dir, err := os.MkdirTemp("", "front")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f := &front{s, places{dir, s.Listener.Addr().String(), server.Listener.Addr().String(), freeAddress(t), newCertificate(t, dir), query}, app}
	proxy.start(t, f.places)
	return f
}

func (f *front) as(t *testing.T, email string) *browser {
	t.Helper()
	b := f.browser(t)
	a := b.post("/auth/login", map[string]any{"login": email, "password": adaPassword}, "Origin", "https://app.example.com")
	a.want(t, 200, "login_success")
	return b
}

// through checks what an application got: one request, with the identity of user and
// nothing else that it might take for one.
func (f *front) through(t *testing.T, what, user string) {
	t.Helper()
	got := f.app.taken()
	if len(got) != 1 {
		t.Fatalf("%s: the application got %d requests, want one", what, len(got))
	}
	h := got[0].Header
	if h.Get("X-Vestibule-User") != user {
		t.Errorf("%s: the application is told %q, want %q", what, h.Get("X-Vestibule-User"), user)
	}
	for name, values := range h {
		known := name == "X-Vestibule-User" || name == "X-Vestibule-Email" || name == "X-Vestibule-Name" || name == "X-Vestibule-Assertion" || name == "X-Vestibule-Step"
		if reserved.IdentityHeader(name) && (!known || len(values) != 1 || values[0] == "forged") {
			t.Errorf("%s: the application gets %s: %q", what, name, values)
		}
	}
	assertion := h.Get("X-Vestibule-Assertion")
	if user == "" {
		if assertion != "" {
			t.Errorf("%s: an assertion about nobody", what)
		}
		return
	}
	if claims := f.now(t, assertion); claims["sub"] != user {
		t.Errorf("%s: the assertion is about %v", what, claims["sub"])
	}
}

// now returns the claims of an assertion made by the machine's clock.
func (f *front) now(t *testing.T, assertion string) map[string]any {
	t.Helper()
	s := *f.testSite
	s.clock = &clock{now: time.Now()}
	return s.claims(t, assertion, "https://app.example.com", "verify")
}

// kept checks that the application got nothing.
func (f *front) kept(t *testing.T, what string) {
	t.Helper()
	if got := f.app.taken(); len(got) > 0 {
		t.Errorf("%s reaches the application as %s", what, got[0].RequestURI)
	}
}

// forged are a client's own headers, in the spellings that an application may take
// for ours.
func forged() []string {
	var list []string
	for _, name := range []string{"User", "Email", "Name", "Step", "Assertion"} {
		for _, spelled := range []string{"x-vestibule-", "X_VESTIBULE_"} {
			list = append(list, spelled+name, "forged")
		}
		for _, first := range []string{"-", "_", "."} {
			for _, second := range []string{"-", "_", "."} {
				list = append(list, "X"+first+"Vestibule"+second+name, "forged")
			}
		}
	}
	return append(list, "X-Forwarded-Uri", "/forged", "X-Forwarded-Method", "OPTIONS", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "gopher",
		"X-Forwarded-For", "203.0.113.9")
}

// TestForwardAuth runs the recipes of docs/forward-auth.md with the real proxies.
func TestForwardAuth(t *testing.T) {
	for _, proxy := range forwarders() {
		t.Run(proxy.name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, proxy, "")
			id := f.user.ID
			guest, ada, bob := f.browser(t), f.as(t, adaEmail), f.as(t, "bob@example.com")
			const signIn = "https://app.example.com/login?redirect=%2Fapp%2Fx%3Fa%3D1%26guard%3Dnone%26tokens%3Dtrue"
			const page = "/app/x?a=1&guard=none&tokens=true" // which no proxy may hand on as its own

			t.Run("guest", func(t *testing.T) {
				guest := guest.with(t)
				a := guest.get(page, navigates...)
				if a.StatusCode != 302 || a.Header.Get("Location") != signIn {
					t.Errorf("navigation: %d to %q", a.StatusCode, a.Header.Get("Location"))
				}
				guest.get(strings.TrimPrefix(signIn, "https://app.example.com"), navigates...).want(t, 200, "")
				a = guest.do("POST", page, "text/plain", "x", append([]string{"Origin", "https://app.example.com"}, navigates...)...)
				if a.StatusCode != 303 || a.Header.Get("Location") != signIn {
					t.Errorf("form: %d to %q", a.StatusCode, a.Header.Get("Location"))
				}
				guest.do("GET", page, "", "", fetches...).want(t, 401, "")
				if status := f.send(t, "POST "+page, strings.Repeat("x", 1_000_000), append([]string{"Origin", "https://app.example.com"}, fetches...)...); status != 401 {
					t.Errorf("a big form: %d", status)
				}
				guest.do("GET", page, "", "", append(forged(), fetches...)...).want(t, 401, "")
				f.kept(t, "a guest")
			})
			t.Run("signed in", func(t *testing.T) {
				ada := ada.with(t)
				for _, kind := range [][]string{navigates, fetches} {
					a := ada.do("GET", page, "", "", kind...)
					if a.StatusCode != 200 || a.body != "the application" {
						t.Fatalf("%d %s", a.StatusCode, a.body)
					}
					f.through(t, "a signed-in person", id)
				}
				ada.do("POST", page, "text/plain", strings.Repeat("x", 100_000), "Origin", "https://app.example.com", "Sec-Fetch-Site", "same-origin").want(t, 200, "")
				f.through(t, "a signed-in person's post", id)
				ada.do("GET", page, "", "", append(forged(), fetches...)...).want(t, 200, "")
				f.through(t, "a signed-in forger", id)
			})
			t.Run("unsettled", func(t *testing.T) {
				bob := bob.with(t)
				a := bob.get(page, navigates...)
				if a.StatusCode != 302 || a.Header.Get("Location") != signIn {
					t.Errorf("navigation: %d to %q", a.StatusCode, a.Header.Get("Location"))
				}
				bob.do("GET", page, "", "", fetches...).want(t, 403, "")
				f.kept(t, "somebody unsettled")
			})
			t.Run("another site", func(t *testing.T) {
				ada := ada.with(t)
				ada.do("POST", page, "text/plain", "x", "Origin", "https://evil.example").want(t, 403, "")
				ada.do("GET", page, "", "", "Origin", "https://evil.example", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==").want(t, 403, "")
				f.kept(t, "another site's request")
			})
			t.Run("long pages", func(t *testing.T) {
				guest, ada := guest.with(t), ada.with(t)
				long := "/app/x?q=" + strings.Repeat("%C3%9F", 330)
				a := guest.get(long, navigates...)
				if want := "https://app.example.com/login?redirect=" + url.QueryEscape(long); a.StatusCode != 302 || a.Header.Get("Location") != want {
					t.Errorf("%d to %q", a.StatusCode, a.Header.Get("Location"))
				}
				a = guest.get(long+long, navigates...) // which is more than is kept
				if a.StatusCode != 302 || a.Header.Get("Location") != "https://app.example.com/login" {
					t.Errorf("%d to %q", a.StatusCode, a.Header.Get("Location"))
				}
				ada.get(long+long, navigates...).want(t, 200, "")
				f.through(t, "a long page", id)
			})
			t.Run("what belongs to one connection", func(t *testing.T) {
				cookie := "__Host-vestibule_session=" + ada.cookie("__Host-vestibule_session")
				const ours = "close, X-Vestibule-User, X-Vestibule-Assertion, X-Forwarded-Uri, X-Forwarded-Method, X-Forwarded-Host, X-Forwarded-Proto"
				f.raw(t, "/app/x", "Connection", ours)
				f.kept(t, "a guest who calls our headers his connection's")
				if f.raw(t, "/app/x", append(forged(), "Cookie", cookie, "Connection", ours)...) == 200 {
					for _, r := range f.app.taken() {
						if got := r.Header.Get("X-Vestibule-User"); got != id && got != "" {
							t.Errorf("the application is told %q", got)
						}
					}
				}
			})
			t.Run("HTTP/2", func(t *testing.T) {
				b := f.browser(t)
				transport, _ := b.Transport.(*http.Transport)
				transport.ForceAttemptHTTP2 = true
				b.do("GET", page, "", "", append(forged(), fetches...)...).want(t, 401, "")
				f.kept(t, "a guest")
				b.Jar = ada.Jar
				b.do("GET", page, "", "", append(forged(), fetches...)...).want(t, 200, "")
				f.through(t, "a signed-in forger", id)
				b.do("POST", page, "text/plain", strings.Repeat("x", 100_000), "Origin", "https://app.example.com").want(t, 200, "")
				f.through(t, "a post", id)
			})
			t.Run("traces", f.traces(guest, ada))
			t.Run("paths", f.paths(ada))
			t.Run("outage", func(t *testing.T) {
				ada := ada.with(t)
				if err := f.db.Close(); err != nil {
					t.Fatal(err)
				}
				for _, kind := range [][]string{navigates, fetches} {
					if a := ada.do("GET", page, "", "", kind...); a.StatusCode < 500 {
						t.Errorf("status %d", a.StatusCode)
					}
				}
				f.Close() // the host itself is away
				if a := ada.do("GET", page, "", "", fetches...); a.StatusCode < 500 {
					t.Errorf("without the host: status %d", a.StatusCode)
				}
				f.kept(t, "an outage")
			})
		})
	}
}

// traces asks with a request id and a trace of the client's own choice, which would join
// lines of the log that have nothing to do with each other.
func (f *front) traces(browsers ...*browser) func(*testing.T) {
	return func(t *testing.T) {
		f.app.taken()
		const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
		own := []string{"X-Request-Id", "chosen-by-the-client", "Traceparent", "00-" + trace + "-00f067aa0ba902b7-01", "Tracestate", "chosen=by-the-client"}
		before := len(f.log.String())
		for _, b := range browsers {
			for _, page := range []string{"/login", "/app/traced"} {
				if id := b.with(t).do("GET", page, "", "", append(own, navigates...)...).Header.Get("X-Request-Id"); id == own[1] {
					t.Errorf("%s: the answer has the client's request id", page)
				}
			}
		}
		log := f.log.String()[before:]
		for _, path := range []string{"/login", "/auth/verify"} {
			if !strings.Contains(log, " path="+path) {
				t.Errorf("no line tells of %s: %s", path, log)
			}
		}
		if strings.Contains(log, own[1]) || strings.Contains(log, trace) {
			t.Errorf("the log has the client's own: %s", log)
		}
		got := f.app.taken()
		if len(got) != 1 {
			t.Fatalf("the application got %d requests, want one", len(got))
		}
		if h := got[0].Header; h.Get("X-Request-Id") == own[1] || strings.Contains(h.Get("Traceparent"), trace) || h.Get("Tracestate") != "" {
			t.Errorf("the application gets %v", h)
		}
	}
}

// paths tries to get past the guard by what servers read in different ways, and to
// ask the host in the proxy's place.
func (f *front) paths(ada *browser) func(*testing.T) {
	return func(t *testing.T) {
		cookie := "__Host-vestibule_session=" + ada.cookie("__Host-vestibule_session")
		for _, target := range []string{
			"/app/../app/x", "/x/../app/x", "/%61pp/x", "/app%2fx", "/app%2Fx", "//app/x", "/app//x", "/./app/x", "/x/..;/app/x", "/app;a=1/x", "/x%2f..%2fapp/x", `/x\..\app\x`, "/x%5c..%5capp/x",
			"/app/x#", "https://app.example.com/app/x", "http://evil.example/app/x", "/app/%00", "/app/x%0d%0aX-Vestibule-User:%201", "/APP/x", "/app/.", "/app/..", "/app?/x", "/%2561pp/x", "/app/%2e%2e/app/x",
		} {
			if status := f.raw(t, target); status == 200 {
				if got := f.app.taken(); len(got) > 0 {
					t.Errorf("a guest gets %s", target)
				}
			}
			f.kept(t, "a guest's "+target)
		}
		// What leads out of an application does not lead to it, whoever asks.
		for _, target := range []string{"/app/../x", "/app/%2e%2e/x", "/app/..%2fx", "/app/..%5cx", "/app/..;/x", "/app/%252e%252e/x", "/app/a/../../x"} {
			f.raw(t, target, "Cookie", cookie)
			f.kept(t, "the way out "+target)
		}
		for _, target := range []string{"/app/x", "/app/a%2Fb", "/app/x;v=1", "/app/a//b", "/app/%C3%9F?q=%zz"} {
			if status := f.raw(t, target, "Cookie", cookie); status != 200 {
				t.Errorf("%s: %d", target, status)
			}
			f.through(t, target, f.user.ID)
		}
		for _, target := range []string{
			"/auth/verify", "/auth/verify?guard=none", "/auth/%76erify", "/auth//verify", "/auth/./verify", "//auth/verify", "/auth/verify/", "/auth/verify;x", "/auth%2fverify",
			"/_vestibule", "/_vestibule?guard=none", "/AUTH/verify", "/auth/x/../verify", "https://app.example.com/auth/verify",
		} {
			told := []string{"Cookie", cookie, "X-Forwarded-Method", "GET", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "app.example.com", "X-Forwarded-Uri", "/app/x"}
			if status := f.raw(t, target, told...); status == 200 || status == 401 || status == 403 {
				t.Errorf("a client asks for itself at %s: %d", target, status)
			}
		}
		f.kept(t, "a client's question")
	}
}

// Where everybody passes, what a client says of itself does not.
func TestForwardAuthOfGuests(t *testing.T) {
	for _, proxy := range forwarders() {
		t.Run(proxy.name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, proxy, "guard=none")
			f.browser(t).do("GET", "/app/x", "", "", append(forged(), navigates...)...).want(t, 200, "")
			f.through(t, "a guest", "")
			ada := f.as(t, adaEmail)
			ada.do("GET", "/app/x", "", "", append(forged(), fetches...)...).want(t, 200, "")
			f.through(t, "a signed-in person", f.user.ID)
			ada.do("POST", "/app/x", "text/plain", "x", append(forged(), "Origin", "https://evil.example")...).want(t, 200, "")
			f.through(t, "another site's post", "")
		})
	}
}
