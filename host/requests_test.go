package host_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// Every route that takes a body decodes it in the same way.
func TestBodies(t *testing.T) {
	const js, form = "application/json", "application/x-www-form-urlencoded"
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"login":"a","password":"b"}`))
	_ = z.Close()
	tests := []struct {
		name, kind, body string
		header           []string
		status           int
		message          string
	}{
		{"text", "text/plain", `{}`, nil, 415, "unsupported_media_type"},
		{"multipart", "multipart/form-data; boundary=x", "--x--", nil, 415, "unsupported_media_type"},
		{"XML", "application/xml", "<a/>", nil, 415, "unsupported_media_type"},
		{"no type", "", `{"login":"a"}`, nil, 415, "unsupported_media_type"},
		{"broken type", "application/", `{}`, nil, 415, "unsupported_media_type"},
		{"foreign charset", js + "; charset=latin1", `{}`, nil, 415, "unsupported_media_type"},
		{"compressed", js, packed.String(), []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type"},
		{"65,537 bytes", js, `{"login":"` + strings.Repeat("a", 64<<10) + `"}`, nil, 413, "request_too_large"},
		{"65,537 bytes of form", form, "login=" + strings.Repeat("a", 64<<10), nil, 413, "request_too_large"},
		{"cut off", js, `{"login":`, nil, 400, "malformed_request"},
		{"no object", js, `null`, nil, 400, "malformed_request"},
		{"trailing data", js, `{} x`, nil, 400, "malformed_request"},
		{"two objects", js, `{}{}`, nil, 400, "malformed_request"},
		{"duplicate key", js, `{"x":1,"x":2}`, nil, 400, "malformed_request"},
		{"the same key, escaped", js, `{"email":"a@b.example","\u0065mail":"c@d.example"}`, nil, 400, "malformed_request"},
		{"deep", js, strings.Repeat(`{"a":`, 99) + "1" + strings.Repeat("}", 99), nil, 400, "malformed_request"},
		{"not UTF-8", js, "{\"x\":\"\xff\"}", nil, 400, "malformed_request"},
		{"bad form escape", form, "x=%zz", nil, 400, "malformed_request"},
		{"duplicate form field", form, "x=a&x=b", nil, 400, "malformed_request"},
		{"semicolon in a form", form, "x=a;y=b", nil, 400, "malformed_request"},
	}
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
	signedIn := s.browser(t)
	signedIn.login(adaEmail, adaPassword, false).want(t, 200, "")
	for _, path := range []string{"/auth/login", "/auth/forgot-password", "/auth/reset-password", "/auth/intents/org-setup", "/logout"} {
		for _, test := range tests {
			t.Run(path+" "+test.name, func(t *testing.T) {
				a := signedIn.do("POST", path, test.kind, test.body, test.header...)
				a.want(t, test.status, test.message)
				if a.json(t)["request_id"] != a.Header.Get("X-Request-Id") || a.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s, %v", a.body, a.Header)
				}
			})
		}
	}
	signedIn.get("/auth/intents/current").want(t, 200, "") // a refused logout has signed nobody out
}

// Unknown fields do no harm; a boolean in a form is true, 1 or on; JSON types are
// exact.
func TestFields(t *testing.T) {
	const js, form = "application/json", "application/x-www-form-urlencoded"
	s := newSite(t, sqliteStore(t), nil)
	login := "login=" + adaEmail + "&password=" + adaPassword
	object := `{"login":"` + adaEmail + `","password":"` + adaPassword + `"`
	for _, test := range []struct {
		kind, body string
		status     int
		device     bool
	}{
		{form, login + "&remember=true", 200, true},
		{form, login + "&remember=1", 200, true},
		{form, login + "&remember=on", 200, true},
		{form, login + "&remember=yes", 200, false},
		{form, login + "&remember=false", 200, false},
		{form, login + "&remember=", 200, false},
		{form, login, 200, false},
		{form + "; charset=UTF-8", login + "&x=1", 200, false},
		{js, object + `,"remember":true}`, 200, true},
		{js, object + `,"remember":false,"x":{"y":[1,2]}}`, 200, false},
		{js, object + `,"remember":null}`, 200, false},
		{js + ";charset=utf-8", object + `}`, 200, false},
		{js, object + `,"Remember":true}`, 200, false}, // another name
		{js, object + `,"remember":1}`, 400, false},
		{js, object + `,"remember":"on"}`, 400, false},
		{js, object + `,"remember":[true]}`, 400, false},
	} {
		b := s.browser(t)
		a := b.do("POST", "/auth/login", test.kind, test.body)
		if a.StatusCode != test.status || (b.cookie(deviceName) != "") != test.device {
			t.Errorf("%s: status %d, device %q", test.body, a.StatusCode, b.cookie(deviceName))
		}
	}
}

// Signing out takes whatever a client sends along, and needs no session.
func TestLogoutBodies(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	for _, test := range []struct {
		kind, body string
	}{{"", ""}, {"application/json", ""}, {"application/json", "{}"}, {"application/json", `{"all":true}`}, {"application/x-www-form-urlencoded", "a=b"}} {
		for _, signedIn := range []bool{true, false} {
			b := s.browser(t)
			if signedIn {
				b.login(adaEmail, adaPassword, true).want(t, 200, "")
			}
			a := b.do("POST", "/logout", test.kind, test.body)
			if a.StatusCode != 303 || a.Header.Get("Location") != "/" || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%v: %d to %q", test, a.StatusCode, a.Header.Get("Location"))
			}
			if b.cookie(sessionName) != "" || b.cookie(deviceName) != "" {
				t.Errorf("%v: cookies are left", test)
			}
		}
	}
}

// HEAD is GET without the body, everywhere; other methods name what is allowed.
func TestEveryMethod(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	gets := []string{"/login", "/auth/bootstrap", "/auth/intents/current", "/password/reset/x", "/ui/modules.json", "/healthz", "/readyz", "/ui/auth/"}
	posts := []string{"/auth/login", "/auth/forgot-password", "/auth/reset-password", "/logout", "/auth/intents/org-setup"}
	for _, path := range gets {
		get, head := s.browser(t).get(path), s.browser(t).do("HEAD", path, "", "")
		if head.StatusCode != get.StatusCode || head.body != "" || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %q, GET %d", path, head.StatusCode, head.body, get.StatusCode)
		}
	}
	for allow, paths := range map[string][]string{"GET, HEAD": gets, "POST": posts} {
		for _, path := range paths {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
				if strings.Contains(allow, method) {
					continue
				}
				a := s.browser(t).do(method, path, "", "")
				if a.StatusCode != 405 || a.Header.Get("Allow") != allow {
					t.Errorf("%s %s: %d, Allow %q", method, path, a.StatusCode, a.Header.Get("Allow"))
				}
			}
		}
	}
}

// The time to wait in a throttled answer is one whole number, rounded up, and the
// same in the header and in the code.
func TestRetryAfter(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Auth.Window = 150 * time.Second })
	b := s.browser(t)
	for range 5 {
		b.login("nobody@example.com", "x", false).want(t, 422, "")
	}
	for _, step := range []struct {
		after   time.Duration
		seconds int
		minutes int
	}{{0, 150, 3}, {29500 * time.Millisecond, 121, 3}, {500 * time.Millisecond, 120, 2}, {60 * time.Second, 60, 1}, {59900 * time.Millisecond, 1, 1}} {
		s.clock.Advance(step.after)
		a := b.login("nobody@example.com", "x", false)
		a.want(t, 429, fmt.Sprintf("auth_throttle|%d|%d", step.seconds, step.minutes))
		if got := a.Header.Get("Retry-After"); got != strconv.Itoa(step.seconds) {
			t.Errorf("Retry-After %q, want %d", got, step.seconds)
		}
		if a.json(t)["errors"].(map[string]any)["login"] == nil {
			t.Errorf("not on login: %s", a.body)
		}
	}
	s.clock.Advance(100 * time.Millisecond)
	b.login("nobody@example.com", "x", false).want(t, 422, "")
}

// Login names of any kind are counted, refused and survived: very long ones, and
// those that databases do not like.
func TestOddLogins(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		s := newSite(t, open(), nil)
		for _, login := range []string{
			strings.Repeat("x", 10_000), strings.Repeat("ä", 10_000), "a\u0000b@example.com", "ada@example.com\u0000", "ада@пример.рф",
			"\u202eada@example.com", "ada@example.com' OR '1'='1", `ada@example.com";--`, "%", "_@example.com", "🙂@example.com", "ADA@EXAMPLE.COM\u0307",
		} {
			s.browser(t).login(login, adaPassword, false).want(t, 422, "credentials_do_not_match")
		}
		for range 4 {
			s.browser(t).login(strings.Repeat("x", 9_000), "x", false).want(t, 422, "")
		}
		s.browser(t).login(strings.Repeat("X", 8_000), "x", false).want(t, 429, "") // what is counted is cut off
		for _, row := range rows(t, s.db, "vestibule_counters") {
			if len(row["login"]) > 255 {
				t.Errorf("a counter keeps %d bytes", len(row["login"]))
			}
		}
		s.browser(t).login("  "+strings.ToUpper(adaEmail)+" ", adaPassword, false).want(t, 200, "")
	})
}

