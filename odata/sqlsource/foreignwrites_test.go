package sqlsource_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// A foreign key names a row that the caller may read, wherever it is: as a member of a complex property, and where the column
// that it refers to is hidden.
func TestForeignKeysThatAreNoConstraints(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := databaseWith(t, dialect, "", `CREATE TABLE teams (id INTEGER PRIMARY KEY, code INTEGER NOT NULL UNIQUE, tenant INTEGER NOT NULL);
				INSERT INTO teams VALUES (1, 10, 1), (2, 20, 2);
				CREATE TABLE jobs (id INTEGER PRIMARY KEY, home_city VARCHAR(20), home_team INTEGER, code INTEGER,
					FOREIGN KEY (home_team) REFERENCES teams (id), FOREIGN KEY (code) REFERENCES teams (code));
				INSERT INTO jobs VALUES (1, 'x', 1, 10)`)
			source := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Teams", Table: "teams", Filter: "tenant eq 1", Hide: []string{"tenant", "code"}},
				{
					Name: "Jobs", Table: "jobs", Write: &sqlsource.Write{Create: true, Update: true},
					Complexes: []sqlsource.Complex{{Type: "Home", Name: "home", Prefix: "home_"}},
				},
			}})
			s := serviceOf(t, source)
			for _, tt := range []struct {
				body, target string
				status       int
			}{
				{`{"home":{"team":2}}`, "home/team", 409},
				{`{"home":{"team":3}}`, "home/team", 409},
				{`{"code":20}`, "code", 409},
				{`{"code":30}`, "code", 409},
				{`{"home":{"team":1},"code":10}`, "", 200},
				{`{"home":{"team":null},"code":null}`, "", 200},
			} {
				w := send(s, "PATCH Jobs(1)", tt.body)
				if w.Code != tt.status || !strings.Contains(w.Body.String(), `"target":"`+tt.target+`"`) && tt.target != "" {
					t.Errorf("%s: %d %s", tt.body, w.Code, w.Body)
				}
			}
		})
	}
}

// serviceOf makes a service that a settled person asks.
func serviceOf(t testing.TB, source interface {
	odata.Source
	Model() *odata.Model
},
) http.Handler {
	t.Helper()
	s, err := odata.New(source.Model(), source, odata.Options{
		Root: "/", Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
			return odata.Caller{SignedIn: true, Settled: true}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// send writes with any precondition; request is a method and a target, as in "PATCH Jobs(1)".
func send(s http.Handler, request, body string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, "http://h/"+target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("If-Match", "*")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// A body gives values to more foreign keys than a database joins tables.
func TestManyForeignKeysInOneBody(t *testing.T) {
	t.Parallel()
	const keys = 70
	var columns, members strings.Builder
	for i := range keys {
		fmt.Fprintf(&columns, ", k%d INTEGER", i)
		fmt.Fprintf(&members, `,"k%d":1`, i)
	}
	for i := range keys {
		if i%3 == 0 { // the others are none of the database
			fmt.Fprintf(&columns, ", FOREIGN KEY (k%d) REFERENCES teams (id)", i)
		}
	}
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, "CREATE TABLE teams (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL);\nINSERT INTO teams VALUES (1, 1), (2, 2);\n"+
				"CREATE TABLE jobs (id INTEGER PRIMARY KEY"+columns.String()+")")
			jobs := sqlsource.EntitySet{Name: "Jobs", Table: "jobs", Write: &sqlsource.Write{Create: true, Update: true}}
			for i := range keys {
				if i%3 != 0 {
					jobs.Navigations = append(jobs.Navigations, sqlsource.Navigation{Name: fmt.Sprint("to", i), To: "Teams", On: map[string]string{fmt.Sprint("k", i): "id"}})
				}
			}
			s := serviceOf(t, open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Teams", Table: "teams", Filter: "tenant eq 1"}, jobs}}))
			body := `{"id":1` + members.String() + "}"
			if w := send(s, "POST Jobs", body); w.Code != http.StatusCreated {
				t.Errorf("POST: %d %s", w.Code, w.Body)
			}
			if w := send(s, "PATCH Jobs(1)", body); w.Code != http.StatusOK {
				t.Errorf("PATCH: %d %s", w.Code, w.Body)
			}
			for _, dead := range [][]string{{"k10", "k64"}, {"k3", "k60"}, {"k3", "k10"}} {
				bad := body
				for i, name := range dead {
					bad = strings.Replace(bad, `"`+name+`":1`, fmt.Sprintf(`"%s":%d`, name, i+2), 1)
				}
				w := send(s, "PATCH Jobs(1)", bad)
				if w.Code != http.StatusConflict || strings.Count(w.Body.String(), `"target"`) != 2 || !strings.Contains(w.Body.String(), `"target":"`+dead[0]+`"`) ||
					!strings.Contains(w.Body.String(), `"target":"`+dead[1]+`"`) {
					t.Errorf("%v: %d %s", dead, w.Code, w.Body)
				}
			}
		})
	}
}

// A foreign key that the service writes may be dead, too. It is hidden, and no link of the client takes the blame.
func TestDeadHiddenForeignKeys(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := databaseWith(t, dialect, "", `CREATE TABLE teams (id INTEGER PRIMARY KEY);
				INSERT INTO teams VALUES (1);
				CREATE TABLE jobs (id INTEGER PRIMARY KEY, team INTEGER, agent INTEGER NOT NULL, FOREIGN KEY (team) REFERENCES teams (id), FOREIGN KEY (agent) REFERENCES teams (id))`)
			s := serviceOf(t, open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Teams", Table: "teams"},
				{Name: "Jobs", Table: "jobs", Hide: []string{"agent"}, Write: &sqlsource.Write{Create: true, Set: map[string]string{"agent": "77"}}},
			}}))
			for body, target := range map[string]bool{`{"id":1}`: false, `{"id":1,"team":1}`: false, `{"id":1,"team":2}`: true} {
				w := send(s, "POST Jobs", body)
				if w.Code != http.StatusConflict || strings.Contains(w.Body.String(), `"target":"team"`) != target || strings.Contains(w.Body.String(), "agent") {
					t.Errorf("%s: %d %s", body, w.Code, w.Body)
				}
			}
		})
	}
}

