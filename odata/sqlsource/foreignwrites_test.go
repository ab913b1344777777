package sqlsource_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
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
			s, err := odata.New(source.Model(), source, odata.Options{
				Root: "/", Caller: func(http.ResponseWriter, *http.Request) (odata.Caller, error) {
					return odata.Caller{SignedIn: true, Settled: true}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
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
				r := httptest.NewRequest("PATCH", "http://h/Jobs(1)", strings.NewReader(tt.body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("If-Match", "*")
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				if w.Code != tt.status || !strings.Contains(w.Body.String(), `"target":"`+tt.target+`"`) && tt.target != "" {
					t.Errorf("%s: %d %s", tt.body, w.Code, w.Body)
				}
			}
		})
	}
}