// A failed login leaves a row; none of them stays once its window is over,
// however many there are.
func TestThrottleRowsAreSwept(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		clock := newClock()
		for i := range 1200 { // more than two batches
			c := throttled("user-" + strconv.Itoa(i))
			if _, _, err := db.Throttle().Hit(t.Context(), c, clock.Now(), time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(2 * time.Minute)
		newSite(t, db, func(o *host.Options) { o.Now = clock.Now })
		for end := time.Now().Add(20 * time.Second); len(rows(t, db, "vestibule_counters")) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d counters are left", len(rows(t, db, "vestibule_counters")))
			}
		}
	})
}

// Known and unknown addresses cannot be told apart, neither by the answer nor by
// what is written.
func TestForgotTellsNobodyApart(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		// The transport always fails, so that the outbox keeps its rows for
		// inspection.
		s := newSite(t, db, func(o *host.Options) {
			o.Auth.ResetAttempts = 100
			o.Mail = host.MailOptions{Transport: "smtp", From: "a@example.com", SMTP: host.SMTPOptions{Host: "127.0.0.1", Port: 1, TLS: "none"}}
		})
		if _, err := s.admin.AddUser(t.Context(), "off@example.com", "Off", "some-long-password-77"); err != nil {
			t.Fatal(err)
		}
		if err := s.admin.SetDisabled(t.Context(), "off@example.com", true); err != nil {
			t.Fatal(err)
		}
		if err := s.host.Stop(context.Background()); err != nil { // nobody takes the mail away
			t.Fatal(err)
		}
		var first string
		for _, email := range []string{"nobody@example.com", adaEmail, "off@example.com"} {
			counters, mails := len(rows(t, db, "vestibule_counters")), len(rows(t, db, "vestibule_outbox"))
			a := s.browser(t).post("/auth/forgot-password", map[string]any{"email": email})
			h := a.Header.Clone()
			h.Del("Date")
			h.Del("X-Request-Id")
			got := fmt.Sprint(a.StatusCode, a.body, h, len(rows(t, db, "vestibule_outbox"))-mails)
			if first == "" {
				first = got
				counters++ // the client's own, once
			}
			if more := len(rows(t, db, "vestibule_counters")) - counters; more != 2 {
				t.Errorf("%s: %d counters more, want 2", email, more)
			}
			if got != first {
				t.Errorf("%s: %s\nwant %s", email, got, first)
			}
		}
		owed := map[string]bool{}
		for _, row := range rows(t, db, "vestibule_outbox") {
			owed[row["user_id"]] = true
		}
		if len(owed) != 2 || !owed[""] || !owed[s.user.ID] {
			t.Errorf("mail is owed to %v, want Ada and nobody", owed)
		}
	})
}

