package sqlsource_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestOneValueOfTexts stores blobs and numbers in columns of texts of SQLite: conditions, orders and $apply see the text that the
// page shows.
func TestOneValueOfTexts(t *testing.T) {
	t.Parallel()
	values := []string{
		"NULL", "''", "' '", "'a'", "'A'", "'b '", "'b'", "'10'", "'9'", "'1x'", "'1.50'", "'1e5'", "'longer than two'", "'\u00e4'",
		"x''", "x'61'", "x'62'", "x'3130'", "x'c3a4'", "7", "10", "1.5", "1e20", "1234567.5", "-7", "9e999",
	}
	types := []string{"TEXT", "VARCHAR(2) COLLATE NOCASE", "STRING", "", "BLOB", "INTEGER", "REAL"}
	var names, indexes strings.Builder
	for i, typ := range types {
		fmt.Fprintf(&names, ", c%d %s", i, typ)
		fmt.Fprintf(&indexes, "CREATE INDEX i%d ON indexed (c%d);\n", i, i)
	}
	ddl := "CREATE TABLE odd (id INTEGER PRIMARY KEY" + names.String() + ");\nCREATE TABLE indexed (id INTEGER PRIMARY KEY" + names.String() + ");\n" +
		"CREATE VIEW seen AS SELECT * FROM odd;\n" + indexes.String()
	for i, v := range values {
		ddl += fmt.Sprintf("INSERT INTO odd VALUES (%d%s);\n", i, strings.Repeat(", "+v, len(types)))
	}
	var texts []sqlsource.Property
	for _, column := range []string{"c3", "c4", "c5", "c6"} {
		texts = append(texts, sqlsource.Property{Column: column, Type: "Edm.String"})
	}
	sets := []sqlsource.EntitySet{{Name: "odd", Properties: texts}, {Name: "indexed", Properties: texts}, {Name: "seen", Key: []string{"id"}, Properties: texts}}
	s := open(t, database(t, "sqlite", ddl+"INSERT INTO indexed SELECT * FROM odd"), sqlsource.Config{Guard: edm.GuardNone, EntitySets: sets})
	for _, set := range sets {
		for i, typ := range types {
			t.Run(set.Name+" "+typ, func(t *testing.T) { checkTexts(t, s, set.Name, fmt.Sprintf("c%d", i)) })
		}
	}
}

// checkTexts compares the texts that a page shows of a column with what requests for rows by these texts give.
func checkTexts(t *testing.T, s *shop, set, c string) {
	t.Helper()
	shown := pairs(t, s.get(set+"?$select=id,"+c+"&$orderby=id"))
	ids := func(of func(text string) bool) (list string) {
		for _, p := range shown {
			if p[1] != "null" && of(p[1]) {
				list += "[" + p[0] + "]"
			}
		}
		return list
	}
	check := func(target, want string) {
		t.Helper()
		if got := s.get(set + "?" + target); got != want {
			t.Errorf("%s gives\n%s, want\n%s", target, got, want)
		}
	}
	ordered := slices.Clone(shown)
	slices.SortStableFunc(ordered, func(a, b [2]string) int {
		if a[1] == "null" || b[1] == "null" {
			return strings.Compare(strings.TrimSuffix(a[1], "null"), strings.TrimSuffix(b[1], "null"))
		}
		return strings.Compare(a[1], b[1])
	})
	var order, groups string
	for i, p := range ordered {
		order += "[" + p[0] + "]"
		if i == 0 || ordered[i-1][1] != p[1] {
			groups += "[" + p[1] + "]"
		}
	}
	check("$select=id&$orderby="+c+",id", order)
	check("$apply=groupby(("+c+"))/orderby("+c+")", groups)
	check("$apply=filter("+c+" ne null)/aggregate("+c+" with min as a,"+c+" with max as b)", "["+ordered[1][1]+","+ordered[len(ordered)-1][1]+"]")
	for _, p := range shown {
		text := p[1]
		if text == "null" {
			continue
		}
		quoted := "'" + text + "'"
		check("$select=id&$orderby=id&$filter="+c+" eq "+quoted, ids(func(x string) bool { return x == text }))
		check("$select=id&$orderby=id&$filter="+c+" gt "+quoted, ids(func(x string) bool { return x > text }))
		check("$select=id&$orderby=id&$filter="+c+" ge "+quoted, ids(func(x string) bool { return x >= text }))
		check("$select=id&$orderby=id&$filter="+c+" lt "+quoted, ids(func(x string) bool { return x < text }))
		check("$select=id&$orderby=id&$filter="+quoted+" ge "+c, ids(func(x string) bool { return x <= text }))
		check("$select=id&$orderby=id&$filter="+c+" ne null and not ("+c+" eq "+quoted+")", ids(func(x string) bool { return x != text }))
		check("$select=id&$orderby=id&$filter=concat("+c+",'!') eq '"+text+"!'", ids(func(x string) bool { return x == text }))
		check("$select=id&$orderby=id&$filter=startswith("+c+","+quoted+")", ids(func(x string) bool { return strings.HasPrefix(x, text) }))
		check("$select=id&$orderby=id&$filter=contains("+c+","+quoted+")", ids(func(x string) bool { return strings.Contains(x, text) }))
		check("$select=id&$orderby=id&$filter=length("+c+") eq "+fmt.Sprint(len([]rune(text))), ids(func(x string) bool { return len([]rune(x)) == len([]rune(text)) }))
	}
}

