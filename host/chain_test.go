package host_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pquerna/otp/totp"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A chainBuild is the folder with the plugins of these tests, which are built once.
type chainBuild struct {
	once sync.Once
	dir  string
	err  error
}

var chainBuilt chainBuild

func TestMain(m *testing.M) {
	code := m.Run()
	if chainBuilt.dir != "" {
		_ = os.RemoveAll(chainBuilt.dir)
	}
	os.Exit(code)
}

// chainPrograms returns the folder with the plugins.
func chainPrograms(t *testing.T) string {
	t.Helper()
	chainBuilt.once.Do(func() {
		if chainBuilt.dir, chainBuilt.err = os.MkdirTemp("", "chain-"); chainBuilt.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", chainBuilt.dir+"/", "../plugins/totp", "../plugins/terms", "../plugins/orgsetup", "./pluginproc/internal/faultplugin").CombinedOutput()
		if err != nil {
			chainBuilt.err = fmt.Errorf("build the plugins: %w\n%s", err, out)
		}
	})
	if chainBuilt.err != nil {
		t.Fatal(chainBuilt.err)
	}
	return chainBuilt.dir
}

// chainPlugins returns the blocks of plugins in the order in which they are asked. The
// plugin "fault:WAY" answers as faultplugin does that way.
func chainPlugins(programs string, order ...string) (list []host.Plugin) {
	for _, name := range order {
		p := host.Plugin{Name: name, Command: []string{filepath.Join(programs, name)}, Roles: []string{"dispenser"}, Timeout: 20 * time.Second}
		switch name {
		case "totp":
			p.UserRead = []string{"second_factor"}
			p.Config = []byte(`{"key":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=","page":"/app/second-factor","issuer":"Fernweh"}`)
		case "terms":
			p.UserRead = []string{"terms_version"}
			p.Config = []byte(`{"version":"2026-11","page":"/app/accept-terms","prefixes":["/app/terms"]}`)
		case "orgs":
			p.Command, p.Roles, p.UserRead = []string{filepath.Join(programs, "orgsetup")}, []string{"dispenser", "org_setup"}, []string{"partner_id"}
		default:
			_, way, _ := strings.Cut(name, ":")
			p.Name, p.Command = "fault", []string{filepath.Join(programs, "faultplugin")}
			p.Config = fmt.Appendf(nil, `{"call":%q}`, way)
		}
		p.UserWrite = p.UserRead
		list = append(list, p)
	}
	return list
}

// withChain starts a site with these dispensers as processes, and an application at /app
// that says what it was sent. The options are those of a reload.
func withChain(t *testing.T, db *store.DB, plugins []host.Plugin) (*testSite, host.Options) {
	t.Helper()
	var options host.Options
	s := withProxiesOver(t, db, mirror(t), func(o *host.Options) {
		o.Plugins, o.OData, o.Auth.OwnTokens = plugins, nothing(t), true
		options = *o
	})
	return s, options
}

func addChainColumns(t *testing.T, db *store.DB) {
	t.Helper()
	for _, column := range []string{"second_factor VARCHAR(4000)", "terms_version VARCHAR(40)", "partner_id BIGINT"} {
		if _, err := db.Writer().Exec(`ALTER TABLE users ADD COLUMN ` + column); err != nil {
			t.Fatal(err)
		}
	}
}

// chainPages are the pages at which the dispensers hold people; orgs has none.
func chainPages() map[string]string {
	return map[string]string{"totp": "/app/second-factor", "terms": "/app/accept-terms"}
}

// A climber is a person who takes the steps of a chain.
type climber struct {
	*browser
	secret string // of the authenticator app
}

// at fails unless an intent is the step of a dispenser.
func (c *climber) at(name string, next envelope) {
	c.t.Helper()
	if page := chainPages()[name]; page != "" && next.Target() != page || name == "orgs" && next.Kind != "org_setup" {
		c.t.Fatalf("the person is sent to %+v, want the step of %s", next, name)
	}
}

