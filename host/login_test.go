package host_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func TestLogin(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.browser(t)
		a := b.login(adaEmail, adaPassword, false)
		a.want(t, 200, "login_success")
		if n := a.next(t); n.Kind != "redirect" || n.Version != "1" || n.Target() != "/dashboard" {
			t.Errorf("next = %+v", n)
		}
		if got := b.get("/dashboard").Header.Get("Location"); got != "/dash-page" {
			t.Errorf("dashboard leads to %q", got)
		}
		b.do("POST", "/logout", "", "").want(t, 303, "")
		a = b.get("/dashboard")
		if got := a.Header.Get("Location"); a.StatusCode != 302 || got != "/login" {
			t.Errorf("after logout the dashboard answers %d to %q", a.StatusCode, got)
		}
		b.login("ADA@Example.COM", adaPassword, false).want(t, 200, "login_success")
		if strings.Contains(s.log.String(), adaPassword) {
			t.Error("the log holds the password")
		}
	})
}

func TestLoginForm(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	a := s.browser(t).do("POST", "/auth/login", "application/x-www-form-urlencoded", "login=ada%40example.com&password="+adaPassword+"&remember=on")
	a.want(t, 200, "login_success")
	if len(a.Cookies()) != 3 {
		t.Errorf("cookies: %v, want a session, a device token and a known browser", a.Cookies())
	}
}

func TestLoginRefusals(t *testing.T) {
	const js, form = "application/json", "application/x-www-form-urlencoded"
	tests := []struct {
		name, kind, body string
		status           int
		message          string
		fields           string
	}{
		{"text", "text/plain", `{}`, 415, "unsupported_media_type", ""},
		{"multipart", "multipart/form-data; boundary=x", "--x--", 415, "unsupported_media_type", ""},
		{"no type", "", `{"login":"a"}`, 415, "unsupported_media_type", ""},
		{"foreign charset", js + "; charset=utf-16", `{}`, 415, "unsupported_media_type", ""},
		{"too large", js, `{"login":"` + strings.Repeat("a", 64<<10) + `"}`, 413, "request_too_large", ""},
		{"no JSON", js, `{"login":`, 400, "malformed_request", ""},
		{"no object", js, `["a"]`, 400, "malformed_request", ""},
		{"trailing data", js, `{"login":"a","password":"b"} {}`, 400, "malformed_request", ""},
		{"duplicate key", js, `{"login":"a","login":"b","password":"c"}`, 400, "malformed_request", ""},
		{"nested duplicate key", js, `{"x":{"a":1,"a":2},"login":"b","password":"c"}`, 400, "malformed_request", ""},
		{"number for text", js, `{"login":1,"password":"b"}`, 400, "malformed_request", ""},
		{"list for text", js, `{"login":["a@b.c"],"password":"b"}`, 400, "malformed_request", ""},
		{"text for boolean", js, `{"login":"a","password":"b","remember":"true"}`, 400, "malformed_request", ""},
		{"not UTF-8", js, "{\"login\":\"\xff\"}", 400, "malformed_request", ""},
		{"bad form escape", form, "login=%zz&password=b", 400, "malformed_request", ""},
		{"duplicate form field", form, "login=a&login=b&password=c", 400, "malformed_request", ""},
		{"all missing", js, `{}`, 422, "required", "login,password"},
		{"blank login", js, `{"login":"  ","password":"b"}`, 422, "required", "login"},
		{"null password", js, `{"login":"a","password":null}`, 422, "required", "password"},
		{"unknown user", js, `{"login":"nobody@example.com","password":"b"}`, 422, "credentials_do_not_match", "login"},
		{"login with NUL", js, `{"login":"a\u0000b","password":"b"}`, 422, "credentials_do_not_match", "login"},
		{"unknown field", js, `{"login":"nobody@example.com","password":"b","x":1}`, 422, "credentials_do_not_match", "login"},
	}
	s := newSite(t, sqliteStore(t), nil)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := s.browser(t)
			a := b.do("POST", "/auth/login", test.kind, test.body)
			a.want(t, test.status, test.message)
			fault := a.json(t)
			if fault["request_id"] != a.Header.Get("X-Request-Id") || fault["request_id"] == "" {
				t.Errorf("request_id %v, header %q", fault["request_id"], a.Header.Get("X-Request-Id"))
			}
			errs, _ := fault["errors"].(map[string]any)
			for name := range strings.SplitSeq(test.fields, ",") {
				if name != "" && errs[name] == nil {
					t.Errorf("errors = %v, want %s", errs, name)
				}
			}
			if test.fields == "" && fault["errors"] != nil {
				t.Errorf("errors = %v, want none", fault["errors"])
			}
			if len(a.Cookies()) != 0 || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("cookies %v, Cache-Control %q", a.Cookies(), a.Header.Get("Cache-Control"))
			}
		})
	}
}

