package sqlsource_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// walk follows the next links of a request, one row a page, and returns the ids of the rows.
func walk(t *testing.T, s *shop, target string) string {
	t.Helper()
	ids, fault := walkBy(t, s, target, odata.Options{KeyLinks: true, Limits: odata.Limits{PageSize: 1}})
	if fault != "" {
		t.Fatalf("%s: %s", target, fault)
	}
	return ids
}

// walkBy is walk with other options, up to the first fault.
func walkBy(t *testing.T, s *shop, target string, options odata.Options) (all, fault string) {
	t.Helper()
	options.Root = "/"
	service, err := odata.New(s.Model(), s, options)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for next := target; next != "" && len(ids) < 20; {
		w := httptest.NewRecorder()
		service.ServeHTTP(w, httptest.NewRequest("GET", "http://h/"+next, nil))
		var page struct {
			Value []struct{ ID int }
			Next  string `json:"@odata.nextLink"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 {
			return strings.Join(ids, " "), fmt.Sprint(w.Code)
		}
		for _, row := range page.Value {
			ids = append(ids, fmt.Sprint(row.ID))
		}
		next = strings.TrimPrefix(page.Next, "http://h/")
	}
	return strings.Join(ids, " "), ""
}

// TestTextsThatAreNoUTF8 holds that a text of SQLite that is no UTF-8 is found by what answers show of it, and that a walk by tokens
// loses none.
func TestTextsThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	for name, index := range map[string]string{"no index": "", "index": "CREATE INDEX by_name ON goods (name);\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT, any);
CREATE TABLE keyed (name TEXT NOT NULL PRIMARY KEY, id INTEGER);
`+index+`INSERT INTO goods VALUES (1, CAST(x'4de4726b' AS TEXT), CAST(x'4de4726b' AS TEXT)), (2, 'Märk', 'Märk'), (3, x'4de4726b', x'4de4726b'), (4, 'M中', 'M中'), (5, 'Z', 'Z'), (6, NULL, NULL), (7, CAST(x'4dffff' AS TEXT), CAST(x'4dffff' AS TEXT)), (8, 'M', 5);
INSERT INTO keyed SELECT name, id FROM goods WHERE id IN (1, 2, 4)`),
				sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
					{Name: "goods", Search: []string{"name"}, Properties: []sqlsource.Property{{Column: "any", Type: "Edm.String"}}}, {Name: "keyed"},
				}})
			for _, column := range []string{"name", "any"} {
				for filter, want := range map[string]string{
					column + " eq 'M\ufffdrk'":                                  "[1][3]",
					column + " in ('x','M\ufffdrk')":                            "[1][3]",
					column + " eq 'M\ufffd\ufffd'":                              "[7]",
					column + " eq 'Märk'":                                       "[2]",
					"startswith(" + column + ",'M\ufffd')":                      "[1][3][7]",
					"endswith(" + column + ",'\ufffdrk')":                       "[1][3]",
					"contains(" + column + ",'\ufffd')":                         "[1][3][7]",
					"contains(" + column + ",'rk')":                             "[1][2][3]",
					"indexof(" + column + ",'\ufffd') eq 1":                     "[1][3][7]",
					"concat(" + column + ",'!') eq 'M\ufffdrk!'":                "[1][3]",
					"tolower(" + column + ") eq 'm\ufffdrk'":                    "[1][3]",
					"matchesPattern(" + column + ",'^M\ufffdrk$')":              "[1][3]",
					column + " ge 'M\ufffdrk' and " + column + " lt 'Y'":        "[1][3][7]",
					column + " ne null and not (" + column + " eq 'M\ufffdrk')": "[2][4][5][7][8]",
				} {
					if got := s.get("goods?$select=id&$orderby=id&$filter=" + filter); got != want {
						t.Errorf("%s: %s, want %s", filter, got, want)
					}
				}
				for order, want := range map[string]string{column: "6 8 2 1 3 4 7 5", column + "%20desc": "5 7 4 1 3 2 8 6"} {
					if got := walk(t, s, "goods?$select=id&$orderby="+order); got != want {
						t.Errorf("by %s: %s, want %s", order, got, want)
					}
				}
			}
			check(t, s, [][2]string{
				{"goods?$select=id&$orderby=id&$search=\"\ufffdrk\"", "[1][3]"},
				{"keyed('M\ufffdrk')?$select=id", "[1]"},
				{"keyed('Märk')?$select=id", "[2]"},
			})
			if got := walk(t, s, "keyed?$select=id"); got != "2 1 4" {
				t.Errorf("by key: %s", got)
			}
		})
	}
}

// TestTextsThatAreNoUTF8InMemory holds the same for package memory, and that CSV shows what JSON shows.
func TestTextsThatAreNoUTF8InMemory(t *testing.T) {
	t.Parallel()
	type good struct {
		ID   int64 `odata:"id,key"`
		Name string
	}
	m, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "goods", Rows: []good{{1, "M\xe4\xe4k"}, {2, "Märk"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	service, err := odata.New(m.Model(), m, odata.Options{Root: "/"})
	if err != nil {
		t.Fatal(err)
	}
	const row = "{\"id\":1,\"Name\":\"M\ufffd\ufffdk\"}"
	if got := rowsOf(service, "goods?$filter="+url.QueryEscape("Name eq 'M\ufffd\ufffdk'")); got != row {
		t.Errorf("got %s", got)
	}
	w := httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest("GET", "http://h/goods?$format=csv&$top=1", nil))
	if !strings.Contains(w.Body.String(), "M\ufffd\ufffdk") {
		t.Errorf("CSV: %s", w.Body)
	}
}
