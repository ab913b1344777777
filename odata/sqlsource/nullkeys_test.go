package sqlsource_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestNullKeys holds that a row whose key is null has no address, under every level of metadata, whoever writes the rows: an
// empty key is that of another row. SQLite stores nulls in a primary key; views of all databases have them.
func TestNullKeys(t *testing.T) {
	t.Parallel()
	const rows = "INSERT INTO nk VALUES ('', 'empty', 3), (NULL, 'none', 1), (NULL, 'neither', 2), ('a', 'one', 4);\n"
	const children = "CREATE TABLE parts (id {BIG} PRIMARY KEY, place {BIG});\nINSERT INTO parts VALUES (1, 1), (2, 1), (3, 4)"
	scripts := map[string]string{
		"sqlite table": "CREATE TABLE nk (code TEXT PRIMARY KEY, name TEXT, place BIGINT);\n" + rows + children,
		"sqlite view":  "CREATE TABLE t (code TEXT, name TEXT, place BIGINT);\n" + strings.Replace(rows, "nk", "t", 1) + "CREATE VIEW nk AS SELECT code, name, place FROM t;\n" + children,
		"postgres":     "CREATE TABLE t (code text, name text, place bigint);\n" + strings.Replace(rows, "nk", "t", 1) + "CREATE VIEW nk AS SELECT code, name, place FROM t;\n" + children,
		"mysql":        "CREATE TABLE t (code VARCHAR(9), name VARCHAR(9), place BIGINT);\n" + strings.Replace(rows, "nk", "t", 1) + "CREATE VIEW nk AS SELECT code, name, place FROM t;\n" + children,
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dialect, _, _ := strings.Cut(name, " ")
			source := open(t, database(t, dialect, ddlOf(dialect, script)), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "nk", Table: "nk", Key: []string{"code"}, Navigations: []sqlsource.Navigation{
					{Name: "parts", To: "parts", Many: true, On: map[string]string{"place": "place"}},
				}},
				{Name: "parts", Table: "parts"},
			}})
			if p := source.Model().Set("nk").Type.Key[0]; p.Nullable {
				t.Error("the metadata allows null in a key")
			}
			none, neither := `{"@odata.id":null,"code":null,"name":"none"}`, `{"@odata.id":null,"code":null,"name":"neither"}`
			for by, s := range map[string]odata.Source{"the source": source, "values": &cells{shop: source}} {
				service, err := odata.New(source.Model(), s, odata.Options{Root: "/"})
				if err != nil {
					t.Fatal(err)
				}
				for target, want := range map[string]string{
					"nk?$select=code,name&$orderby=place":                               none + "," + neither + `,{"code":"","name":"empty"},{"code":"a","name":"one"}`,
					"nk?$select=code,name&$filter=place%20lt%203":                       none + "," + neither,
					"nk?$select=name&$filter=code%20ne%20%27a%27&$orderby=place":        `{"@odata.id":null,"name":"none"},{"@odata.id":null,"name":"neither"},{"@odata.id":"http://h/nk('')","name":"empty"}`,
					"nk?$select=code,name&$filter=code%20eq%20null":                     none + "," + neither,
					"nk?$select=code,name&$filter=code%20eq%20%27%27":                   `{"code":"","name":"empty"}`,
					"nk?$select=name&$orderby=place&$top=3":                             `{"@odata.id":null,"name":"none"},{"@odata.id":null,"name":"neither"},{"@odata.id":"http://h/nk('')","name":"empty"}`,
					"nk/$ref?$orderby=place&$top=3":                                     `{"@odata.id":null},{"@odata.id":null},{"@odata.id":"http://h/nk('')"}`,
					"nk?$select=code,name&$orderby=place&$top=1&$count=true":            none,
					"nk?$select=code&$expand=parts($orderby=id)&$filter=place%20eq%201": `{"@odata.id":null,"code":null,"parts":[{"id":1,"place":1},{"id":2,"place":1}]}`,
				} {
					if got := rowsOf(service, target); got != want {
						t.Errorf("%s by %s:\ngot  %s\nwant %s", target, by, got, want)
					}
				}
				full := rowsOf(service, "nk?$filter=name%20eq%20%27none%27&$format=application/json;odata.metadata=full")
				if !strings.Contains(full, `"@odata.type":"#Vestibule.nk","@odata.id":null,"code":null`) || strings.Contains(full, "nk(") || strings.Contains(full, "Link") {
					t.Errorf("full metadata by %s: %s", by, full)
				}
				r := httptest.NewRequest("GET", "http://h/nk?$select=code&$expand=parts&$filter=place%20eq%201", nil)
				r.Header.Set("Prefer", "odata.maxpagesize=1")
				w := httptest.NewRecorder()
				if service.ServeHTTP(w, r); w.Code != 500 || strings.Contains(w.Body.String(), "nk(") {
					t.Errorf("a page below a row without an address by %s: %d %s", by, w.Code, w.Body)
				}
				small, err := odata.New(source.Model(), s, odata.Options{Root: "/", Limits: odata.Limits{Rows: 8}})
				if err != nil {
					t.Fatal(err)
				}
				const whole = `{"code":"a","parts":[{"id":3}]},{"code":"","parts":[]},{"@odata.id":null,"code":null,"parts":[]},{"@odata.id":null,"code":null,"parts":[{"id":1},{"id":2}]}`
				if got := rowsOf(small, "nk?$select=code&$orderby=place%20desc&$expand=parts($orderby=id;$select=id)"); got != whole {
					t.Errorf("pages that would end early, by %s:\ngot  %s\nwant %s", by, got, whole)
				}
				if bare := rowsOf(service, "nk?$select=code&$filter=name%20eq%20%27none%27&$format=application/json;odata.metadata=none"); bare != `{"code":null}` {
					t.Errorf("no metadata by %s: %s", by, bare)
				}
			}
		})
	}
}