// pass takes the step of a dispenser and returns what is next.
func (c *climber) pass(name string) envelope {
	c.t.Helper()
	var a answer
	switch name {
	case "orgs":
		a = c.post("/auth/intents/org-setup", orgForm("Analytical Engines"))
	case "terms":
		c.post("/auth/intents/redirect", map[string]any{"accept": "an older version"}).want(c.t, 200, "")
		a = c.post("/auth/intents/redirect", map[string]any{"accept": "2026-11"})
	case "totp":
		step, _ := c.post("/auth/intents/redirect", map[string]any{}).json(c.t)["next_step"].(map[string]any)
		if step["step"] == "code" {
			a = c.post("/auth/intents/redirect", map[string]any{"action": "verify", "code": c.code(time.Now().Add(30 * time.Second))})
			break
		}
		c.secret, _ = step["secret"].(string)
		c.post("/auth/intents/redirect", map[string]any{"action": "confirm", "code": c.code(time.Now())}).want(c.t, 200, "")
		a = c.post("/auth/intents/redirect", map[string]any{"action": "continue"})
	}
	a.want(c.t, 200, "")
	if status := a.json(c.t)["status"]; status != "satisfied" {
		c.t.Fatalf("%s: %s", name, a.body)
	}
	return a.next(c.t)
}

func (c *climber) code(at time.Time) string {
	c.t.Helper()
	code, err := totp.GenerateCode(c.secret, at)
	if err != nil {
		c.t.Fatal(err)
	}
	return code
}

// wanted is the page that people of these tests go to last.
const wanted = "/app/orders?id=7"

// typed are addresses that somebody types who wants to get past a step.
func typed() []string {
	list := []string{"/dashboard", "/app", "/app/", "/app/orders", "//app/orders", "/./app/orders", "/app/./orders", "/Dashboard", "/dashboard;x=1", "/app%2forders", "/%61pp/orders"}
	for page := range maps.Values(chainPages()) {
		for _, tail := range []string{
			"", "/../orders", "/%2e%2e/orders", "/%2E%2E%2Forders", "%2f..%2forders", "/..;/orders", "/..;x=1/orders", "%3b/../orders", ";/../orders", `\..\orders`, "%5c..%5corders", "/%5c..%5corders",
			"/%252e%252e/orders", "/..%252forders", "/..%00/orders", "x", "//../orders", "/../../dashboard", "/%2e%2e/%2e%2e/dashboard",
		} {
			list = append(list, page+tail)
		}
	}
	return append(list, "/app/terms/de", wanted)
}

// holds fails unless, of all addresses, only those of the dispenser's own step open.
func (c *climber) holds(s *testSite, name string) {
	c.t.Helper()
	open := map[string][]string{"totp": {"/app/second-factor"}, "terms": {"/app/accept-terms", "/app/terms/de"}}[name]
	cookie := "\nCookie: " + sessionName + "=" + c.cookie(sessionName)
	for _, path := range typed() {
		resp, body := s.raw(c.t, "GET "+path+" HTTP/1.1\nHost: $HOST\nAccept: text/html\nConnection: close"+cookie+"\n\n")
		if reached := strings.HasPrefix(body, "GET ") || resp.StatusCode == 200; reached != slices.Contains(open, path) {
			c.t.Errorf("at the step of %s, %s: %s %.60q", name, path, resp.Status, body)
		}
	}
	for _, path := range []string{"/odata/Nothing", "/auth/tokens"} {
		c.get(path, "Accept", "application/json").want(c.t, 403, "")
	}
}

// orders are all orders of three dispensers.
func orders() [][]string {
	return [][]string{
		{"totp", "terms", "orgs"}, {"totp", "orgs", "terms"}, {"terms", "totp", "orgs"}, {"terms", "orgs", "totp"}, {"orgs", "totp", "terms"}, {"orgs", "terms", "totp"},
	}
}