// Within the time to wait, the same answer comes and no mail goes.
func TestResend(t *testing.T) {
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.Auth.ResetAttempts = 100 })
	b := s.browser(t)
	for i, step := range []struct {
		after time.Duration
		mails int
	}{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}, {119 * time.Second, 2}, {time.Second, 3}} {
		s.clock.Advance(step.after)
		b.post("/auth/forgot-password", map[string]any{"email": []string{adaEmail, strings.ToUpper(adaEmail)}[i%2]}).want(t, 200, "reset_link_sent")
		if n := len(s.letters(t, step.mails)); n != step.mails {
			t.Errorf("step %d: %d mails, want %d", i, n, step.mails)
		}
	}
}

// A disabled person gets neither a link nor a notice, also when the mail was
// queued before.
func TestDisabledGetNoMail(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	b := s.browser(t)
	_, token := s.link(t, b, 1)
	if err := s.admin.SetDisabled(t.Context(), adaEmail, true); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(2 * time.Minute)
	b.post("/auth/forgot-password", map[string]any{"email": adaEmail}).want(t, 200, "reset_link_sent")
	b.post("/auth/reset-password", resetBody(token, newPassword)).want(t, 422, "reset_failed")
	if err := s.db.Outbox().Queue(t.Context(), outbox.Item{UserID: s.user.ID, Purpose: "password_reset", Locale: "en"}); err != nil {
		t.Fatal(err)
	}
	b.post("/auth/forgot-password", map[string]any{"email": "nobody@example.com"}).want(t, 200, "")
	for end := time.Now().Add(20 * time.Second); len(rows(t, s.db, "vestibule_outbox")) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the outbox is not empty")
		}
	}
	if n := len(s.letters(t, 1)); n != 1 {
		t.Errorf("%d mails, want the first alone", n)
	}
}