// Unknown, disabled and wrong password must not be told apart.
func TestLoginFailuresAreAlike(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		if _, err := s.admin.AddUser(t.Context(), "gone@example.com", "Gone", "some-long-password-77"); err != nil {
			t.Fatal(err)
		}
		if err := s.admin.SetDisabled(t.Context(), "gone@example.com", true); err != nil {
			t.Fatal(err)
		}
		var first string
		for _, try := range [][2]string{{"nobody@example.com", "x"}, {adaEmail, "wrong"}, {"gone@example.com", "some-long-password-77"}} {
			a := s.browser(t).login(try[0], try[1], false)
			h := a.Header.Clone()
			h.Del("Date")
			h.Del("X-Request-Id")
			body := strings.ReplaceAll(a.body, a.Header.Get("X-Request-Id"), "")
			got := fmt.Sprint(a.StatusCode, body, h)
			if first == "" {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("%s differs: %s", try[0], diff)
			}
		}
	})
}

func TestThrottle(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		b := s.browser(t)
		for range 5 {
			b.login(adaEmail, "wrong", false).want(t, 422, "credentials_do_not_match")
		}
		s.clock.Advance(10 * time.Second)
		a := b.login("Ada@example.com", adaPassword, false)
		a.want(t, 429, "auth_throttle|50|1")
		if got := a.Header.Get("Retry-After"); got != "50" {
			t.Errorf("Retry-After %q, want 50", got)
		}
		b.login("other@example.com", "wrong", false).want(t, 422, "")
		s.clock.Advance(51 * time.Second)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		for range 5 { // success has cleared the counter
			b.login(adaEmail, "wrong", false).want(t, 422, "")
		}
		b.login(adaEmail, "wrong", false).want(t, 429, "")
		if n, err := s.admin.ClearCounters(t.Context(), adaEmail); err != nil || n != 3 { // of the browser, of all clients, of the day
			t.Errorf("clear: %d, %v", n, err)
		}
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
	})
}

// Two hosts on one database: parallel guesses get five attempts together.
func TestThrottleAcrossHosts(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		sites := []*testSite{newSite(t, open(), nil), newSite(t, open(), nil)}
		var mu sync.Mutex
		statuses := map[int]int{}
		var all sync.WaitGroup
		for i := range 24 {
			b := sites[i%2].browser(t)
			all.Go(func() {
				resp, err := b.Post(b.base+"/auth/login", "application/json", strings.NewReader(`{"login":"ada@example.com","password":"guess"}`))
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
				mu.Lock()
				statuses[resp.StatusCode]++
				mu.Unlock()
			})
		}
		all.Wait()
		if statuses[422] != 5 || statuses[429] != 19 {
			t.Errorf("statuses %v, want 5 of 422 and 19 of 429", statuses)
		}
		b := sites[0].browser(t)
		sites[0].clock.Advance(time.Hour)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		b.base = sites[1].URL
		onOther := b.get("/dashboard", "Cookie", "vestibule_session="+sessionCookie(b, sites[0].URL))
		onOther.want(t, 302, "")
		if got := onOther.Header.Get("Location"); got != "/dash-page" {
			t.Errorf("the other host leads to %q", got)
		}
	})
}

func sessionCookie(b *browser, base string) string {
	saved := b.base
	defer func() { b.base = saved }()
	b.base = base
	return b.cookie("vestibule_session")
}

