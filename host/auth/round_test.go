package auth_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A dispense answers for a dispenser of a test.
type dispense = func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error)

// A line is the dispensers of a pipeline in their order, and what they were asked.
type line struct {
	names   []string
	answers map[string]dispense
	asked   []string
}

// newLine is a rig whose dispensers are those of the line, with a column that they may set.
func newLine(t *testing.T, l *line) *rig {
	t.Helper()
	r := newRig(t, func(o *auth.Options) {
		o.Dispensers = func() []string { return l.names }
		o.Dispenser = func(name string) pluginsdk.Dispenser {
			return pluginsdk.DispenserFunc(func(_ context.Context, u pluginsdk.User, req *pluginsdk.Request) (pluginsdk.Intent, error) {
				asked := name
				if req.Held != "" {
					asked += " held at " + req.Held
				}
				if code, posted := req.Form.Text("code"); posted {
					asked += " with " + code
				}
				l.asked = append(l.asked, asked)
				return l.answers[name](u, req)
			})
		}
		o.OrgSetup = func() pluginsdk.OrgSetupHandler { return asking{} }
	})
	for _, column := range []string{"tier INTEGER", "partner_id INTEGER"} {
		if _, err := r.db.Writer().Exec(`ALTER TABLE users ADD COLUMN ` + column); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// takeAsked returns what was asked since the last call.
func (l *line) takeAsked() []string {
	asked := l.asked
	l.asked = nil
	return asked
}

// form posts to an open intent.
func (r *rig) form(kind string, fields map[string]any, session *http.Cookie) answer {
	r.Helper()
	return r.post(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.SetPathValue("kind", kind)
		r.Intent().ServeHTTP(w, req)
	}), fields, session)
}

func answers(i pluginsdk.Intent) dispense {
	return func(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) { return i, nil }
}

func down(pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
	return pluginsdk.Intent{}, fmt.Errorf("%w: restarting", pluginsdk.ErrUnavailable)
}

// code holds at a page until the code is given, which a session value remembers.
func code(page, right string) dispense {
	return func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		switch given, posted := r.Form.Text("code"); {
		case r.Session.Has(page):
			return pluginsdk.Done(), nil
		case given == right:
			return pluginsdk.Done().With(pluginsdk.SetSession(page, true)), nil
		case posted:
			return pluginsdk.Redirect(page).Hold().Failed("code_wrong"), nil
		}
		return pluginsdk.Redirect(page).Hold(), nil
	}
}

