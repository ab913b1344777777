package sqlsource_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// TestTokensSeek holds that a page behind a token begins where an index has its place: nothing is skipped or sorted.
func TestTokensSeek(t *testing.T) {
	cases := []struct {
		target string
		place  []plan.Value
		plans  map[string][]string // parts of the query plan; empty where the dialect has no such index
	}{
		{"things?$orderby=id", []plan.Value{{Int: 1500}}, map[string][]string{
			"sqlite": {"SEARCH t0 USING INTEGER PRIMARY KEY (rowid>?)"}, "postgres": {"Index Scan using things_pkey", "Index Cond: (id > "}, "mysql": {"range", "PRIMARY"},
		}},
		{"things?$orderby=id%20desc", []plan.Value{{Int: 500}}, map[string][]string{
			"sqlite": {"SEARCH t0 USING INTEGER PRIMARY KEY (rowid<?)"}, "postgres": {"Index Scan Backward using things_pkey", "Index Cond: (id < "}, "mysql": {"range", "PRIMARY"},
		}},
		{"things?$orderby=a,b", []plan.Value{{Int: 3}, {Bytes: []byte("b")}, {Int: 7}}, map[string][]string{"sqlite": {"SEARCH t0 USING INDEX things_a (a>?)"}}},
	}
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openMany(t, d, 2000)
			for _, c := range cases {
				if len(c.plans[d]) == 0 {
					continue
				}
				p := s.behind(t, c.target, c.place)
				e, err := s.Explain(t.Context(), p, io.Discard)
				if err != nil {
					t.Fatal(err)
				}
				text := strings.Join(e.Statements[0].QueryPlan, "\n")
				for _, part := range c.plans[d] {
					if !strings.Contains(text, part) {
						t.Errorf("%s: %s\n%s", c.target, e.Statements[0].SQL, text)
						break
					}
				}
				if n := e.Statements[0].Rows; len(e.Statements) != 1 || n != 21 || strings.Contains(text, "TEMP B-TREE") || strings.Contains(text, "Sort") || strings.Contains(text, "filesort") {
					t.Errorf("%s: %d statements, %d rows\n%s", c.target, len(e.Statements), n, text)
				}
			}
		})
	}
}

// behind is the plan of a page of 20 rows behind a place.
func (s *shop) behind(t *testing.T, target string, place []plan.Value) *plan.Plan {
	t.Helper()
	req, err := syntax.Parse(target, syntax.Options{Functions: function.Arity})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.binder.Plan(req, bind.Options{KeyLinks: true, Prefer: 20})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = bind.Behind(p, strings.TrimPrefix(p.Top.NextOption(p.Top.Path, 20, place), "$skiptoken="), 0); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTokensAmongMisfits begins behind a null where all nulls are stored as what is no date: an index has these elsewhere.
func TestTokensAmongMisfits(t *testing.T) {
	t.Parallel()
	for dialect, script := range map[string]string{
		"sqlite":   "CREATE TABLE goods (id INTEGER PRIMARY KEY, day DATE);\nCREATE INDEX by_day ON goods (day, id);\nINSERT INTO goods VALUES (1, '2024-01-01'), (2, 'soon'), (3, ''), (4, 'soon')",
		"postgres": "CREATE TABLE goods (id int PRIMARY KEY, day date);\nCREATE INDEX ON goods (day NULLS FIRST, id);\nINSERT INTO goods VALUES (1, '2024-01-01'), (2, 'infinity'), (3, '-infinity'), (4, 'infinity')",
		"mysql":    "SET sql_mode = '';\nCREATE TABLE goods (id INT PRIMARY KEY, day DATE);\nCREATE INDEX by_day ON goods (day, id);\nINSERT INTO goods VALUES (1, '2024-01-01'), (2, '0000-00-00'), (3, '0000-00-00'), (4, '0000-00-00')",
	} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, dialect, script), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
			for order, want := range map[string]string{"day%20desc,id": "[3][4]", "day,id": "[3][4][1]", "day%20desc,id%20desc": ""} {
				p := s.behind(t, "goods?$select=id&$orderby="+order, []plan.Value{{Null: true}, {Int: 2}})
				rows, err := s.Open(t.Context(), p)
				if err != nil {
					t.Errorf("%s: %v", order, err)
					continue
				}
				if got := render(rows, p.Top); got != want {
					t.Errorf("%s: %s, want %s", order, got, want)
				}
				if err := errors.Join(rows.Err(), rows.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestTokensThatNoPageHas begins behind values that no database here has stored, as somebody may write them into a token: that
// is no fault of a database.
func TestTokensThatNoPageHas(t *testing.T) {
	text := func(s string) plan.Value { return plan.Value{Bytes: []byte(s)} }
	cases := []struct {
		order  string
		values []plan.Value
	}{
		{"weight", []plan.Value{{Float: math.NaN()}, {Float: math.Inf(1)}, {Float: math.Inf(-1)}, {Float: math.MaxFloat64}, {Float: 5e-324}}},
		{"price", []plan.Value{text(strings.Repeat("9", 200)), text("-0." + strings.Repeat("3", 200)), text(strings.Repeat("8", 70) + "." + strings.Repeat("7", 70))}},
		{"price%20mul%202", []plan.Value{text(strings.Repeat("9", 200)), text("0." + strings.Repeat("3", 200))}},
		{"name", []plan.Value{text("a\x00b"), text("\U0010FFFF"), text(strings.Repeat("\u00fc", 100))}},
		{"released", []plan.Value{text("9999-12-31T23:59:59.999999999Z"), text("0001-01-01T00:00:00Z")}},
		{"day", []plan.Value{text("9999-12-31"), text("0001-01-01")}},
		{"opens", []plan.Value{text("23:59:59.999999999"), text("00:00:00")}},
		{"uid", []plan.Value{text("00000000-0000-0000-0000-000000000000")}},
		{"data", []plan.Value{text(""), text("\xff\xfe")}},
		{"Status", []plan.Value{{Int: math.MinInt64}, {Int: math.MaxInt64}}},
		{"stock", []plan.Value{{Int: math.MinInt32}}},
		{"active", []plan.Value{{Int: 1}, {}}},
	}
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			for _, c := range cases {
				for _, v := range append(c.values, plan.Value{Null: true}) {
					for _, desc := range []string{"", "%20desc"} {
						p := s.behind(t, "Products?$orderby="+c.order+desc, []plan.Value{v, {Int: 3}})
						rows, err := s.Open(t.Context(), p)
						if err != nil {
							t.Errorf("%s behind %+v: %v", c.order+desc, v, err)
							continue
						}
						for rows.Next() {
							_ = rows.Row()
						}
						if err := errors.Join(rows.Err(), rows.Close()); err != nil {
							t.Errorf("%s behind %+v: %v", c.order+desc, v, err)
						}
					}
				}
			}
		})
	}
}