func TestThrottleByClient(t *testing.T) {
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	tests := []struct {
		name          string
		trusted       []netip.Prefix
		first, second string
		shared        bool
	}{
		{"header of nobody we trust", nil, "203.0.113.1", "203.0.113.2", true},
		{"two clients behind a proxy", []netip.Prefix{loopback}, "203.0.113.1", "203.0.113.2", false},
		{"forged left part", []netip.Prefix{loopback}, "1.1.1.1, 203.0.113.1", "2.2.2.2, 203.0.113.1", true},
		{"one IPv6 network", []netip.Prefix{loopback}, "2001:db8::1", "2001:db8::ffff", true},
		{"two IPv6 networks", []netip.Prefix{loopback}, "2001:db8::1", "2001:db8:0:1::1", false},
		{"rubbish in the header", []netip.Prefix{loopback}, "203.0.113.1, x", "203.0.113.2, x", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Server.TrustedProxies = test.trusted })
			b := s.browser(t)
			body := map[string]any{"login": adaEmail, "password": "x"}
			for range 5 {
				b.post("/auth/login", body, "X-Forwarded-For", test.first).want(t, 422, "")
			}
			got := b.post("/auth/login", body, "X-Forwarded-For", test.second).StatusCode
			if (got == 429) != test.shared {
				t.Errorf("status %d, want shared %v", got, test.shared)
			}
		})
	}
}

func TestMissingDashboard(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Routes = append(o.Routes[:1:1], host.Route{Name: "plain", Path: "/plain", Redirect: "/in"})
	})
	b := s.browser(t)
	for i := range 7 { // never counted as an attempt
		if i == 3 { // a page that was asked for is no way around it
			b.get("/plain").want(t, 302, "")
		}
		a := b.login(adaEmail, adaPassword, true)
		a.want(t, 500, "route_not_found")
		if len(a.Cookies()) != 0 {
			t.Errorf("cookies %v, want no session", a.Cookies())
		}
	}
	if list, err := s.admin.Sessions(t.Context(), adaEmail, 10); err != nil || len(list) != 0 {
		t.Errorf("sessions %v, %v; want none", list, err)
	}
	if !strings.Contains(s.log.String(), `dashboard`) {
		t.Error("the log does not name the route")
	}
}

func TestMissingHome(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Routes = o.Routes[1:] })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.do("POST", "/logout", "", "").want(t, 500, "route_not_found")
	b.get("/auth/intents/current").want(t, 401, "unauthenticated")
}

func TestLogoutWithoutSession(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	a := s.browser(t).do("POST", "/logout", "application/x-www-form-urlencoded", "")
	a.want(t, 303, "")
	if got := a.Header.Get("Location"); got != "/" {
		t.Errorf("Location %q, want /", got)
	}
}

func TestMethods(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	for path, allow := range map[string]string{
		"/auth/login": "POST", "/auth/forgot-password": "POST", "/auth/reset-password": "POST", "/logout": "POST",
		"/auth/intents/org-setup": "POST",
	} {
		a := s.browser(t).get(path)
		a.want(t, http.StatusMethodNotAllowed, "method_not_allowed")
		if got := a.Header.Get("Allow"); got != allow {
			t.Errorf("%s: Allow %q, want %q", path, got, allow)
		}
	}
	a := s.browser(t).do("POST", "/login", "", "")
	if a.StatusCode != 405 || a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /login: %d, Allow %q", a.StatusCode, a.Header.Get("Allow"))
	}
	a = s.browser(t).do("HEAD", "/login", "", "")
	if a.StatusCode != 200 || a.body != "" {
		t.Errorf("HEAD /login: %d %q", a.StatusCode, a.body)
	}
}

func TestSessionCookie(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	b.get("/dashboard").want(t, 302, "")
	guest := b.cookie("vestibule_guest")
	if guest == "" || b.cookie("vestibule_session") != "" {
		t.Fatal("the page that the guest asked for was not kept in a cookie of its own")
	}
	a := b.login(adaEmail, adaPassword, true)
	a.want(t, 200, "")
	for _, c := range a.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Path != "/" {
			t.Errorf("cookie %v", c)
		}
		if c.Name == "vestibule_remember" && c.MaxAge != int((720*time.Hour).Seconds()) {
			t.Errorf("device token lives %s s", strconv.Itoa(c.MaxAge))
		}
	}
	if b.cookie("vestibule_guest") != "" {
		t.Error("what was kept of the guest outlives the sign-in")
	}
	s.browser(t).get("/auth/intents/current", "Cookie", "vestibule_session="+guest).want(t, 401, "unauthenticated")
}
