package host_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// foreign are targets by which others have been led astray. None of them may
// come out of a sign-in, in any spelling.
func foreign() []string {
	return []string{
		"https://evil.example", "HTTPS://evil.example", "http:evil.example", "https:/evil.example", "https:evil.example", "//evil.example", "///evil.example",
		"////evil.example", `/\evil.example`, `\/evil.example`, `\\evil.example`, `/\/evil.example`, `/a\evil.example`, "/\t/evil.example", "\t//evil.example",
		"/\n/evil.example", "/\r\n/evil.example", "/\r\nLocation: https://evil.example", "/\x00/evil.example", "/\x0b/evil.example", "/\u2028/evil.example",
		"/%2F/evil.example", "/%2f%2fevil.example", "/%252f/evil.example", "/%5Cevil.example", "/%255cevil.example", "/%09/evil.example", "/%2509/evil.example",
		"/%0a/evil.example", "/%0d%0aSet-Cookie:x=1", "/%00", "/..//evil.example", "/a/..//evil.example", "/.//evil.example", "/;//evil.example",
		"@evil.example", "https://app@evil.example", "https://evil.example@127.0.0.1/", "//[::1]/", "//[::ffff:127.0.0.1]", "https://[::1]/", "//2130706433",
		"//127.1", "//evil。example", "//evil.example:80", "javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:alert(1)", "data:text/html,x",
		"vbscript:x", "file:///etc/passwd", "evil.example", ".evil.example", "?//evil.example", "#//evil.example", " /dashboard", "", "/%", "/%zz", "/\xff",
		"/" + strings.Repeat("a", 8<<10),
	}
}

func TestOpenRedirects(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	settled := s.browser(t)
	settled.login(adaEmail, adaPassword, false).want(t, 200, "")
	for _, target := range foreign() {
		query := "/login?redirect=" + url.QueryEscape(target)
		b.forget(sessionName)
		b.get(query)
		if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != "/dashboard" {
			t.Errorf("%q leads to %q after the sign-in", target, got)
		}
		s.clock.Advance(time.Minute) // led there so often within seconds, somebody is stopped
		if got := settled.get(query).Header.Get("Location"); got != "/dashboard" {
			t.Errorf("%q leads to %q when signed in", target, got)
		}
	}
	// A page of one's own is followed as it stands.
	for _, target := range []string{"/", "/a/b?c=d&e=%2F%2Fx#f", "/go?to=https://x.example//y", "/ä", "/a;b=1", "/@me", "/a:b", "/[::1]"} {
		b.forget(sessionName)
		b.get("/login?redirect=" + url.QueryEscape(target))
		if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != target {
			t.Errorf("%q leads to %q", target, got)
		}
	}
}

// A raw request line cannot smuggle another host into what is kept of it.
func TestOpenRedirectsThroughGuardedPages(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = append(o.Routes, host.Route{Name: "files", Path: "/files", Dir: t.TempDir()})
	})
	for _, path := range []string{"/files/%5Cevil.example", "/files/%2F%2Fevil.example", "/files/%09/evil.example", "/files/%250aevil"} {
		b := s.browser(t)
		b.get(path)
		if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != "/dashboard" {
			t.Errorf("%s leads to %q", path, got)
		}
	}
}

// Nobody is sent back to the page that sends him on, without end.
func TestLoginNeverLeadsToItself(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	for _, target := range []string{"/login", "/login?redirect=/login", "/%6Cogin", "/./login", "/x/../login", "/login/", "/login#x", "/logout"} {
		b := s.browser(t)
		b.get("/login?redirect="+url.QueryEscape(target)).want(t, 200, "")
		if got := b.login(adaEmail, adaPassword, false).next(t).Target(); got != "/dashboard" {
			t.Errorf("%s: the sign-in leads to %q", target, got)
		}
		for range 2 {
			if got := b.get("/login?redirect=" + url.QueryEscape(target)).Header.Get("Location"); got != "/dashboard" {
				t.Errorf("%s: the login page leads to %q", target, got)
			}
		}
	}
	// A dispenser that answers these targets is refused as well.
	for _, target := range []string{"/login", "own origin"} {
		o := &orgs{}
		s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser = o })
		if target == "own origin" {
			target = s.URL + "/login"
		}
		o.dispense = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Redirect(target), nil
		}
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		if got := b.get("/login").Header.Get("Location"); got != "/dashboard" {
			t.Errorf("a dispenser's %s leads from the login page to %q", target, got)
		}
	}
}

// A user who signs in where another was signed in gets nothing of that session.
func TestNextPersonGetsNothing(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
	if _, err := s.admin.AddUser(t.Context(), "bob@example.com", "Bob", "another-long-password-5"); err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	b.login(adaEmail, adaPassword, true).want(t, 200, "")
	b.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 200, "") // sets a session value
	ada := deviceName + "=" + b.cookie(deviceName)
	b.get("/dashboard").want(t, 302, "")
	a := b.login("bob@example.com", "another-long-password-5", false)
	a.want(t, 200, "")
	if n := a.next(t); n.Kind != "org_setup" || n.Payload["personName"] != "Bob" {
		t.Errorf("Bob inherits %+v", n)
	}
	if list, err := s.admin.Sessions(t.Context(), adaEmail, 10); err != nil || len(list) != 0 {
		t.Errorf("Ada's sessions: %v, %v", list, err)
	}
	s.browser(t).get("/auth/intents/current", "Cookie", ada).want(t, 401, "")
}
