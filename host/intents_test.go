package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
	"github.com/vestibule-dev/vestibule/v2/ui"
)

// orgs plays both roles in this process: it dispenses org_setup until the
// session value "done" is set, and the organisation's name selects what its
// handler does.
type orgs struct {
	mu       sync.Mutex
	intents  []string
	requests []*pluginsdk.Request
	dispense func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error)
}

func (o *orgs) Dispense(_ context.Context, u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, r)
	if o.dispense != nil {
		return o.dispense(u, r)
	}
	if done, _ := r.Session.Bool("orgs/done"); done {
		return pluginsdk.Done(), nil
	}
	return pluginsdk.OrgSetup(u.Name), nil
}

func (o *orgs) Handle(_ context.Context, _ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.intents = append(o.intents, r.IntentID)
	switch name, _ := r.Form.Text("org_name"); name {
	case "more":
		return pluginsdk.NeedsMoreInput(map[string]any{"fields": map[string]any{"billing_email": []string{"required"}}}), nil
	case "fail":
		return pluginsdk.Failed("org_taken", "Try another."), nil
	case "down":
		return pluginsdk.Result{}, fmt.Errorf("%w: restarting", pluginsdk.ErrUnavailable)
	case "nothing":
		return pluginsdk.Result{}, nil
	case "ungranted":
		return pluginsdk.Satisfied().With(pluginsdk.SetUser("password", "x")), nil
	}
	return pluginsdk.Satisfied().With(pluginsdk.SetSession("orgs/done", true)), nil
}

func orgForm(name string) map[string]any {
	return map[string]any{
		"legal_form": 1, "org_name": name, "company_size": "solo", "function": "developer", "marketing_consent": false,
	}
}

func TestIntentLoop(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		s := newSite(t, open(), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
		b := s.browser(t)
		b.get("/dashboard?tab=2").want(t, 302, "")
		a := b.login(adaEmail, adaPassword, true)
		a.want(t, 200, "login_success")
		if n := a.next(t); n.Kind != "org_setup" || n.Payload["personName"] != "Ada" {
			t.Fatalf("next = %+v", n)
		}
		for path, kind := range map[string]string{"/auth/intents/current": "org_setup", "/auth/bootstrap": "org_setup"} {
			if n := b.get(path).next(t); n.Kind != kind {
				t.Errorf("%s: %+v", path, n)
			}
		}
		steps := []struct{ name, status, body string }{
			{"more", "needs_more_input", `{"status":"needs_more_input","next_step":{"fields":{"billing_email":["required"]}},"errors":null,"next":null}`},
			{"fail", "error", `{"status":"error","next_step":null,"errors":["org_taken","Try another."],"next":null}`},
			{"Analytical Engines", "satisfied", `{"status":"satisfied","next_step":null,"errors":null,"next":{"kind":"redirect","version":"1","payload":{"target":"/dashboard?tab=2"}}}`},
		}
		for _, step := range steps {
			a := b.post("/auth/intents/org-setup", orgForm(step.name))
			a.want(t, 200, "")
			if got := strings.TrimSpace(a.body); got != step.body {
				t.Errorf("%s:\n got %s\nwant %s", step.name, got, step.body)
			}
		}
		if o.intents[0] != o.intents[1] || o.intents[1] != o.intents[2] {
			t.Errorf("intent ids %v, want the same for every attempt", o.intents)
		}
		b.post("/auth/intents/org-setup", orgForm("again")).want(t, 409, "intent_not_current")
		a = b.get("/login")
		if got := a.Header.Get("Location"); a.StatusCode != 302 || got != "/dashboard?tab=2" {
			t.Errorf("GET /login: %d to %q", a.StatusCode, got)
		}
		// A browser gets the page, which alone can tell whose the fragment is.
		a = b.get("/login", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
		if want := `"next":{"kind":"redirect","version":"1","payload":{"target":"/dashboard?tab=2"}}`; a.StatusCode != 200 || !strings.Contains(a.body, want) {
			t.Errorf("GET /login of a browser: %d\n%s", a.StatusCode, a.body)
		}
	})
}