// A second factor, terms and an organisation come one after the other, in every order, and
// nobody gets past one of them by typing an address. Afterwards only the second factor is
// asked for again.
func TestDispensersInEveryOrder(t *testing.T) {
	programs := chainPrograms(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		addChainColumns(t, open())
		for _, order := range orders() {
			t.Run(strings.Join(order, " "), func(t *testing.T) {
				db := open()
				if _, err := db.Writer().Exec(`UPDATE users SET second_factor = NULL, terms_version = NULL, partner_id = NULL`); err != nil {
					t.Fatal(err)
				}
				s, _ := withChain(t, db, chainPlugins(programs, order...))
				c := &climber{browser: s.browser(t)}
				c.get(wanted).isTurnedAway(t, "a guest")
				a := c.login(adaEmail, adaPassword, true)
				a.want(t, 200, "login_success")
				next := a.next(t)
				for _, name := range order {
					c.at(name, next)
					c.holds(s, name)
					next = c.pass(name)
				}
				if next.Target() != wanted {
					t.Errorf("the last step leads to %+v", next)
				}
				c.get(wanted).want(t, 200, "")

				again := &climber{browser: s.browser(t), secret: c.secret}
				next = again.login(adaEmail, adaPassword, false).next(t)
				again.at("totp", next)
				again.holds(s, "totp")
				if next = again.pass("totp"); next.Target() != "/dashboard" {
					t.Errorf("the second sign-in leads to %+v", next)
				}
			})
		}
	})
}

// A device that comes back in the middle is at the step where it was. Once that is done
// all are asked from the first, so that the second factor is asked for in this session too.
func TestDeviceComesBackInTheMiddle(t *testing.T) {
	programs := chainPrograms(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		addChainColumns(t, db)
		s, _ := withChain(t, db, chainPlugins(programs, "totp", "terms", "orgs"))
		c := &climber{browser: s.browser(t)}
		c.at("totp", c.login(adaEmail, adaPassword, true).next(t))
		c.at("terms", c.pass("totp"))
		c.forget(sessionName)
		c.get("/app/orders").isTurnedAway(t, "a device that comes back")
		c.holds(s, "terms")
		c.get("/login").want(t, 200, "")
		next := c.pass("terms")
		c.at("totp", next)
		c.holds(s, "totp")
		c.at("orgs", c.pass("totp"))
		c.holds(s, "orgs")
		if next := c.pass("orgs"); next.Target() != wanted {
			t.Errorf("the last step leads to %+v", next)
		}
	})
}

// stored are the rows that a round of dispensers may change.
func stored(t *testing.T, db *store.DB) map[string][]map[string]string {
	t.Helper()
	out := map[string][]map[string]string{}
	for _, table := range []string{"users", "vestibule_sessions", "vestibule_remember_tokens"} {
		out[table] = rows(t, db, table)
	}
	return out
}

// A dispenser that fails, in whatever way, leaves no trace of the effects of those before
// it: the rows are what they were. Once it answers, the same form is taken.
func TestAFailingDispenserLeavesNoTrace(t *testing.T) {
	programs := chainPrograms(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		addChainColumns(t, db)
		s, options := withChain(t, db, chainPlugins(programs, "terms", "orgs", "fault:done"))
		c := &climber{browser: s.browser(t)}
		answersAs := func(way string) {
			t.Helper()
			options.Plugins = chainPlugins(programs, "terms", "orgs", "fault:"+way)
			if err := s.host.Reload(t.Context(), options); err != nil {
				t.Fatal(err)
			}
		}
		c.at("terms", c.login(adaEmail, adaPassword, true).next(t))
		c.at("orgs", c.pass("terms"))
		for way, want := range map[string]int{"error": 503, "exit": 503, "no-intent": 502, "ungranted": 502, "foreign-target": 502} {
			answersAs(way)
			before := stored(t, db)
			c.post("/auth/intents/org-setup", orgForm("Analytical Engines")).want(t, want, "")
			if diff := cmp.Diff(before, stored(t, db)); diff != "" {
				t.Errorf("%s left something (-before +after):\n%s", way, diff)
			}
		}
		answersAs("done")
		if next := c.pass("orgs"); next.Target() != "/dashboard" {
			t.Errorf("the last step leads to %+v", next)
		}
	})
}