// Links and redirects never take a name from the request: with a public URL any
// Host is served, without one a foreign Host gets 421.
func TestForwardingHeadersNameNothing(t *testing.T) {
	forged := []string{"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https", "Forwarded", "host=evil.example", "X-Original-Host", "evil.example"}
	public := &url.URL{Scheme: "http", Host: "App.Example.com:80"}
	for name, site := range map[string]*testSite{
		"public":   newSite(t, sqliteStore(t), func(o *host.Options) { o.Server.PublicURL = public }),
		"loopback": newSite(t, sqliteStore(t), nil),
	} {
		b := site.browser(t)
		want := site.URL
		if name == "public" {
			want = "http://app.example.com"
		}
		if loc := b.get("/dashboard", forged...).Header.Get("Location"); loc != "/login" {
			t.Errorf("%s: guarded page leads to %q", name, loc)
		}
		path, token := site.link(t, b, 1)
		if m := linkPattern.FindString(site.letters(t, 1)[0]); name == "public" && !strings.HasPrefix(m, want+"/password/reset/") {
			t.Errorf("%s: link %q", name, m)
		}
		if loc := b.get(path, forged...).Header.Get("Location"); !strings.HasPrefix(loc, "/login#/set-password/") {
			t.Errorf("%s: link leads to %q", name, loc)
		}
		a := b.post("/auth/reset-password", resetBody(token, newPassword), forged...)
		a.want(t, 200, "reset_success")
		if got := a.json(t)["redirect"]; got != want+"/login" {
			t.Errorf("%s: redirect %v, want %s/login", name, got, want)
		}
		a = b.get("/login", append([]string{"Host", "evil.example"}, forged...)...)
		if status := map[string]int{"public": 200, "loopback": 421}[name]; a.StatusCode != status {
			t.Errorf("%s: foreign Host: %d, want %d", name, a.StatusCode, status)
		}
	}
}

// An attacker's page cannot sign a victim in as the attacker, whatever a browser
// lets it send: the form can only be posted from the same origin.
func TestLoginCSRF(t *testing.T) {
	s := newSite(t, sqliteStore(t), nil)
	form := "login=" + adaEmail + "&password=" + adaPassword
	for _, headers := range [][]string{
		{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
		{"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", s.URL + ".evil.example"},
		{"Origin", "http://127.0.0.1"},
	} {
		for _, kind := range []string{"application/x-www-form-urlencoded", "application/json", "text/plain"} {
			for _, path := range []string{"/auth/login", "/auth/forgot-password", "/auth/reset-password", "/logout", "/auth/intents/org-setup"} {
				a := s.browser(t).do("POST", path, kind, form, headers...)
				a.want(t, http.StatusForbidden, "cross_origin")
				if len(a.Cookies()) != 0 {
					t.Errorf("%v: cookies %v", headers, a.Cookies())
				}
			}
		}
	}
	s.browser(t).do("POST", "/auth/login", "application/x-www-form-urlencoded", form, "Origin", s.URL, "Sec-Fetch-Site", "same-origin").want(t, 200, "")
}