// TestBlobsThatAreNoText holds that a text of SQLite whose bytes are no UTF-8 is found as it is shown: with replacement characters.
func TestBlobsThatAreNoText(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "sqlite", "CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT);\nINSERT INTO goods VALUES (1, x'ff61'), (2, 'a')"),
		sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	service, err := odata.New(s.Model(), s, odata.Options{Root: "/"})
	if err != nil {
		t.Fatal(err)
	}
	const row = "{\"id\":1,\"name\":\"\ufffda\"}"
	for _, target := range []string{"goods?$orderby=name%20desc&$top=1", "goods?$filter=name%20eq%20%27%EF%BF%BDa%27", "goods?$filter=name%20gt%20%27b%27"} {
		if got := rowsOf(service, target); got != row {
			t.Errorf("%s: %s", target, got)
		}
	}
}

// TestOneValueOfBinaries stores texts and numbers in a column of bytes of SQLite.
func TestOneValueOfBinaries(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, b BLOB, i BLOB);
CREATE INDEX by_i ON goods (i);
INSERT INTO goods VALUES (1, x'61', x'61'), (2, 'a', 'a'), (3, '7', '7'), (4, 7, 7), (5, NULL, NULL), (6, x'', x''), (7, '', ''), (8, 1e20, 1e20)`),
		sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	for _, c := range []string{"b", "i"} {
		for filter, want := range map[string]string{
			c + " eq binary'YQ'":          "[1][2]",
			c + " eq binary'Nw'":          "[3][4]",
			c + " eq binary''":            "[6][7]",
			c + " eq binary'MWUrMjA'":     "[8]",
			c + " eq null":                "[5]",
			c + " ne binary'YQ'":          "[3][4][5][6][7][8]",
			c + " in (binary'YQ',null)":   "[1][2][5]",
			"not (" + c + " eq binary'')": "[1][2][3][4][5][8]",
		} {
			if got := s.get("goods?$select=id&$orderby=id&$filter=" + filter); got != want {
				t.Errorf("%s: got %s, want %s", filter, got, want)
			}
		}
		if got := s.get("goods?$apply=aggregate(" + c + " with countdistinct as n)"); got != "[4]" {
			t.Errorf("%s: %s values", c, got)
		}
	}
}

// TestKeysOfBlobs holds that rows whose text key is stored as a blob are found by their addresses, and that pages neither repeat
// nor lose one.
func TestKeysOfBlobs(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "sqlite", `CREATE TABLE bk (code VARCHAR(2) PRIMARY KEY, place BIGINT);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO bk SELECT CASE WHEN i % 3 = 0 THEN CAST('key' || i AS BLOB) ELSE 'key' || i END, i % 7 FROM n`),
		sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"bk"}})
	service, err := odata.New(s.Model(), s, odata.Options{Root: "/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"", "$orderby=code%20desc", "$orderby=place", "$orderby=place%20desc,code%20desc"} {
		var codes []string
		for target, pages := "bk?"+order, 0; target != "" && pages < 20; pages++ {
			r := httptest.NewRequest("GET", "http://h/"+target, nil)
			r.Header.Set("Prefer", "odata.maxpagesize=7")
			w := httptest.NewRecorder()
			service.ServeHTTP(w, r)
			var page struct {
				Value []struct{ Code string }
				Next  string `json:"@odata.nextLink"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
				t.Fatalf("%s: %s", target, w.Body)
			}
			for _, row := range page.Value {
				codes = append(codes, row.Code)
			}
			target = strings.TrimPrefix(page.Next, "http://h/")
		}
		sorted := slices.Sorted(slices.Values(codes))
		if order == "" && !slices.Equal(sorted, codes) {
			t.Errorf("the order is %v", codes)
		}
		if len(slices.Compact(sorted)) != 60 || len(codes) != 60 {
			t.Errorf("%q: %d rows, %d different ones", order, len(codes), len(slices.Compact(sorted)))
		}
	}
	for _, key := range []string{"key1", "key3", "key60"} {
		if got := s.get("bk?$select=code&$filter=code eq '" + key + "'"); got != "["+key+"]" {
			t.Errorf("%s: %s", key, got)
		}
		w := httptest.NewRecorder()
		if service.ServeHTTP(w, httptest.NewRequest("GET", "http://h/bk('"+key+"')/code/$value", nil)); w.Body.String() != key {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
}

// TestLookAtTexts holds that a text column without blobs is read as it is stored, with its index, and that conditions go by the
// index whatever it holds.
func TestLookAtTexts(t *testing.T) {
	t.Parallel()
	for _, forget := range []bool{false, true} {
		t.Run(fmt.Sprintf("forget %t", forget), func(t *testing.T) { lookAtTexts(t, forget) })
	}
}

func lookAtTexts(t *testing.T, forget bool) {
	t.Helper()
	db := database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT);
CREATE INDEX by_name ON goods (name);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO goods SELECT i, printf('n%03d', i) FROM n`)
	db.Forget = forget
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	other := sqlx.MustOpen("sqlite", db.DSN)
	t.Cleanup(func() { _ = other.Close() })
	planned := func(target string) string {
		e := s.explain(t, target)
		return e.Statements[len(e.Statements)-1].SQL + "\n" + strings.Join(e.Statements[len(e.Statements)-1].QueryPlan, "\n") + "\n" + strings.Join(e.Notes, "\n")
	}
	const ordered = "goods?$select=name&$orderby=name&$top=2"
	for _, state := range []struct{ change, want, plan string }{
		{"", "[n001][n002]", "USING COVERING INDEX by_name"},
		{"INSERT INTO goods VALUES (999, x'6e3030')", "[n00][n001]", "TEMP B-TREE"},
		{"DELETE FROM goods WHERE id = 999", "[n001][n002]", "USING COVERING INDEX by_name"},
	} {
		other.MustExec(state.change)
		if got := strings.TrimSuffix(s.get(ordered), "+"); got != state.want {
			t.Errorf("after %q: %s, want %s", state.change, got, state.want)
		}
		if got := planned(ordered); !strings.Contains(got, state.plan) {
			t.Errorf("after %q the plan is %s, want %s", state.change, got, state.plan)
		}
		for _, filter := range []string{"name eq 'n007'", "name ge 'n299'", "name lt 'n002'", "startswith(name,'n00')"} {
			if got := planned("goods?$apply=filter(" + filter + ")/aggregate($count as n)"); !strings.Contains(got, "SEARCH") || !strings.Contains(got, "by_name") {
				t.Errorf("after %q the plan for %s is %s", state.change, filter, got)
			}
		}
	}
}