// TestTokensBesideMisfits holds that a walk by tokens has the rows whose values are null because no answer has what is stored: an
// index has them at the other end.
func TestTokensBesideMisfits(t *testing.T) {
	t.Parallel()
	for dialect, script := range map[string]string{
		"postgres": `CREATE TABLE days (id int PRIMARY KEY, day date, price numeric(10,2));
CREATE INDEX ON days (day);
CREATE INDEX ON days (price);
INSERT INTO days VALUES (1, '2024-01-01', 1), (2, '2024-01-02', 2), (3, 'infinity', 'NaN'), (4, '-infinity', NULL), (5, NULL, 3)`,
		"mysql": `SET sql_mode = '';
CREATE TABLE days (id INT PRIMARY KEY, day DATE, price DECIMAL(10,2), INDEX (day));
INSERT INTO days VALUES (1, '2024-01-01', 1), (2, '2024-01-02', 2), (3, '2025-00-00', NULL), (4, '0000-00-00', NULL), (5, NULL, 3)`,
	} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, dialect, script), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"days"}})
			for order, want := range map[string]string{"day": "3 4 5 1 2", "day%20desc": "2 1 3 4 5", "day%20desc,id%20desc": "2 1 5 4 3", "price": "3 4 1 2 5", "price%20desc": "5 2 1 3 4"} {
				if got := walk(t, s, "days?$select=id&$orderby="+order); got != want {
					t.Errorf("by %s: %s, want %s", order, got, want)
				}
			}
		})
	}
}

// TestTokensAtPartialDates holds that a page of MariaDB ends with a fault if its link would name null for a stored date such as
// 2025-03-00, which has another place in an index, and that all other pages have each row once.
func TestTokensAtPartialDates(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "mysql", `SET sql_mode = '';
CREATE TABLE days (id INT PRIMARY KEY, day DATE, due DATE, INDEX (day));
INSERT INTO days VALUES (1, '2024-01-01', '2025-00-00'), (2, '2024-01-02', NULL), (3, '2025-03-00', NULL), (4, '2025-04-01', NULL), (5, NULL, NULL)`),
		sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
			{Name: "days", Table: "days", Navigations: []sqlsource.Navigation{{Name: "same", To: "days", On: map[string]string{"id": "id"}}}},
		}})
	for _, c := range []struct {
		size              int64
		order, all, fault string
		counted           bool
	}{
		{1, "day", "5 1 2", "500", false},
		{2, "day", "5 1", "500", false},
		{3, "day", "5 1 2 3 4", "", false},
		{4, "day", "", "500", false},
		{5, "day", "5 1 2 3 4", "", false},
		{1, "day desc", "4", "500", false},
		{5, "day desc", "4 3 2 1 5", "", false},
		{1, "day", "5 1 2 3 4", "", true},
		{1, "due,day", "5 1 2", "500", false},
		{1, "due desc,id", "1 2 3 4 5", "", false},
	} {
		for _, expand := range []string{"", "&$expand=same($select=id)"} {
			target := "days?$select=id&$orderby=" + strings.ReplaceAll(c.order, " ", "%20") + expand
			all, fault := walkBy(t, s, target, odata.Options{KeyLinks: !c.counted, Limits: odata.Limits{PageSize: c.size}})
			if all != c.all || fault != c.fault {
				t.Errorf("%s in pages of %d: %s %s, want %s %s", target, c.size, all, fault, c.all, c.fault)
			}
		}
	}
}
