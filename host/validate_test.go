package host_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk/plugintest"
)

// judged is a set of orders whose changes the plugin "rules" judges.
func judged(t *testing.T) *host.ODataOptions {
	t.Helper()
	source, err := memory.New(memory.Config{Guard: edm.GuardSettled, Sets: []memory.Set{
		{Name: "Orders", Rows: []order{{1, "all"}}, Write: &memory.Write{Update: true, Validator: "rules"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &host.ODataOptions{Model: source.Model(), Source: source}
}

// rules builds the fault plugin, and returns what makes a validator of it that behaves in the given way.
func rules(t *testing.T) func(name, way string) host.Plugin {
	t.Helper()
	program := plugintest.Build(t, "./pluginproc/internal/faultplugin")
	return func(name, way string) host.Plugin {
		return host.Plugin{
			Name: name, Command: []string{program, "ok"}, Roles: []string{"validator"}, Timeout: 30 * time.Second,
			UserRead: []string{"partner_id"}, Config: json.RawMessage(`{"call": "` + way + `"}`),
		}
	}
}

// A host needs each plugin that a set names, and does not lose it while it serves.
func TestSetsNeedTheirValidators(t *testing.T) {
	const lacks = `the set "Orders" needs the plugin "rules" with the role validator`
	rule := rules(t)
	listener := rule("rules", "")
	listener.Roles = []string{"listener"}
	for name, plugins := range map[string][]host.Plugin{"none": nil, "another": {rule("others", "")}, "without the role": {listener}} {
		if _, err := host.New(host.Options{Store: sqliteStore(t), OData: judged(t), Plugins: plugins}); err == nil || !strings.Contains(err.Error(), lacks) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newSite(t, sqliteStore(t), func(o *host.Options) { o.OData, o.Plugins = judged(t), []host.Plugin{rule("rules", "")} })
	if err := s.host.Reload(t.Context(), host.Options{Store: s.db, Plugins: []host.Plugin{rule("others", "")}}); err == nil || !strings.Contains(err.Error(), lacks+": put it back") {
		t.Errorf("a reload that loses the plugin: %v", err)
	}
	if err := s.host.Reload(t.Context(), host.Options{Store: s.db, Plugins: []host.Plugin{rule("rules", "amends")}}); err != nil {
		t.Errorf("a reload that exchanges the plugin: %v", err)
	}
}

// Each plugin is asked once about the changes of its own sets, and the verdicts come together. One that fails leaves no
// verdict, and no change is judged by a plugin of another set.
func TestVerdictsOfSeveralValidators(t *testing.T) {
	rule := rules(t)
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Plugins = []host.Plugin{rule("refuses", "refuses"), rule("amends", "amends"), rule("echo", "echo"), rule("fails", "error"), rule("lies", "raw-property")}
	})
	of := map[string]string{"A": "amends", "R": "refuses", "E": "echo", "F": "fails", "L": "lies", "N": "nobody"}
	row := json.RawMessage(`{"id":1,"status":"open"}`)
	caller := odata.Caller{SignedIn: true, ID: "7", Locale: "de", User: map[string]any{"id": "7", "name": "Ada", "email": "ada@example.com", "partner_id": int64(5), "salary": int64(1)}}
	ask := func(sets ...string) (odata.Verdict, error) {
		var changes []odata.Proposal
		for _, set := range sets {
			changes = append(changes, odata.Proposal{Set: set, Kind: "update", Key: "1", Old: row, New: row})
		}
		return s.host.Validate(t.Context(), of, caller, changes)
	}
	got, err := ask("A", "R", "A", "R")
	want := odata.Verdict{
		Refused: []odata.Objection{{Change: 1, Property: "status", Message: "This is not allowed."}},
		Amended: []odata.Amendment{{Change: 0, Property: "status", Value: json.RawMessage(`"checked"`)}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	got, err = ask("A", "E", "E")
	if err != nil || len(got.Amended) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	var text string
	var told struct {
		User struct {
			ID, Name, Email, Locale string
			Columns                 map[string]any
		}
		Changes []struct{ Set string }
	}
	for _, err := range []error{json.Unmarshal(got.Amended[1].Value, &text), json.Unmarshal([]byte(text), &told)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	u := told.User
	if diff := cmp.Diff(map[string]any{"partner_id": 5.0}, u.Columns); diff != "" || u.ID != "7" || u.Name != "Ada" || u.Email != "ada@example.com" || u.Locale != "de" {
		t.Errorf("it was told of %+v: %s", u, diff)
	}
	if got.Amended[1].Change != 1 || len(told.Changes) != 2 || told.Changes[0].Set != "E" {
		t.Errorf("it was told of %+v", told.Changes)
	}
	for set, why := range map[string]string{"F": "secret detail", "L": `plugin "lies": plugin broke the contract: change 0, the update of L(1), property "nope"`, "N": `no plugin "nobody"`} {
		if got, err := ask("R", set); err == nil || !strings.Contains(err.Error(), why) || got.Refused != nil {
			t.Errorf("%s: %+v, %v", set, got, err)
		}
	}
}

// A change that a client sends is judged by the plugin, and written as the plugin leaves it.
func TestPluginsJudgeWhatClientsWrite(t *testing.T) {
	rule := rules(t)
	for name, tt := range map[string]struct {
		way      string
		status   int
		in, left string
	}{
		"accepts": {"", 200, `"status":"paid"`, "paid"},
		"amends":  {"amends", 200, `"status":"checked"`, "checked"},
		"refuses": {"refuses", 422, `"message":"This is not allowed.","target":"status"`, "open"},
		"fails":   {"error", 503, `"unavailable"`, "open"},
		"lies":    {"raw-property", 503, `"unavailable"`, "open"},
	} {
		source, err := memory.New(memory.Config{Guard: edm.GuardSettled, Sets: []memory.Set{{
			Name: "Orders", Write: &memory.Write{Update: true, Validator: "rules"}, Rows: []struct {
				ID     int64  `odata:"id"`
				Status string `odata:"status"`
			}{{1, "open"}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		s := newSite(t, sqliteStore(t), func(o *host.Options) {
			o.OData, o.Plugins = &host.ODataOptions{Model: source.Model(), Source: source}, []host.Plugin{rule("rules", tt.way)}
		})
		_, token := s.token(t, adaEmail, host.TokenRequest{Write: true})
		got := s.browser(t).do("PATCH", "/odata/Orders(1)", "application/json", `{"status":"paid"}`, append(bearer(token), "If-Match", "*")...)
		if got.StatusCode != tt.status || !strings.Contains(got.body, tt.in) {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		if left := s.program(t, "GET", "/odata/Orders(1)/status/$value", append(bearer(token), "Accept", "text/plain")...); left.body != tt.left {
			t.Errorf("%s: the row has %d %s", name, left.StatusCode, left.body)
		}
		if tt.status == 503 && !strings.Contains(s.log.String(), `plugin "rules"`) && !strings.Contains(s.log.String(), "plugin=rules") {
			t.Errorf("%s: the log names no plugin: %s", name, s.log)
		}
	}
}

// A change that a plugin judges reads the session and the user together. A read, and a change of a set without a validator, read the
// session alone.
func TestJudgedChangesReadTheUserWithTheSession(t *testing.T) {
	source, err := memory.New(memory.Config{Guard: edm.GuardSettled, Sets: []memory.Set{
		{Name: "Orders", Rows: []order{{1, "all"}}, Write: &memory.Write{Update: true, Validator: "rules"}},
		{Name: "Plain", Rows: []order{{1, "all"}}, Write: &memory.Write{Update: true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	rule, dsn := rules(t), filepath.Join(t.TempDir(), "host.db")
	opener(t, func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, dsn) })()
	db, err := sqlite.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := newSite(t, stepped(t, db), func(o *host.Options) {
		o.OData, o.Plugins = &host.ODataOptions{Model: source.Model(), Source: source}, []host.Plugin{rule("rules", "")}
	})
	b := s.browser(t)
	b.login(adaEmail, adaPassword, false).want(t, 200, "")
	handler, err := s.host.Handler()
	if err != nil {
		t.Fatal(err)
	}
	// reads returns of which tables a request reads a row, one text for each statement.
	reads := func(method, path string) (list []string) {
		t.Helper()
		who := newActor(0)
		r := httptest.NewRequestWithContext(who.context(t.Context()), method, s.URL+path, strings.NewReader("{}"))
		r.AddCookie(&http.Cookie{Name: sessionName, Value: b.cookie(sessionName)})
		r.Header.Set("If-Match", "*")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		for _, statement := range who.steps {
			var of []string
			for _, table := range []string{"vestibule_sessions", "users"} {
				if strings.Contains(statement, " "+table+" ") {
					of = append(of, table)
				}
			}
			list = append(list, strings.Join(of, " with "))
		}
		return list
	}
	const alone, both = "vestibule_sessions", "vestibule_sessions with users"
	for _, tt := range []struct{ method, path, want string }{
		{"PATCH", "/odata/Orders(1)", both},
		{"GET", "/odata/Orders(1)", alone},
		{"PATCH", "/odata/Plain(1)", alone},
	} {
		reads(tt.method, tt.path) // which prepares statements
		if diff := cmp.Diff([]string{tt.want}, reads(tt.method, tt.path)); diff != "" {
			t.Errorf("%s %s reads: %s", tt.method, tt.path, diff)
		}
	}
}

// A client whose calls of a validator hang has its share of them, and another client's changes are judged meanwhile.
func TestHangingValidationsLeaveTurnsToOthers(t *testing.T) {
	const hanging = "hang@example.com" // as the plugin behaves then
	s := newSite(t, sqliteStore(t), func(o *host.Options) {
		o.OData, o.Plugins, o.Limits.Wait = judged(t), []host.Plugin{rules(t)("rules", "")}, time.Second
	})
	if _, err := s.db.AddUser(t.Context(), hanging, "Hang", weakHash()); err != nil {
		t.Fatal(err)
	}
	_, its := s.token(t, hanging, host.TokenRequest{Write: true})
	_, token := s.token(t, adaEmail, host.TokenRequest{Write: true})
	ctx, cancel := context.WithCancel(t.Context())
	var sent sync.WaitGroup
	defer sent.Wait()
	defer cancel()
	answers := make(chan int, 64)
	for range cap(answers) {
		sent.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPatch, s.URL+"/odata/Orders(1)", strings.NewReader("{}"))
			if err != nil {
				t.Error(err)
				return
			}
			for name, value := range map[string]string{"Authorization": "Bearer " + its, "If-Match": "*", "Content-Type": "application/json"} {
				req.Header.Set(name, value)
			}
			if resp, err := http.DefaultClient.Do(req); err == nil { // those that hang are cancelled
				answers <- resp.StatusCode
				_ = resp.Body.Close()
			}
		})
	}
	for range cap(answers) - 16 {
		select {
		case got := <-answers:
			if got != http.StatusTooManyRequests {
				t.Fatalf("a call beyond the share is answered with %d", got)
			}
		case <-time.After(20 * time.Second): // before those that hang have run out of time
			t.Fatal("more calls of one client hang than its share")
		}
	}
	got := s.browser(t).do("PATCH", "/odata/Orders(1)", "application/json", "{}", append(bearer(token), "If-Match", "*")...)
	if got.StatusCode != http.StatusOK {
		t.Errorf("another client gets %d %s", got.StatusCode, got.body)
	}
	if !strings.Contains(s.log.String(), "limit=validator_calls") {
		t.Error("the log does not name the limit")
	}
}