// The removal of a link removes no other one, which another client may have made of the same row meanwhile.
func TestRemovedLinkIsTheNamedOne(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"postgres", "mysql"} { // SQLite has one writer
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := databaseWith(t, dialect, "", `CREATE TABLE teams (id INTEGER PRIMARY KEY);
				INSERT INTO teams VALUES (1), (2);
				CREATE TABLE jobs (id INTEGER PRIMARY KEY, team INTEGER, FOREIGN KEY (team) REFERENCES teams (id));
				INSERT INTO jobs VALUES (1, 1)`)
			source := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Teams", Table: "teams", Navigations: []sqlsource.Navigation{{Name: "jobs", To: "Jobs", Many: true, On: map[string]string{"id": "team"}}}},
				{Name: "Jobs", Table: "jobs", Write: &sqlsource.Write{Update: true}},
			}})
			for _, target := range []string{"Teams(1)/jobs(1)/$ref", "Teams(1)/jobs/$ref?$id=Jobs(1)"} {
				db.DB.MustExec("UPDATE jobs SET team = 1")
				relink := sync.OnceFunc(func() { db.DB.MustExec("UPDATE jobs SET team = 2") })
				s := serviceOf(t, &meddled{source, relink})
				if w := send(s, "DELETE "+target, ""); w.Code != http.StatusNotFound {
					t.Errorf("%s: %d %s", target, w.Code, w.Body)
				}
				var team int
				if err := db.DB.Get(&team, "SELECT COALESCE(team, 0) FROM jobs"); err != nil || team != 2 {
					t.Errorf("%s: the row is linked to %d, %v", target, team, err)
				}
			}
		})
	}
}

// meddled is a source in whose transactions something else happens before each change.
type meddled struct {
	*shop
	before func()
}

func (m *meddled) Begin(ctx context.Context) (write.Transaction, error) {
	tx, err := m.shop.Begin(ctx)
	return &meddledTransaction{tx, m.before}, err
}

type meddledTransaction struct {
	write.Transaction
	before func()
}

func (t *meddledTransaction) Apply(list []*write.Change) (plan.Rows, int, error) {
	t.before()
	return t.Transaction.Apply(list)
}