// At sign-in all are asked in their order until one decides. Done and a redirect that does
// not hold pass on, and the first target that was named is used in the end.
func TestDispensersPassOn(t *testing.T) {
	done, held := answers(pluginsdk.Done()), answers(pluginsdk.Redirect("/step").Hold())
	to := func(target string) dispense { return answers(pluginsdk.Redirect(target)) }
	for _, tt := range []struct {
		name    string
		answers []dispense
		asked   []string
		status  int
		says    string // a part of the answer
	}{
		{"none", nil, nil, 200, `"target":"/dashboard"`},
		{"all are done", []dispense{done, done, done}, []string{"a", "b", "c"}, 200, `"target":"/dashboard"`},
		{"the first target", []dispense{done, to("/b"), to("/c")}, []string{"a", "b", "c"}, 200, `"target":"/b"`},
		{"a target, and one that holds", []dispense{to("/a"), held, to("/c")}, []string{"a", "b"}, 200, `"target":"/step"`},
		{"the last holds", []dispense{to("/a"), done, held}, []string{"a", "b", "c"}, 200, `"target":"/step"`},
		{"a form of the front-end app", []dispense{done, answers(pluginsdk.OrgSetup("Ada")), held}, []string{"a", "b"}, 200, `"kind":"org_setup"`},
		{"the first is down", []dispense{down, done, done}, []string{"a"}, 503, "dispenser_unavailable"},
		{"the last is down", []dispense{done, to("/b"), down}, []string{"a", "b", "c"}, 503, "dispenser_unavailable"},
		{"a target elsewhere", []dispense{to("https://elsewhere.example/"), held}, []string{"a"}, 502, "dispenser_contract"},
		{"an effect that no plugin may have", []dispense{answers(pluginsdk.Done().With(pluginsdk.SetUser("email", "x"))), held}, []string{"a"}, 502, "dispenser_contract"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &line{answers: map[string]dispense{}}
			for i, answer := range tt.answers {
				name := string(rune('a' + i))
				l.names, l.answers[name] = append(l.names, name), answer
			}
			r := newLine(t, l)
			a := r.login(adaPassword, true)
			if a.status != tt.status || !strings.Contains(a.body, tt.says) || !slices.Equal(l.asked, tt.asked) {
				t.Errorf("%d %s after %q; want %d with %s after %q", a.status, a.body, l.asked, tt.status, tt.says, tt.asked)
			}
			if n := r.count("sessions"); (n == 1) != (tt.status == 200) {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

// Each dispenser sees the effects of those before it, columns and session values. All of
// them are committed with the step.
func TestDispensersSeeTheEffectsBeforeThem(t *testing.T) {
	var columns []int64
	l := &line{names: []string{"a", "b", "c"}, answers: map[string]dispense{}}
	for _, name := range l.names {
		l.answers[name] = func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			tier, _ := u.Columns.Int("tier")
			columns = append(columns, tier)
			effects := []pluginsdk.Effect{
				pluginsdk.SetUser("tier", tier+1).Replacing(u.Columns.Raw("tier")), pluginsdk.SetSession(name+"/seen", int64(len(r.Session.All()))),
			}
			if name == "c" {
				return pluginsdk.Redirect("/step").Hold().With(effects...), nil
			}
			return pluginsdk.Done().With(effects...), nil
		}
	}
	r := newLine(t, l)
	a := r.login(adaPassword, false)
	a.want(200, "login_success")
	if !slices.Equal(columns, []int64{0, 1, 2}) {
		t.Errorf("the column was %v, want 0, 1, 2", columns)
	}
	user, err := r.db.Users().FindByID(t.Context(), r.ada.ID)
	if err != nil || user.Columns["tier"] != int64(3) {
		t.Errorf("the column is %v, %v", user.Columns["tier"], err)
	}
	who, _ := r.visit(a.cookies[sessionName])
	for name, want := range map[string]int64{"a/seen": 0, "b/seen": 1, "c/seen": 2} {
		if got := who.Session.Values[name]; got != want {
			t.Errorf("%s is %v, want %d", name, got, want)
		}
	}
}

// An open intent belongs to its dispenser, which alone is asked with the form. Once it is
// done, all are asked from the first and learn nothing of the form.
func TestOpenIntentBelongsToItsDispenser(t *testing.T) {
	l := &line{names: []string{"a", "b", "c"}, answers: map[string]dispense{
		"a": answers(pluginsdk.Redirect("/first")), "b": code("/b", "4711"), "c": code("/c", "0815"),
	}}
	r := newLine(t, l)
	a := r.login(adaPassword, false)
	session := a.cookies[sessionName]
	if !strings.Contains(a.body, `"target":"/b"`) || !slices.Equal(l.takeAsked(), []string{"a", "b"}) {
		t.Fatalf("sign-in: %s", a.body)
	}
	for _, step := range []struct {
		code, body string
		asked      []string
	}{
		{"0815", `{"status":"error","next_step":null,"errors":["code_wrong"],"next":null}`, []string{"b held at /b with 0815"}},
		{
			"4711", `{"status":"satisfied","next_step":null,"errors":null,"next":{"kind":"redirect","version":"1","payload":{"target":"/c"}}}`,
			[]string{"b held at /b with 4711", "a", "b", "c"},
		},
		{"4711", `{"status":"error","next_step":null,"errors":["code_wrong"],"next":null}`, []string{"c held at /c with 4711"}},
		{
			"0815", `{"status":"satisfied","next_step":null,"errors":null,"next":{"kind":"redirect","version":"1","payload":{"target":"/first"}}}`,
			[]string{"c held at /c with 0815", "a", "b", "c"},
		},
	} {
		a := r.form("redirect", map[string]any{"code": step.code}, session)
		if asked := l.takeAsked(); a.body != step.body || !slices.Equal(asked, step.asked) {
			t.Errorf("%s: %s after %q\nwant %s after %q", step.code, a.body, asked, step.body, step.asked)
		}
	}
	if who, _ := r.visit(session); !who.Settled {
		t.Error("the session is not settled")
	}
}

// The form of the front-end app goes to its handler, and then the dispenser that asked for
// it comes first.
func TestFormBelongsToItsDispenser(t *testing.T) {
	l := &line{names: []string{"a", "orgs", "c"}, answers: map[string]dispense{
		"a": answers(pluginsdk.Done()), "c": code("/c", "0815"),
		"orgs": func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			return asking{}.Dispense(t.Context(), u, r)
		},
	}}
	r := newLine(t, l)
	session := r.login(adaPassword, false).cookies[sessionName]
	l.takeAsked()
	a := r.form("org-setup", map[string]any{"legal_form": 2, "org_name": "Analytical Engines", "company_size": "small", "function": "developer", "marketing_consent": false}, session)
	if asked := l.takeAsked(); a.status != 200 || !strings.Contains(a.body, `"target":"/c"`) || !slices.Equal(asked, []string{"orgs", "a", "orgs", "c"}) {
		t.Errorf("%d %s after %q", a.status, a.body, asked)
	}
}

// What was decided for one dispenser is no news for the page of another with the same
// address: the page is sent on, and its person does not stay.
func TestTwoDispensersOfOnePage(t *testing.T) {
	l := &line{names: []string{"a", "b"}, answers: map[string]dispense{"a": code("/page", "1"), "b": code("/page", "2")}}
	l.answers["b"] = func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		if given, _ := r.Form.Text("code"); given == "2" {
			return pluginsdk.Done().With(pluginsdk.SetSession("b", true)), nil
		}
		if r.Session.Has("b") {
			return pluginsdk.Done(), nil
		}
		return pluginsdk.Redirect("/page").Hold(), nil
	}
	r := newLine(t, l)
	session := r.login(adaPassword, false).cookies[sessionName]
	a := r.form("redirect", map[string]any{"code": "1"}, session)
	if want := `{"status":"satisfied","next_step":null,"errors":null,"next":{"kind":"redirect","version":"1","payload":{"target":"/page"}}}`; a.body != want {
		t.Errorf("got %s, want %s", a.body, want)
	}
	if who, _ := r.visit(session); who.Settled {
		t.Error("the second step is skipped")
	}
	if a := r.form("redirect", map[string]any{"code": "2"}, session); !strings.Contains(a.body, `"target":"/dashboard"`) {
		t.Errorf("got %s", a.body)
	}
}

// While people are held the dispensers may get another order, be more or fewer, and a state
// that an older release has stored names none. A form goes to its own dispenser or to nobody.
func TestDispensersChangeWhileHeld(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after []string
		asked         []string
		says          string
	}{
		{"another order", []string{"a", "b"}, []string{"b", "a"}, []string{"b held at /b with 4711", "b", "a"}, `"target":"/dashboard"`},
		{"one more before it", []string{"a", "b"}, []string{"c", "a", "b"}, []string{"b held at /b with 4711", "c"}, `"target":"/c"`},
		{"one more behind it", []string{"a", "b"}, []string{"a", "b", "c"}, []string{"b held at /b with 4711", "a", "b", "c"}, `"target":"/c"`},
		{"one that passes is gone", []string{"a", "b"}, []string{"b"}, []string{"b held at /b with 4711"}, `"target":"/dashboard"`},
		{"its dispenser is gone", []string{"a", "b"}, []string{"a"}, []string{"a"}, `"target":"/dashboard"`},
		{"its dispenser is gone, and another holds", []string{"a", "b"}, []string{"a", "c"}, []string{"a", "c"}, `"target":"/c"`},
		{"all are gone", []string{"a", "b"}, nil, nil, `"target":"/dashboard"`},
		{"of an older release, one", []string{""}, []string{"b"}, []string{"b held at /b with 4711"}, `"target":"/dashboard"`},
		{"of an older release, several", []string{""}, []string{"a", "c", "b"}, []string{"a", "c"}, `"target":"/c"`},
		{"of an older release, and none", []string{""}, nil, nil, `"target":"/dashboard"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &line{names: tt.before, answers: map[string]dispense{
				"": code("/b", "4711"), "a": answers(pluginsdk.Done()), "b": code("/b", "4711"), "c": code("/c", "0815"),
			}}
			r := newLine(t, l)
			session := r.login(adaPassword, false).cookies[sessionName]
			if who, _ := r.visit(session); who.Step() != auth.StateHeld {
				t.Fatalf("the session is %q", who.Step())
			}
			l.takeAsked()
			l.names = tt.after
			a := r.form("redirect", map[string]any{"code": "4711"}, session)
			if asked := l.takeAsked(); a.status != 200 || !strings.Contains(a.body, `"satisfied"`) || !strings.Contains(a.body, tt.says) || !slices.Equal(asked, tt.asked) {
				t.Errorf("%d %s after %q, want %s after %q", a.status, a.body, asked, tt.says, tt.asked)
			}
		})
	}
}

// Refusals are those of the form's own dispenser: a right code is not counted as wrong
// because the next dispenser has something to say.
func TestFailuresOfAnotherDispenserAreNoRefusal(t *testing.T) {
	l := &line{names: []string{"a", "b"}, answers: map[string]dispense{
		"a": code("/a", "4711"), "b": answers(pluginsdk.Redirect("/b").Hold().Failed("not_yet")),
	}}
	r := newLine(t, l)
	session := r.login(adaPassword, false).cookies[sessionName]
	if a := r.form("redirect", map[string]any{"code": "4711"}, session); !strings.Contains(a.body, `"target":"/b"`) || !strings.Contains(a.body, `"satisfied"`) {
		t.Errorf("got %s", a.body)
	}
	if slices.Contains(r.events, "step_refused") {
		t.Errorf("a right code counts as refused: %q", r.events)
	}
}

// A redirect that passes on consumes the intended URL once it is followed. If another
// dispenser holds first, the redirect finds the URL again after that step. What is consumed
// by Done, or by the answer that decides, is consumed at once.
func TestIntendedOutlivesTheStepOfAnother(t *testing.T) {
	intended := func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		if r.Intended == "" {
			return pluginsdk.Redirect("/nothing"), nil
		}
		return pluginsdk.Redirect(r.Intended).With(pluginsdk.ConsumeIntended()), nil
	}
	once := func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) { // consumes by Done, the first time
		if r.Session.Has("once") {
			return pluginsdk.Done(), nil
		}
		return pluginsdk.Done().With(pluginsdk.ConsumeIntended(), pluginsdk.SetSession("once", true)), nil
	}
	sees := func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		return pluginsdk.Done().With(pluginsdk.SetSession("seen", r.Intended)), nil
	}
	held := func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) { // consumes by the answer that holds
		i, err := code("/held", "1")(u, r)
		if i.Held() {
			i = i.With(pluginsdk.ConsumeIntended())
		}
		return i, err
	}
	for _, tt := range []struct {
		name     string
		answers  []dispense
		intended string // while held
		target   string // in the end
	}{
		{"a redirect before the step", []dispense{intended, code("/held", "1")}, "/orders", "/orders"},
		{"a redirect behind the step", []dispense{code("/held", "1"), intended}, "/orders", "/orders"},
		{"a redirect that others follow", []dispense{intended, sees, code("/held", "1")}, "/orders", "/orders"},
		{"done before the step", []dispense{once, code("/held", "1")}, "", "/dashboard"},
		{"a redirect, and done", []dispense{intended, once, code("/held", "1")}, "", "/nothing"},
		{"the step itself", []dispense{held}, "", "/dashboard"},
		{"a redirect, and the step itself", []dispense{intended, held}, "", "/nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &line{answers: map[string]dispense{}}
			for i, answer := range tt.answers {
				name := string(rune('a' + i))
				l.names, l.answers[name] = append(l.names, name), answer
			}
			r := newLine(t, l)
			guest := r.serve(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if err := r.KeepIntended(w, req, auth.Session{}, "/orders"); err != nil {
					t.Error(err)
				}
			}), httptest.NewRequest("GET", "/", nil)).cookies
			session := r.login(adaPassword, false, slices.Collect(maps.Values(guest))...).cookies[sessionName]
			who, _ := r.visit(session)
			if who.Step() != auth.StateHeld || who.Session.Intended != tt.intended {
				t.Errorf("while the session is %q the intended URL is %q, want %q", who.Step(), who.Session.Intended, tt.intended)
			}
			if seen, asked := who.Session.Values["seen"]; asked && seen != "" {
				t.Errorf("a dispenser behind the redirect sees the intended URL %q", seen)
			}
			if a := r.form("redirect", map[string]any{"code": "1"}, session); !strings.Contains(a.body, `"target":"`+tt.target+`"`) {
				t.Errorf("the end is %s, want %s", a.body, tt.target)
			}
			if who, _ := r.visit(session); !who.Settled || who.Session.Intended != "" {
				t.Errorf("settled: %v, with the intended URL %q", who.Settled, who.Session.Intended)
			}
		})
	}
}

// Who is done and consumes the intended URL sends nobody there: it is the page of a step
// that is over, which has nothing to show any more.
func TestDoneConsumesTheIntendedURL(t *testing.T) {
	done := answers(pluginsdk.Done())
	consumes := answers(pluginsdk.Done().With(pluginsdk.ConsumeIntended()))
	for name, list := range map[string][]dispense{"alone": {consumes}, "first": {consumes, done}, "last": {done, consumes}} {
		l := &line{answers: map[string]dispense{}}
		for i, answer := range list {
			dispenser := string(rune('a' + i))
			l.names, l.answers[dispenser] = append(l.names, dispenser), answer
		}
		r := newLine(t, l)
		guest := r.serve(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if err := r.KeepIntended(w, req, auth.Session{}, "/step?token=x"); err != nil {
				t.Error(err)
			}
		}), httptest.NewRequest("GET", "/", nil)).cookies
		if a := r.login(adaPassword, false, slices.Collect(maps.Values(guest))...); !strings.Contains(a.body, `"target":"/dashboard"`) {
			t.Errorf("%s: %s", name, a.body)
		}
	}
}

// The order decides whose target is used, also after a step. The target of the answer that
// ended the step is used if no dispenser names one afterwards.
func TestOrderDecidesTheTargetAfterAStep(t *testing.T) {
	redirect, consume := pluginsdk.Redirect, pluginsdk.ConsumeIntended()
	intended := func(_ pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
		if r.Intended == "" {
			return redirect("/nothing"), nil
		}
		return redirect(r.Intended).With(consume), nil
	}
	step := func(ends, later pluginsdk.Intent) dispense {
		return func(u pluginsdk.User, r *pluginsdk.Request) (pluginsdk.Intent, error) {
			i, err := code("/held", "1")(u, r)
			switch {
			case i.Held():
				return i, err
			case r.Held == "":
				return later, err
			}
			return ends.With(pluginsdk.SetSession("/held", true)), err
		}
	}
	done, b := pluginsdk.Done(), redirect("/b")
	for _, tt := range []struct {
		name     string
		answers  []dispense
		target   string
		intended string // in the end
	}{
		{"a target before the step", []dispense{answers(redirect("/a")), step(b, b)}, "/a", "/orders"},
		{"a target behind the step", []dispense{step(b, b), answers(redirect("/c"))}, "/b", "/orders"},
		{"the intended URL before the step", []dispense{intended, step(b.With(consume), b.With(consume))}, "/orders", ""},
		{"the intended URL behind the step", []dispense{step(done, done), intended}, "/orders", ""},
		{"a target of the end of the step alone", []dispense{answers(done), step(b, done)}, "/b", "/orders"},
		{"one that consumes the intended URL", []dispense{answers(done), step(b.With(consume), done)}, "/b", ""},
		{"and a target of another", []dispense{step(b.With(consume), done), intended}, "/orders", ""},
		{"one dispenser", []dispense{step(b.With(consume), done)}, "/b", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &line{answers: map[string]dispense{}}
			for i, answer := range tt.answers {
				name := string(rune('a' + i))
				l.names, l.answers[name] = append(l.names, name), answer
			}
			r := newLine(t, l)
			guest := r.serve(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if err := r.KeepIntended(w, req, auth.Session{}, "/orders"); err != nil {
					t.Error(err)
				}
			}), httptest.NewRequest("GET", "/", nil)).cookies
			session := r.login(adaPassword, false, slices.Collect(maps.Values(guest))...).cookies[sessionName]
			if a := r.form("redirect", map[string]any{"code": "1"}, session); !strings.Contains(a.body, `"target":"`+tt.target+`"`) {
				t.Errorf("the end is %s, want %s", a.body, tt.target)
			}
			if who, _ := r.visit(session); !who.Settled || who.Session.Intended != tt.intended {
				t.Errorf("settled: %v, with the intended URL %q, want %q", who.Settled, who.Session.Intended, tt.intended)
			}
		})
	}
}