// rowsOf returns the text between the brackets of an answer's value.
func rowsOf(service *odata.Service, target string) string {
	w := httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest("GET", "http://h/"+target, nil))
	_, list, _ := strings.Cut(w.Body.String(), `"value":[`)
	return strings.TrimSuffix(list, "]}")
}

// TestPagesOverNullKeys holds that pages neither repeat nor lose rows whose keys are null, in any order, however many there are,
// whatever next links carry.
func TestPagesOverNullKeys(t *testing.T) {
	t.Parallel()
	const script = `CREATE TABLE nk (code TEXT PRIMARY KEY, name TEXT, word TEXT);
CREATE INDEX by_name ON nk (name);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO nk SELECT CASE WHEN i % 3 = 0 THEN 'k' || i END, 'n' || i % 4, 'w' || i FROM n`
	s := open(t, database(t, "sqlite", script), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"nk"}})
	for _, keyed := range []bool{false, true} {
		t.Run(fmt.Sprintf("tokens %t", keyed), func(t *testing.T) {
			service, err := odata.New(s.Model(), s, odata.Options{Root: "/", KeyLinks: keyed})
			if err != nil {
				t.Fatal(err)
			}
			pagesOverNullKeys(t, service)
		})
	}
}

// TestViewsByTokens holds that rows of a view whose keys are null are not repeated, although PostgreSQL has them at the other
// end of an order than other databases.
func TestViewsByTokens(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, dialect, ddlOf(dialect, "CREATE TABLE t (code {STR}, id {BIG});\nCREATE VIEW nk AS SELECT * FROM t;\n"+
				"INSERT INTO t VALUES (NULL, 1), ('x', 2), ('y', 3), ('z', 4)")), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "nk", Key: []string{"code"}}}})
			want := "4 3 2 1"
			if dialect == "postgres" {
				want = "1 4 3 2"
			}
			if got := walk(t, s, "nk?$orderby=code%20desc"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func pagesOverNullKeys(t *testing.T, service *odata.Service) {
	t.Helper()
	for _, order := range []string{"", "$orderby=code%20desc", "$orderby=name", "$orderby=name%20desc", "$orderby=name,code%20desc", "$filter=code%20ne%20%27k3%27", "$orderby=length(word)"} {
		seen := map[string]int{}
		pages := 0
		for target := "nk?$select=word&" + order; target != "" && pages < 60; pages++ {
			r := httptest.NewRequest("GET", "http://h/"+target, nil)
			r.Header.Set("Prefer", "odata.maxpagesize=7")
			w := httptest.NewRecorder()
			service.ServeHTTP(w, r)
			var page struct {
				Value []struct{ Word string }
				Next  string `json:"@odata.nextLink"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
				t.Fatalf("%s: %s", target, w.Body)
			}
			for _, row := range page.Value {
				seen[row.Word]++
			}
			target = strings.TrimPrefix(page.Next, "http://h/")
		}
		want := 60
		if strings.Contains(order, "filter") {
			want = 59
		}
		for word, n := range seen {
			if n != 1 {
				t.Errorf("%q: %s comes %d times", order, word, n)
			}
		}
		if len(seen) != want {
			t.Errorf("%q: %d rows of %d in %d pages", order, len(seen), want, pages)
		}
	}
}

// TestWhichKeysMayBeNull holds that SQLite's own rules decide: only a key that can store null is asked for nulls.
func TestWhichKeysMayBeNull(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "sqlite", `CREATE TABLE may (code TEXT PRIMARY KEY);
CREATE TABLE never (id INTEGER PRIMARY KEY);
CREATE TABLE said (code TEXT NOT NULL PRIMARY KEY);
CREATE TABLE strictly (code TEXT PRIMARY KEY) STRICT;
CREATE TABLE without (code TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE both (rowid TEXT, oid TEXT, PRIMARY KEY (rowid, oid))`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
	got := map[string]bool{}
	for _, set := range s.Model().Sets {
		statement := s.explain(t, set.Name).Statements[0].SQL
		got[set.Name] = strings.Contains(statement, ", t0.rowid ") || strings.Contains(statement, ", t0._rowid_ ")
	}
	want := map[string]bool{"may": true, "never": false, "said": false, "strictly": false, "without": false, "both": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