// The effects of all dispensers that a sign-in asks are committed with its session, or
// none of them is and there is no session.
func TestASignInCommitsAllEffectsOrNone(t *testing.T) {
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		db := open()
		if _, err := db.Writer().Exec(`ALTER TABLE users ADD COLUMN used BIGINT`); err != nil {
			t.Fatal(err)
		}
		s := newSite(t, db, nil)
		fails := true
		s.host.AskDispensers([]string{"a", "b"}, func(name string) pluginsdk.Dispenser {
			return pluginsdk.DispenserFunc(func(_ context.Context, u pluginsdk.User, _ *pluginsdk.Request) (pluginsdk.Intent, error) {
				if name == "a" {
					return pluginsdk.Done().With(pluginsdk.SetUser("used", int64(1)), pluginsdk.SetSession("a/first", "of a")), nil
				}
				if fails {
					return pluginsdk.Intent{}, fmt.Errorf("%w: restarting", pluginsdk.ErrUnavailable)
				}
				used, _ := u.Columns.Int("used")
				return pluginsdk.Done().With(pluginsdk.SetUser("used", used+1), pluginsdk.SetSession("b/second", "of b")), nil
			})
		})
		before := stored(t, db)
		s.browser(t).login(adaEmail, adaPassword, true).want(t, 503, "dispenser_unavailable")
		if diff := cmp.Diff(before, stored(t, db)); diff != "" {
			t.Errorf("a sign-in that failed left something (-before +after):\n%s", diff)
		}
		fails = false
		s.browser(t).login(adaEmail, adaPassword, true).want(t, 200, "login_success")
		user, err := db.Users().FindByID(t.Context(), s.user.ID)
		if err != nil || user.Columns["used"] != int64(2) {
			t.Errorf("the column is %v, %v, want that of both dispensers", user.Columns["used"], err)
		}
		values := rows(t, db, "vestibule_remember_tokens")[0]["session_values"]
		if !strings.Contains(values, "of a") || !strings.Contains(values, "of b") {
			t.Errorf("the device keeps %s", values)
		}
	})
}

// A reload changes the order and adds dispensers while people are held: a form goes to the
// dispenser of its step, and all are asked in the new order afterwards. A reload that would
// lose a dispenser is refused, and changes nothing.
func TestReloadOfDispensersWhileHeld(t *testing.T) {
	programs := chainPrograms(t)
	db := sqliteStore(t)
	addChainColumns(t, db)
	s, options := withChain(t, db, chainPlugins(programs, "totp", "orgs"))
	reload := func(order ...string) error {
		options.Plugins = chainPlugins(programs, order...)
		return s.host.Reload(t.Context(), options)
	}
	c := &climber{browser: s.browser(t)}
	c.at("totp", c.login(adaEmail, adaPassword, true).next(t))
	if err := reload("terms", "orgs", "totp"); err != nil {
		t.Fatal(err)
	}
	c.holds(s, "totp")
	c.at("terms", c.pass("totp"))
	c.holds(s, "terms")

	for _, fewer := range [][]string{{"orgs", "totp"}, {"terms", "totp"}, {"terms"}, nil} {
		if err := reload(fewer...); err == nil || !strings.Contains(err.Error(), "is in use as dispenser, and its block is gone") {
			t.Errorf("a reload to %q: %v", fewer, err)
		}
	}
	c.holds(s, "terms")
	if err := reload("orgs", "totp", "terms"); err != nil {
		t.Fatal(err)
	}
	c.at("orgs", c.pass("terms"))
	if err := reload("totp", "terms", "orgs"); err != nil {
		t.Fatal(err)
	}
	if next := c.pass("orgs"); next.Target() != "/dashboard" {
		t.Errorf("the last step leads to %+v", next)
	}
	if err := reload("totp", "fault:loop", "terms", "orgs"); err != nil {
		t.Fatal(err)
	}
	c.get("/app/orders").want(t, 200, "") // settled people are not asked about a dispenser that is new
}

// A host that was started without the dispenser of an open step asks those that it has,
// from the first, and hands the form to none of them.
func TestAStepWhoseDispenserIsGone(t *testing.T) {
	programs := chainPrograms(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		addChainColumns(t, open())
		for _, tt := range []struct {
			name          string
			before, after []string
			steps         []string // that the person takes at the second host
		}{
			{"one of three", []string{"terms", "totp", "orgs"}, []string{"totp", "orgs"}, []string{"totp", "orgs"}},
			{"the only one", []string{"terms"}, []string{"orgs"}, []string{"orgs"}},
			{"none is left", []string{"terms"}, nil, nil},
		} {
			t.Run(tt.name, func(t *testing.T) {
				db := open()
				if _, err := db.Writer().Exec(`UPDATE users SET second_factor = NULL, terms_version = NULL, partner_id = NULL`); err != nil {
					t.Fatal(err)
				}
				s, _ := withChain(t, db, chainPlugins(programs, tt.before...))
				c := &climber{browser: s.browser(t)}
				c.at("terms", c.login(adaEmail, adaPassword, true).next(t))
				second, _ := withChain(t, open(), chainPlugins(programs, tt.after...))
				c.base = second.URL
				c.holds(second, "terms")
				next := c.post("/auth/intents/redirect", map[string]any{"accept": "2026-11", "action": "skip"}).next(t)
				for _, name := range tt.steps {
					c.at(name, next)
					next = c.pass(name)
				}
				if next.Target() != "/dashboard" {
					t.Errorf("the last step leads to %+v", next)
				}
				user, err := db.Users().FindByID(t.Context(), s.user.ID)
				if err != nil || user.Columns["terms_version"] != nil {
					t.Errorf("the terms were accepted with a plugin that is gone: %v, %v", user.Columns["terms_version"], err)
				}
			})
		}
	})
}