// Somebody who is signed in gets on without JavaScript too, whatever stands in the address.
func TestSettledWithoutJavaScript(t *testing.T) {
	own := fstest.MapFS{
		"index.html":    {Data: []byte(`<head><noscript>style</noscript></head><body><noscript>Switch it on.</noscript><script id="bootstrap">{}</script>`)},
		"manifest.json": {Data: []byte(`{"core":"2"}`)},
	}
	const to = `/dashboard/?q=a%20b&#34;&gt;&lt;b&gt;`
	for name, test := range map[string]struct {
		app                   fs.FS
		title, label, instead string
	}{
		"the built-in app":  {ui.FS(), "Sie sind angemeldet", "Weiter", "JavaScript benötigt"},
		"an app of its own": {own, to, to, "Switch it on"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSite(t, sqliteStore(t), func(o *host.Options) { o.UI.App = test.app }).browser(t)
			header := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Accept-Language", "de"}
			if a := b.get("/login", header...); a.StatusCode != 200 || !strings.Contains(a.body, test.instead) {
				t.Fatalf("a guest: %d\n%s", a.StatusCode, a.body)
			}
			b.login(adaEmail, adaPassword, false).want(t, 200, "")
			a := b.get(`/login?redirect=/dashboard/%3Fq=a%20b%22%3E%3Cb%3E`, header...)
			for _, want := range []string{
				`"payload":{"target":"/dashboard/?q=a%20b\"\u003e\u003cb\u003e"}`, `<meta http-equiv="refresh" content="1;url=` + to + `">`,
				`<h1>` + test.title + `</h1>`, `href="` + to + `">` + test.label + `</a>`,
			} {
				if a.StatusCode != 200 || !strings.Contains(a.body, want) || strings.Contains(a.body, test.instead) {
					t.Errorf("%d without %s\n%s", a.StatusCode, want, a.body)
				}
			}
		})
	}
}

func TestIntentRefusals(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
	form := func(change map[string]any) map[string]any {
		f := orgForm("Engines")
		maps.Copy(f, change)
		return f
	}
	s.browser(t).post("/auth/intents/org-setup", orgForm("x")).want(t, 401, "unauthenticated")
	s.browser(t).post("/auth/intents/nonsense", orgForm("x")).want(t, 401, "unauthenticated")
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.post("/auth/intents/nonsense", orgForm("x")).want(t, 404, "unknown_intent")
	b.post("/auth/intents/org_setup", orgForm("x")).want(t, 404, "unknown_intent")
	tests := []struct {
		name    string
		body    map[string]any
		status  int
		message string
	}{
		{"nothing", map[string]any{}, 422, "required"},
		{"legal form 3", form(map[string]any{"legal_form": 3}), 422, "invalid"},
		{"legal form as text", form(map[string]any{"legal_form": "1"}), 400, "malformed_request"},
		{"no name", form(map[string]any{"org_name": " "}), 422, "required"},
		{"long name", form(map[string]any{"org_name": strings.Repeat("ä", 256)}), 422, "too_long"},
		{"size", form(map[string]any{"company_size": "huge"}), 422, "invalid"},
		{"function", form(map[string]any{"function": ""}), 422, "required"},
		{"address", form(map[string]any{"billing_email": "Ada <a@b.c>"}), 422, "email"},
		{"consent as text", form(map[string]any{"marketing_consent": "yes"}), 400, "malformed_request"},
		{"handler down", form(map[string]any{"org_name": "down"}), 503, "handler_unavailable"},
		{"handler answers nothing", form(map[string]any{"org_name": "nothing"}), 502, "dispenser_contract"},
		{"ungranted effect", form(map[string]any{"org_name": "ungranted"}), 502, "dispenser_contract"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b.post("/auth/intents/org-setup", test.body).want(t, test.status, test.message)
			if n := b.get("/auth/intents/current").next(t); n.Kind != "org_setup" {
				t.Errorf("the loop moved to %+v", n)
			}
		})
	}
	long := form(map[string]any{"org_name": strings.Repeat("ä", 255)})
	b.post("/auth/intents/org-setup", long).want(t, 200, "")
}

