package sqlsource_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestOneValue holds that a column has one value, on SQLite, which stores in a column what it is given: conditions, orders and
// $apply see what the page shows.
func TestOneValue(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, ratio DOUBLE, price DECIMAL(10,2), stock INTEGER, sold DATETIME, ok BOOLEAN);
CREATE INDEX by_price ON goods (price);
INSERT INTO goods VALUES (1, 2, 9.5, 3, '2024-01-01 10:00:00', 1), (2, '', '', '', 1.5, 2), (3, 4, 1.5, 1.5, '2024-01-02 10:00:00', 'yes'), (4, '', '1,234.50', 5, 'soon', 'perhaps')`),
		sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	for _, tt := range []struct{ target, want string }{
		{"goods?$select=id,ratio,price,stock,sold,ok", "[1,2,9.50,3,2024-01-01T10:00:00Z,1][2,null,null,null,null,1][3,4,1.50,null,2024-01-02T10:00:00Z,1][4,null,null,5,null,null]"},
		{"goods?$apply=aggregate(ratio with average as a,ratio with countdistinct as n)", "[3,2]"},
		{"goods?$apply=aggregate(price with average as a,price with sum as b,price with max as c,price with min as d,price with countdistinct as n)", "[5.5,11.00,9.50,1.50,2]"},
		{"goods?$apply=aggregate(stock with sum as b,stock with max as c)", "[8,5]"},
		{"goods?$apply=topcount(1,price)&$select=id,price", "[1,9.50]"},
		{"goods?$apply=bottomcount(1,stock)/groupby((id))", "[2]"},
		{"goods?$filter=price gt 5&$select=id,price", "[1,9.50]"},
		{"goods?$filter=5 lt price&$select=id", "[1]"},
		{"goods?$filter=not (price le 5)&$select=id", "[1][2][4]"},
		{"goods?$filter=price le 1.5&$select=id", "[3]"},
		{"goods?$filter=price ne 1.5&$select=id", "[1][2][4]"},
		{"goods?$filter=price in (1.5,9.5)&$select=id", "[1][3]"},
		{"goods?$filter=price eq null&$select=id", "[2][4]"},
		{"goods?$filter=ratio ge 2&$select=id", "[1][3]"},
		{"goods?$filter=ratio lt 3e0&$select=id", "[1]"},
		{"goods?$filter=ratio ne null&$select=id", "[1][3]"},
		{"goods?$filter=stock gt 0&$select=id", "[1][4]"},
		{"goods?$filter=stock lt 5&$select=id", "[1]"},
		{"goods?$filter=stock eq 1.5&$select=id", ""},
		{"goods?$filter=stock eq null&$select=id", "[2][3]"},
		{"goods?$filter=sold gt 2024-01-01T12:00:00Z&$select=id", "[3]"},
		{"goods?$filter=sold eq null&$select=id", "[2][4]"},
		{"goods?$filter=ok eq true&$select=id", "[1][2][3]"},
		{"goods?$filter=ok eq null&$select=id", "[4]"},
		{"goods?$orderby=price&$select=id", "[2][4][3][1]"},
		{"goods?$orderby=price desc&$select=id", "[1][3][2][4]"},
		{"goods?$orderby=stock desc&$select=id", "[4][1][2][3]"},
		{"goods?$orderby=sold&$select=id", "[2][4][1][3]"},
		{"goods?$apply=groupby((price),aggregate($count as n))/orderby(price)", "[null,2][1.50,1][9.50,1]"},
		{"goods?$apply=groupby((stock),aggregate($count as n))/orderby(stock)", "[null,2][3,1][5,1]"},
		{"goods?$apply=groupby((sold),aggregate($count as n))/orderby(sold)", "[null,2][2024-01-01T10:00:00Z,1][2024-01-02T10:00:00Z,1]"},
		{"goods?$apply=groupby((ok),aggregate($count as n))/orderby(ok)", "[null,1][1,3]"},
		{"goods?$select=id,z&$compute=price add 1 as z", "[1,10.5][2,null][3,2.5][4,null]"},
	} {
		if got := s.get(tt.target); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.target, got, tt.want)
		}
	}
}

// TestOneValueOfEach stores odd values of each storage class in columns of each type, in tables and in a view of them, and
// compares what pages show with what conditions, orders and groups see.
func TestOneValueOfEach(t *testing.T) {
	t.Parallel()
	values := []string{
		"NULL", "0", "1", "2", "-7", "300", "9223372036854775807", "86400", "1.5", "0.25", "-0.0", "1e300", "9e999", "-9e999", "-9223372036854775808.0",
		"''", "' '", "'5'", "'+5'", "'5.'", "'.5'", "'007'", "'1e2'", "'0x10'", "'inf'", "'NaN'", "'1,234.50'", "'1_000'", "'true'", "'No'", "'soon'",
		"'2024-02-29'", "'2024-02-30'", "'0000-01-01'", "'-0044-03-15'", "'2024-02-29 10:00:00'", "'2024-02-29T10:00:00Z'", "'2024-02-29 23:30:00-05:00'",
		"'2024-02-29 10:00:00.5'", "'10:00'", "'25:00:00'", "'10:00:00.25'", "'PT1H'", "'=5'",
		"'0a0b0c0d-0000-0000-0000-000000000001'", "'0A0B0C0D-0000-0000-0000-00000000000F'", "'0a0b0c0d+0000-0000-0000-000000000001'",
		"x''", "x'35'", "x'000102030405060708090a0b0c0d0e0f'", "x'01'",
	}
	types := []string{"INTEGER", "TINYINT", "BOOLEAN", "DECIMAL(10,2)", "DECIMAL_TEXT(20,2)", "DOUBLE", "DATE", "DATETIME", "TIME", "UUID"}
	retyped := map[string]string{"c0": "Int16", "c5": "Int64", "c3": "Double"}
	var ddl strings.Builder
	ddl.WriteString("CREATE TABLE odd (id INTEGER PRIMARY KEY")
	for i, typ := range types {
		fmt.Fprintf(&ddl, ", c%d %s", i, typ)
	}
	ddl.WriteString(");\nCREATE VIEW seen AS SELECT * FROM odd UNION ALL SELECT * FROM odd WHERE 0 = 1;\n")
	for i, v := range values {
		fmt.Fprintf(&ddl, "INSERT INTO odd VALUES (%d%s);\n", i, strings.Repeat(", "+v, len(types)))
	}
	sets := []sqlsource.EntitySet{{Name: "odd"}, {Name: "seen", Key: []string{"id"}}, {Name: "again", Table: "odd"}}
	for column, typ := range retyped {
		sets[2].Properties = append(sets[2].Properties, sqlsource.Property{Column: column, Type: "Edm." + typ})
	}
	s := open(t, database(t, "sqlite", ddl.String()), sqlsource.Config{Guard: edm.GuardNone, EntitySets: sets})
	for _, set := range sets {
		for i, typ := range types {
			t.Run(set.Name+" "+typ, func(t *testing.T) {
				c := fmt.Sprintf("c%d", i)
				shown := pairs(t, s.get(set.Name+"?$select=id,"+c+"&$orderby=id"))
				if grouped := pairs(t, s.get(set.Name+"?$apply=groupby((id,"+c+"))/orderby(id)")); !slices.Equal(shown, grouped) {
					t.Errorf("shown   %v\ngrouped %v", shown, grouped)
				}
				if computed := pairs(t, s.get(set.Name+"?$select=id,z&$orderby=id&$compute=case(id ge 0:"+c+") as z")); !slices.Equal(shown, computed) {
					t.Errorf("shown    %v\ncomputed %v", shown, computed)
				}
				var null, not string
				for _, p := range shown {
					if p[1] == "null" {
						null += "[" + p[0] + "]"
					} else {
						not += "[" + p[0] + "]"
					}
				}
				if got := s.get(set.Name + "?$select=id&$orderby=id&$filter=" + c + " eq null"); got != null {
					t.Errorf("null are %s, shown as null %s", got, null)
				}
				if got := s.get(set.Name + "?$select=id&$orderby=id&$filter=" + c + " ne null"); got != not {
					t.Errorf("not null are %s, shown not as null %s", got, not)
				}
				if got := s.get(set.Name + "?$select=id&$orderby=" + c + ",id"); !strings.HasPrefix(got, null) {
					t.Errorf("the order is %s, and null are %s", got, null)
				}
				if typ == "BOOLEAN" {
					return
				}
				compareWithConstants(t, s, set.Name, c, shown)
				// The least and the greatest, as conditions have them and as an order has them.
				ordered := pairs(t, s.get(set.Name+"?$select=id,"+c+"&$filter="+c+" ne null&$orderby="+c+",id"))
				for j := 1; j < len(ordered); j++ {
					a, b := ordered[j-1], ordered[j]
					want := fmt.Sprintf("[%s]", a[0])
					if a[1] == b[1] {
						continue
					}
					target := fmt.Sprintf("%s?$select=id&$filter=id eq %s and %s lt %s/%s(%s)/%s", set.Name, a[0], c, "$root", set.Name, b[0], c)
					if got := s.get(target); got != want {
						t.Errorf("%s = %s comes before %s = %s, and %s gives %s", a[0], a[1], b[0], b[1], target, got)
					}
				}
			})
		}
	}
}

// compareWithConstants compares a column with each value that it shows.
func compareWithConstants(t *testing.T, s *shop, set, c string, shown [][2]string) {
	t.Helper()
	ids := func(filter string) string { return s.get(set + "?$select=id&$orderby=id&$filter=" + filter) }
	for _, p := range shown {
		if p[1] == "null" || strings.HasSuffix(p[1], "Inf") || len(p[1]) > 65 {
			continue
		}
		equal := ""
		for _, q := range shown {
			if q[1] == p[1] {
				equal += "[" + q[0] + "]"
			}
		}
		if got := ids(c + " eq " + p[1]); got != equal {
			t.Errorf("%s eq %s gives %s, want %s", c, p[1], got, equal)
		}
		if got, want := ids(c+" ge "+p[1]), ids(c+" gt "+p[1]+" or "+c+" eq "+p[1]); got != want {
			t.Errorf("%s ge %s gives %s, want %s", c, p[1], got, want)
		}
		if got, want := ids(c+" gt "+p[1]), ids(c+" ne null and not ("+c+" le "+p[1]+")"); got != want {
			t.Errorf("%s gt %s gives %s, want %s", c, p[1], got, want)
		}
		// A computation has no column beside it.
		computed := "case(id ge 0:" + c + ")"
		for _, op := range []string{"lt", "le", "gt", "ge"} {
			if got, want := ids(c+" "+op+" "+p[1]), ids(computed+" "+op+" "+p[1]); got != want {
				t.Errorf("%s %s %s gives %s, want %s", c, op, p[1], got, want)
			}
		}
	}
}

// pairs reads rows of two values.
func pairs(t *testing.T, rows string) (out [][2]string) {
	t.Helper()
	if rows == "" {
		return nil
	}
	if !strings.HasPrefix(rows, "[") {
		t.Fatalf("the answer is %s", rows)
	}
	for _, row := range strings.Split(strings.Trim(rows, "[]"), "][") {
		a, b, _ := strings.Cut(row, ",")
		out = append(out, [2]string{a, b})
	}
	return out
}

// TestLookAtTheData holds that a column that a look has found clean is read as it is stored, with its index, that a commit of
// somebody else ends this until the data are clean again.
func TestLookAtTheData(t *testing.T) {
	t.Parallel()
	db := database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, price DECIMAL(10,2), stock INTEGER, sold DATETIME, day DATE, code UUID);
CREATE INDEX by_price ON goods (price);
CREATE INDEX by_stock ON goods (stock);
CREATE INDEX by_sold ON goods (sold);
CREATE INDEX by_day ON goods (day);
CREATE INDEX by_code ON goods (code);
WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 300) INSERT INTO goods SELECT value, value / 4.0, value, datetime(value * 86400, 'unixepoch'), date(value * 86400, 'unixepoch'), printf('0a0b0c0d-0000-0000-0000-%012d', value) FROM n`)
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	for _, tt := range []struct{ column, last, misfit, op string }{
		{"price", "75.00", "''", "ge"},
		{"stock", "300", "1.5", "ge"},
		{"sold", "1970-10-28T00:00:00Z", "'2024-1-1'", "ge"},
		{"day", "1970-10-28", "'soon'", "ge"},
		{"code", "0a0b0c0d-0000-0000-0000-000000000300", "x'00'", "eq"},
	} {
		target := "goods?$select=id," + tt.column + "&$top=1&$orderby=" + tt.column + " desc"
		planned := func() string {
			e := s.explain(t, target)
			return strings.Join(e.Statements[len(e.Statements)-1].QueryPlan, "\n") + "\n" + strings.Join(e.Notes, "\n")
		}
		clean := "[300," + tt.last + "]"
		if got := s.get(target); got != clean {
			t.Errorf("%s: got %s, want %s", target, got, clean)
		}
		if got := planned(); !strings.Contains(got, "USING INDEX by_"+tt.column) && !strings.Contains(got, "USING COVERING INDEX by_"+tt.column) || !strings.Contains(got, "goods."+tt.column+" is read as it is stored") {
			t.Errorf("%s: the plan is %s", target, got)
		}
		other := sqlx.MustOpen("sqlite", db.DSN)
		other.MustExec("INSERT INTO goods (id, " + tt.column + ") VALUES (999, " + tt.misfit + ")")
		if got := s.get(target + "&$filter=id gt 0"); got != clean {
			t.Errorf("%s with a misfit: got %s, want %s", target, got, clean)
		}
		if got := s.get("goods?$select=id," + tt.column + "&$top=1&$orderby=" + tt.column); got != "[999,null]+" && got != "[999,null]" {
			t.Errorf("%s, ascending: got %s", target, got)
		}
		if got := planned(); !strings.Contains(got, "TEMP B-TREE") || !strings.Contains(got, "goods."+tt.column+" is cleaned") {
			t.Errorf("%s with a misfit: the plan is %s", target, got)
		}
		filtered := fmt.Sprintf("goods?$apply=filter(%s %s %s)/aggregate($count as n,id with max as m)", tt.column, tt.op, tt.last)
		if got := s.get(filtered); got != "[1,300]" {
			t.Errorf("%s with a misfit: got %s", filtered, got)
		}
		if got := strings.Join(s.explain(t, filtered).Statements[0].QueryPlan, "\n"); !strings.Contains(got, "SEARCH") || !strings.Contains(got, "by_"+tt.column) {
			t.Errorf("%s with a misfit: the plan is %s", filtered, got)
		}
		other.MustExec("DELETE FROM goods WHERE id = 999")
		if got := s.get(target); got != clean {
			t.Errorf("%s, clean again: got %s, want %s", target, got, clean)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestIndexOfMisfits holds that the index that explain proposes makes a look short, whatever the type.
func TestIndexOfMisfits(t *testing.T) {
	t.Parallel()
	db := database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, price DECIMAL(10,2), stock INTEGER, sold DATETIME, day DATE, code UUID);
INSERT INTO goods VALUES (1, 2.5, 3, '2024-01-01 10:00:00', '2024-01-01', '0a0b0c0d-0000-0000-0000-000000000001')`)
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	other := sqlx.MustOpen("sqlite", db.DSN)
	t.Cleanup(func() { _ = other.Close() })
	other.MustExec("INSERT INTO goods VALUES (2, '', 1.5, 'soon', 'soon', 'none')")
	for _, column := range []string{"price", "stock", "sold", "day", "code"} {
		notes := strings.Join(s.explain(t, "goods?$orderby="+column).Notes, "\n")
		_, index, ok := strings.Cut(notes, "CREATE INDEX ")
		if !ok {
			t.Errorf("%s: the notes are %s", column, notes)
			continue
		}
		other.MustExec("CREATE INDEX " + index)
		_, misfit, _ := strings.Cut(index, " WHERE ")
		var rows []struct {
			ID, Parent, Notused int
			Detail              string
		}
		if err := other.Select(&rows, "EXPLAIN QUERY PLAN SELECT 1 FROM goods WHERE "+misfit+" LIMIT 1"); err != nil {
			t.Error(err)
		}
		if plan := fmt.Sprint(rows); !strings.Contains(plan, "goods_"+column+"_misfits") {
			t.Errorf("%s: the look goes by %s", column, plan)
		}
	}
}

// TestOneValueOfNaN holds that NaN and the infinities of a numeric column, and dates and times that no answer has, are null
// everywhere on PostgreSQL, and that an order by a column with an index goes by the index.
func TestOneValueOfNaN(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "postgres", `CREATE TABLE goods (id int PRIMARY KEY, price numeric(10,2), rate numeric, day date, at timestamptz, seen timestamp, opens time);
CREATE INDEX ON goods (price NULLS FIRST, id);
CREATE INDEX ON goods (day NULLS FIRST, id);
INSERT INTO goods VALUES (1, 9.5, 2, '2024-01-02', '2024-01-02 10:00Z', '2024-01-02 10:00', '10:00'), (2, 'NaN', 'Infinity', 'infinity', 'infinity', 'infinity', '24:00'),
(3, 1.5, 4, '2024-01-01', '2024-01-01 10:00Z', '2024-01-01 10:00', '09:00'), (4, NULL, '-Infinity', '-infinity', '-infinity', '-infinity', NULL), (5, NULL, 'NaN', '12000-01-01', '12000-01-01 10:00Z', '0044-03-15 10:00 BC', NULL);
CREATE TABLE clean (id int PRIMARY KEY, price numeric(10,2));
CREATE INDEX ON clean (price NULLS FIRST, id);
INSERT INTO clean SELECT n, n / 4.0 FROM generate_series(1, 5000) AS n;
ANALYZE clean`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods", "clean"}})
	for _, tt := range []struct{ target, want string }{
		{"goods?$select=id,price,rate", "[1,9.50,2][2,null,null][3,1.50,4][4,null,null][5,null,null]"},
		{"goods?$apply=aggregate(price with average as a,price with sum as b,price with max as c,price with countdistinct as n)", "[5.5,11.00,9.50,2]"},
		{"goods?$apply=aggregate(rate with average as a,rate with sum as b,rate with max as c,rate with min as d,rate with countdistinct as n)", "[3,6,4,2,2]"},
		{"goods?$apply=groupby((price),aggregate($count as n))/orderby(price)", "[null,3][1.50,1][9.50,1]"},
		{"goods?$apply=groupby((rate),aggregate($count as n))/orderby(rate)", "[null,3][2,1][4,1]"},
		{"goods?$apply=topcount(1,price)&$select=id,price", "[1,9.50]"},
		{"goods?$filter=price gt 5&$select=id", "[1]"},
		{"goods?$filter=5 lt price&$select=id", "[1]"},
		{"goods?$filter=not (price gt 5)&$select=id", "[2][3][4][5]"},
		{"goods?$filter=rate gt 3&$select=id", "[3]"},
		{"goods?$filter=rate lt 3&$select=id", "[1]"},
		{"goods?$filter=rate ne 2&$select=id", "[2][3][4][5]"},
		{"goods?$filter=rate eq null&$select=id", "[2][4][5]"},
		{"goods?$filter=rate gt price&$select=id", "[3]"},
		{"goods?$filter=rate gt 3e0&$select=id", "[3]"},
		{"goods?$filter=day gt 2024-01-01&$select=id", "[1]"},
		{"goods?$filter=day lt 2024-01-02&$select=id", "[3]"},
		{"goods?$filter=day eq null&$select=id", "[2][4][5]"},
		{"goods?$filter=at gt 2024-01-01T12:00:00Z&$select=id", "[1]"},
		{"goods?$filter=at lt 2024-01-01T12:00:00Z&$select=id", "[3]"},
		{"goods?$filter=seen ge 2024-01-01T12:00:00Z&$select=id", "[1]"},
		{"goods?$filter=seen le 2024-01-01T12:00:00Z&$select=id", "[3]"},
		{"goods?$filter=2024-01-01T12:00:00Z ge seen&$select=id", "[3]"},
		{"goods?$filter=opens gt 09:30:00&$select=id", "[1]"},
		{"goods?$filter=opens eq null&$select=id", "[2][4][5]"},
		{"goods?$orderby=price,id&$select=id", "[2][4][5][3][1]"},
		{"goods?$orderby=price,id&$select=id&$count=true", "[2][4][5][3][1]#5"},
		{"goods?$orderby=price,id&$select=id&$top=2&$skip=2", "[5][3]"},
		{"goods?$orderby=price desc,id&$select=id", "[1][3][2][4][5]"},
		{"goods?$orderby=rate desc,id&$select=id", "[3][1][2][4][5]"},
		{"goods?$orderby=day,id&$select=id", "[2][4][5][3][1]"},
		{"goods?$orderby=at,id&$select=id", "[2][4][5][3][1]"},
		{"goods?$orderby=seen desc,id&$select=id", "[1][3][2][4][5]"},
		{"goods?$orderby=opens,id&$select=id", "[2][4][5][3][1]"},
		{"goods?$apply=groupby((day),aggregate($count as n))/orderby(day)", "[null,3][2024-01-01,1][2024-01-02,1]"},
		{"goods?$apply=aggregate(at with max as a,at with min as b)", "[2024-01-02T10:00:00Z,2024-01-01T10:00:00Z]"},
	} {
		if got := s.get(tt.target); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.target, got, tt.want)
		}
	}
	for target, want := range map[string]string{
		"goods?$orderby=price": "goods.price may hold what is no Edm.Decimal, which is null: comparisons have a condition beside the column, and an order goes by the column",
		"goods?$orderby=rate":  "goods.rate may hold what is no Edm.Decimal, which is null: comparisons have a condition beside the column, and an order goes by a cleaned expression",
	} {
		if got := strings.Join(s.explain(t, target).Notes, "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: the notes are %s", target, got)
		}
	}
	for _, target := range []string{"clean?$orderby=price&$top=3", "clean?$filter=price gt 1200 and price lt 1201"} {
		if got := strings.Join(s.explain(t, target).Statements[0].QueryPlan, "\n"); !strings.Contains(got, "clean_price_id_idx") {
			t.Errorf("%s: the plan is %s", target, got)
		}
	}
}

// TestOneValueOfBits holds that the columns BIT(n) of MariaDB are the numbers, or truth, that they are shown as.
func TestOneValueOfBits(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "mysql", `CREATE TABLE goods (id INT PRIMARY KEY, one BIT(1), few BIT(8), many BIT(64), INDEX (few));
INSERT INTO goods VALUES (1, b'1', 65, 70000), (2, b'0', 66, b'1111111111111111111111111111111111111111111111111111111111111111'), (3, NULL, 7, 9223372036854775807), (4, b'1', NULL, NULL), (5, b'1', 65, 3)`),
		sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
			{Name: "goods"},
			{Name: "Texts", Table: "goods", Properties: []sqlsource.Property{{Column: "few", Type: "Edm.String"}, {Column: "many", Type: "Edm.Decimal"}}},
			{Name: "Small", Table: "goods", Properties: []sqlsource.Property{{Column: "few", Type: "Edm.Int16"}}},
		}})
	for _, tt := range []struct{ target, want string }{
		{"goods", "[1,1,65,70000][2,0,66,null][3,null,7,9223372036854775807][4,1,null,null][5,1,65,3]"},
		{"goods?$filter=few eq 65&$select=id", "[1][5]"},
		{"goods?$filter=few gt 64 and few lt 66&$select=id", "[1][5]"},
		{"goods?$filter=few in (7,66)&$select=id", "[2][3]"},
		{"goods?$filter=many gt 4&$select=id", "[1][3]"},
		{"goods?$filter=many eq null&$select=id", "[2][4]"},
		{"goods?$filter=one eq true&$select=id", "[1][4][5]"},
		{"goods?$filter=not one&$select=id", "[2]"},
		{"goods?$orderby=few desc,id&$select=id", "[2][1][5][3][4]"},
		{"goods?$orderby=many,id&$select=id", "[2][4][5][1][3]"},
		{"goods?$apply=groupby((few),aggregate($count as n))/orderby(few)", "[null,1][7,1][65,2][66,1]"},
		{"goods?$apply=groupby((many))/orderby(many)", "[null][3][70000][9223372036854775807]"},
		{"goods?$apply=groupby((one),aggregate($count as n))/orderby(one)", "[null,1][0,1][1,3]"},
		{"goods?$apply=aggregate(few with max as a,few with min as b,few with sum as c,few with countdistinct as d,many with max as e,few with average as f)", "[66,7,203,3,9223372036854775807,50.75]"},
		{"goods?$select=id,z&$compute=few add 1 as z&$filter=id lt 3", "[1,66][2,67]"},
		{"goods?$select=id,z&$compute=cast(few,Edm.String) as z&$filter=id lt 3", "[1,65][2,66]"},
		{"Texts?$select=id,few&$filter=few eq '65'", "[1,65][5,65]"},
		{"Texts?$apply=aggregate(many with max as a)", "[18446744073709551615]"},
		{"Small?$select=id,few&$filter=few ge 65", "[1,65][2,66][5,65]"},
	} {
		if got := s.get(tt.target); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.target, got, tt.want)
		}
	}
}

// TestOneValueOfZeroDates holds that dates and times that are none are null everywhere on MariaDB.
func TestOneValueOfZeroDates(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "mysql", `SET sql_mode = '';
CREATE TABLE goods (id INT PRIMARY KEY, day DATE, at DATETIME, opens TIME, due DATE, INDEX (day));
INSERT INTO goods VALUES (1, '2024-01-02', '2024-01-02 10:00:00', '10:00', '2024-01-02'), (2, '0000-00-00', '0000-00-00', '26:00', '2024-00-00'), (3, '2024-01-01', '2024-01-01 10:00:00', '09:00', '2024-01-01'),
(4, NULL, NULL, '-01:00', NULL)`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	for _, tt := range []struct{ target, want string }{
		{"goods", "[1,2024-01-02,2024-01-02T10:00:00Z,10:00:00,2024-01-02][2,null,null,null,null][3,2024-01-01,2024-01-01T10:00:00Z,09:00:00,2024-01-01][4,null,null,null,null]"},
		{"goods?$filter=day lt 2024-01-02&$select=id", "[3]"},
		{"goods?$filter=day eq null&$select=id", "[2][4]"},
		{"goods?$filter=2024-01-01 le day&$select=id", "[1][3]"},
		{"goods?$filter=due gt 2023-12-01&$select=id", "[1][3]"},
		{"goods?$filter=at le 2024-01-01T12:00:00Z&$select=id", "[3]"},
		{"goods?$filter=not (at le 2024-01-01T12:00:00Z)&$select=id", "[1][2][4]"},
		{"goods?$filter=opens gt 09:30:00&$select=id", "[1]"},
		{"goods?$filter=opens lt 09:30:00&$select=id", "[3]"},
		{"goods?$filter=opens eq null&$select=id", "[2][4]"},
		{"goods?$orderby=day,id desc&$select=id", "[4][2][3][1]"},
		{"goods?$orderby=at desc,id&$select=id", "[1][3][2][4]"},
		{"goods?$orderby=opens,id&$select=id", "[2][4][3][1]"},
		{"goods?$apply=groupby((day),aggregate($count as n))/orderby(day)", "[null,2][2024-01-01,1][2024-01-02,1]"},
		{"goods?$apply=aggregate(due with min as a,opens with max as b,at with countdistinct as c)", "[2024-01-01,10:00:00,2]"},
	} {
		if got := s.get(tt.target); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.target, got, tt.want)
		}
	}
}

// TestProofsOfWhatIsRankedBy holds that the order of a transformation is among the columns that are looked at anew when data have
// changed, although no column of the answer has its values.
func TestProofsOfWhatIsRankedBy(t *testing.T) {
	t.Parallel()
	db := database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, price DECIMAL(10,2), stock INTEGER);
INSERT INTO goods VALUES (1, 9.5, 3), (2, 1.5, 5)`)
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"goods"}})
	check(t, s, [][2]string{{"goods?$orderby=price&$select=id", "[2][1]"}, {"goods?$orderby=stock&$select=id", "[1][2]"}})
	other := sqlx.MustOpen("sqlite", db.DSN)
	t.Cleanup(func() { _ = other.Close() })
	other.MustExec("INSERT INTO goods VALUES (3, '', 7)")
	check(t, s, [][2]string{
		{"goods?$apply=filter(stock gt 0)/topcount(1,price)&$select=id", "[1]"},
		{"goods?$apply=filter(stock gt 0)/bottomcount(1,price)&$select=id", "[3]"},
	})
}