// A form whose dispenser, and handler, is gone keeps nobody: whoever goes to /login has the
// other dispensers asked.
func TestAFormWhoseDispenserIsGone(t *testing.T) {
	programs := chainPrograms(t)
	dsn := filepath.Join(t.TempDir(), "host.db")
	open := opener(t, func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, dsn) })
	addChainColumns(t, open())
	s, _ := withChain(t, open(), chainPlugins(programs, "orgs", "terms"))
	c := &climber{browser: s.browser(t)}
	c.at("orgs", c.login(adaEmail, adaPassword, true).next(t))
	second, _ := withChain(t, open(), chainPlugins(programs, "terms"))
	c.base = second.URL
	c.holds(second, "orgs")
	c.post("/auth/intents/org-setup", orgForm("Analytical Engines")).want(t, 501, "org_setup_handler_missing")
	c.get("/login", "Sec-Fetch-Dest", "iframe").want(t, 200, "") // which asks nobody
	c.at("orgs", c.get("/auth/intents/current").next(t))
	c.get("/login").want(t, 200, "")
	c.at("terms", c.get("/auth/intents/current").next(t))
	if next := c.pass("terms"); next.Target() != wanted {
		t.Errorf("the last step leads to %+v", next)
	}
}

// A state that names no dispenser, as a release with one has stored it, belongs to the only
// one that there is. Several are asked from the first, and none of them gets the form.
func TestAStepOfAnOlderRelease(t *testing.T) {
	programs := chainPrograms(t)
	eachEngine(t, func(t *testing.T, open func() *store.DB) {
		addChainColumns(t, open())
		for _, tt := range []struct {
			name  string
			order []string
			next  []string // the steps after the form
		}{
			{"one", []string{"terms"}, nil},
			{"several", []string{"terms", "orgs"}, []string{"terms", "orgs"}},
			{"several, and another comes first", []string{"orgs", "terms"}, []string{"orgs", "terms"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				db := open()
				if _, err := db.Writer().Exec(`UPDATE users SET terms_version = NULL, partner_id = NULL`); err != nil {
					t.Fatal(err)
				}
				s, _ := withChain(t, db, nil)
				s.host.AskDispensers([]string{""}, func(string) pluginsdk.Dispenser { // names none, as that release did
					return pluginsdk.DispenserFunc(func(context.Context, pluginsdk.User, *pluginsdk.Request) (pluginsdk.Intent, error) {
						return pluginsdk.Redirect("/app/accept-terms").Hold("/app/terms"), nil
					})
				})
				c := &climber{browser: s.browser(t)}
				c.at("terms", c.login(adaEmail, adaPassword, true).next(t))
				second, _ := withChain(t, open(), chainPlugins(programs, tt.order...))
				c.base = second.URL
				c.holds(second, "terms")
				a := c.post("/auth/intents/redirect", map[string]any{"accept": "2026-11"})
				if len(tt.next) == 0 {
					if next := a.next(t); next.Target() != "/dashboard" {
						t.Errorf("the form leads to %s", a.body)
					}
					return
				}
				if tt.next[0] != "terms" { // which otherwise stays at its page
					c.at(tt.next[0], a.next(t))
				}
				next := envelope{}
				for _, name := range tt.next {
					c.holds(second, name)
					next = c.pass(name)
				}
				if next.Target() != wanted {
					t.Errorf("the last step leads to %+v", next)
				}
			})
		}
	})
}