func TestHandlerMissing(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser = o })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.post("/auth/intents/org-setup", map[string]any{}).want(t, 501, "org_setup_handler_missing")
}

// What a dispenser may answer, and what becomes of everything else.
func TestDispenserAnswers(t *testing.T) {
	tests := []struct {
		name    string
		intent  pluginsdk.Intent
		err     error
		status  int
		message string
		target  string
	}{
		{"path", pluginsdk.Redirect("/reports?x=1#y"), nil, 200, "", "/reports?x=1#y"},
		{"allowed origin", pluginsdk.Redirect("https://crm.example.com/in"), nil, 200, "", "https://crm.example.com/in"},
		{"done", pluginsdk.Done(), nil, 200, "", "/dashboard"},
		{"no intent", pluginsdk.Intent{}, nil, 502, "dispenser_contract", ""},
		{"empty target", pluginsdk.Redirect(""), nil, 502, "dispenser_contract", ""},
		{"relative", pluginsdk.Redirect("reports"), nil, 502, "dispenser_contract", ""},
		{"other origin", pluginsdk.Redirect("https://evil.example"), nil, 502, "dispenser_contract", ""},
		{"allowed host, other scheme", pluginsdk.Redirect("http://crm.example.com/"), nil, 502, "dispenser_contract", ""},
		{"user information", pluginsdk.Redirect("https://crm.example.com@evil.example/"), nil, 502, "dispenser_contract", ""},
		{"two slashes", pluginsdk.Redirect("//evil.example"), nil, 502, "dispenser_contract", ""},
		{"backslash", pluginsdk.Redirect(`/\evil.example`), nil, 502, "dispenser_contract", ""},
		{"script", pluginsdk.Redirect("javascript:alert(1)"), nil, 502, "dispenser_contract", ""},
		{"newline", pluginsdk.Redirect("/a\nb"), nil, 502, "dispenser_contract", ""},
		{"over 8 KiB", pluginsdk.Redirect("/" + strings.Repeat("a", 8<<10)), nil, 502, "dispenser_contract", ""},
		{"password effect", pluginsdk.Done().With(pluginsdk.SetUser("password", "x")), nil, 502, "dispenser_contract", ""},
		{"odd value", pluginsdk.Done().With(pluginsdk.SetSession("a", struct{}{})), nil, 502, "dispenser_contract", ""},
		{"large values", pluginsdk.Done().With(pluginsdk.SetSession("a", strings.Repeat("x", 64<<10))), nil, 502, "dispenser_contract", ""},
		{"down", pluginsdk.Intent{}, pluginsdk.ErrUnavailable, 503, "dispenser_unavailable", ""},
		{"contract", pluginsdk.Intent{}, pluginsdk.ErrContract, 502, "dispenser_contract", ""},
		{"any error", pluginsdk.Intent{}, errors.New("boom"), 503, "dispenser_unavailable", ""},
	}
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) {
		opts.Dispenser = o
		opts.Auth.RedirectOrigins = []string{"https://crm.example.com"}
	})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o.dispense = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return test.intent, test.err }
			b := s.browser(t)
			a := b.login(adaEmail, adaPassword, true)
			a.want(t, test.status, test.message)
			if test.status == 200 {
				if got := a.next(t).Target(); got != test.target {
					t.Errorf("target %q, want %q", got, test.target)
				}
				return
			}
			if len(a.Cookies()) != 0 {
				t.Errorf("cookies %v, want no session", a.Cookies())
			}
			if test.status == 503 && a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		})
	}
	if list, _ := s.admin.Counters(t.Context(), 10); len(list) != 0 {
		t.Errorf("counters %v: a dispenser's fault was counted as an attempt", list)
	}
}

// A dispense that fails after a satisfied handler leaves everything as it was.
func TestFailedDispenseCommitsNothing(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		s := newSite(t, open(), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		o.dispense = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
			return pluginsdk.Intent{}, pluginsdk.ErrUnavailable
		}
		b.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 503, "dispenser_unavailable")
		o.dispense = nil
		a := b.post("/auth/intents/org-setup", orgForm("Engines"))
		a.want(t, 200, "")
		if o.intents[0] != o.intents[1] {
			t.Errorf("intent ids %v, want the same", o.intents)
		}
		if n := a.next(t); n.Kind != "redirect" {
			t.Errorf("next %+v", n)
		}
	})
}

// Of two submissions of one step, one advances the loop.
func TestParallelSteps(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		o := &orgs{}
		s := newSite(t, open(), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
		b := s.browser(t)
		b.login(adaEmail, adaPassword, false).want(t, 200, "")
		var mu sync.Mutex
		statuses := map[int]int{}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				status := b.post("/auth/intents/org-setup", orgForm("Engines")).StatusCode
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
			})
		}
		all.Wait()
		if statuses[200] != 1 || statuses[409] != 5 {
			t.Errorf("statuses %v, want one 200 and five 409", statuses)
		}
	})
}

// What a plugin learns about the request.
func TestPluginRequest(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser = o })
	b := s.browser(t)
	b.get("/dashboard?q=1").want(t, 302, "")
	b.post("/auth/login?lang=de", map[string]any{"login": adaEmail, "password": adaPassword},
		"Accept-Language", "fr", "Authorization", "Bearer secret").want(t, 200, "")
	r := o.requests[0]
	if r.Method != "POST" || r.Path != "/auth/login" || r.Query != "lang=de" || r.Locale != "de" ||
		r.RemoteAddr != "127.0.0.1" || r.Intended != "/dashboard?q=1" || r.Routes["dashboard"] != "/dashboard" || r.ID == "" {
		t.Errorf("request %+v", r)
	}
	if r.Headers["accept-language"] != "fr" || r.Headers["authorization"] != "" || r.Headers["cookie"] != "" {
		t.Errorf("headers %v", r.Headers)
	}
}

func TestLoopWarning(t *testing.T) {
	o := &orgs{dispense: func(u pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
		return pluginsdk.OrgSetup(u.Name), nil
	}}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	for range 6 {
		b.post("/auth/intents/org-setup", orgForm("Engines")).want(t, 200, "")
	}
	if !strings.Contains(s.log.String(), "again and again") {
		t.Error("a dispenser that never ends was not warned about")
	}
}

// A stored intent of a kind that this version does not know, as after a return to an
// older one, must not count as settled: the dispenser is asked again.
func TestUnknownStoredIntentIsNotSettled(t *testing.T) {
	o := &orgs{}
	s := newSite(t, sqliteStore(t), func(opts *host.Options) { opts.Dispenser, opts.OrgSetup = o, o })
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	b.get("/auth/intents/current").want(t, 200, "")
	var stored []byte
	if err := s.db.Reader().Get(&stored, "SELECT data FROM vestibule_sessions"); err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(stored, []byte("org_setup"), []byte("org_setuq"), 1)
	if bytes.Equal(stored, other) {
		t.Fatal("the session does not hold the intent")
	}
	if _, err := s.db.Writer().Exec("UPDATE vestibule_sessions SET data = ?", other); err != nil {
		t.Fatal(err)
	}
	b.get("/dashboard").isAskedToResume(t)
	b.get("/login").want(t, 200, "")
	if n := b.get("/auth/intents/current").next(t); n.Kind != "org_setup" {
		t.Errorf("asked again: %+v", n)
	}
}
