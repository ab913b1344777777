package sqlsource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// What a column declares of its fractions of a second, and that the database
// computes it, stands in the model; so do comments, and descriptions in their place.
func TestDeclaredTypes(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"sqlite": `CREATE TABLE things (id INTEGER PRIMARY KEY, plain DATETIME, clock TIME, retyped BIGINT, twice INTEGER GENERATED ALWAYS AS (id * 2) STORED)`,
		"postgres": `CREATE TABLE things (id bigint PRIMARY KEY, plain timestamp, none timestamp(0), three timestamptz(3), clock time(0), span interval, spans interval(2),
	retyped bigint, twice bigint GENERATED ALWAYS AS (id * 2) STORED, counted bigint GENERATED ALWAYS AS IDENTITY);
COMMENT ON TABLE things IS 'From the database';
COMMENT ON COLUMN things.plain IS 'When'`,
		"mysql": `CREATE TABLE things (id BIGINT PRIMARY KEY, plain DATETIME(6) COMMENT 'When', none DATETIME, three TIMESTAMP(3) NULL, clock TIME, retyped BIGINT,
	twice BIGINT GENERATED ALWAYS AS (id * 2) STORED, later BIGINT AS (id * 3) VIRTUAL) COMMENT 'From the database'`,
	}
	wants := map[string]map[string]int{
		"sqlite":   {"plain": 6, "clock": 6, "retyped": 6},
		"postgres": {"plain": 6, "none": 0, "three": 3, "clock": 0, "span": 6, "spans": 2, "retyped": 6},
		"mysql":    {"plain": 6, "none": 0, "three": 3, "clock": 0, "retyped": 6},
	}
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, dialect, scripts[dialect]), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Things", Table: "things", Properties: []sqlsource.Property{{Column: "retyped", Type: "Edm.DateTimeOffset", Description: "Said"}}},
				{Name: "Others", Table: "things", Description: "Other things", Hide: []string{"retyped"}},
			}})
			things := s.Model().Set("Things")
			got := map[string]int{}
			for _, p := range things.Type.Properties {
				switch p.Type.Kind {
				case edm.DateTimeOffset, edm.TimeOfDay, edm.Duration:
					got[p.Name] = p.Type.Precision
				default:
					if computed := p.Name != "id" && p.Name != "retyped"; p.Computed != computed {
						t.Errorf("%s: computed is %v", p.Name, p.Computed)
					}
				}
			}
			if diff := cmp.Diff(wants[dialect], got); diff != "" {
				t.Error(diff)
			}
			comment, column := "From the database", "When"
			if dialect == "sqlite" { // which has no comments
				comment, column = "", ""
			}
			texts := []string{things.Description, things.Type.Property("plain").Description, things.Type.Property("retyped").Description, s.Model().Set("Others").Description}
			if diff := cmp.Diff([]string{comment, column, "Said", "Other things"}, texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Counted keys of MariaDB are often unsigned. They, and what refers to them, are
// integers as on other databases; other unsigned columns may be larger.
func TestUnsignedKeys(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "mysql", `CREATE TABLE parents (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9), size BIGINT UNSIGNED, price DECIMAL(20, 12) UNSIGNED);
CREATE TABLE children (id BIGINT UNSIGNED PRIMARY KEY, parent_id BIGINT UNSIGNED, FOREIGN KEY (parent_id) REFERENCES parents (id));
INSERT INTO parents VALUES (1, 'one', 18446744073709551615, 0.000000000001), (2, 'two', 7, 2.5);
INSERT INTO children VALUES (5, 2), (6, NULL), (9223372036854775807, 1)`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
	types := map[string]string{}
	for _, set := range s.Model().Sets {
		for _, p := range set.Type.Properties {
			types[set.Name+"."+p.Name] = p.Type.Kind.String()
		}
	}
	want := map[string]string{
		"parents.id": "Int64", "parents.name": "String", "parents.size": "Decimal", "parents.price": "Decimal", "children.id": "Int64", "children.parent_id": "Int64",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	for target, want := range map[string]string{
		"parents(2)/name":                                      "[two]",
		"parents(2L)/name":                                     "[two]",
		"parents(1)/size":                                      "[18446744073709551615]",
		"children(9223372036854775807)/id":                     "[9223372036854775807]",
		"children?$filter=id sub 10 lt 0":                      "[5,2][6,null]",
		"children?$filter=parent_id sub 2 eq -1":               "[9223372036854775807,1]",
		"children?$filter=-id lt -5":                           "[6,null][9223372036854775807,1]",
		"children?$filter=id eq -1":                            "",
		"children?$filter=parent/name eq 'two'":                "[5,2]",
		"children?$orderby=parent_id desc":                     "[5,2][9223372036854775807,1][6,null]",
		"parents?$filter=size gt 7&$select=name":               "[one]",
		"parents?$filter=price sub 3 lt -1&$select=name":       "[one]",
		"parents?$filter=size sub 8 eq -1&$select=name":        "[two]",
		"parents?$filter=price eq 0.000000000001&$select=name": "[one]",
		"parents?$apply=aggregate(size with max as a,size with min as b,size with sum as c)":                 "[18446744073709551615,7,18446744073709551622]",
		"parents?$apply=aggregate(price with min as a,price with sum as b)":                                  "[0.000000000001,2.500000000001]",
		"parents?$apply=groupby((size),aggregate(size mul price with max as a))&$orderby=a":                  "[7,17.5][18446744073709551615,18446744.073709551615]",
		"children?$apply=aggregate(id with max as a,parent_id with sum as b)":                                "[9223372036854775807,3]",
		"parents?$apply=concat(aggregate(size with max as a),filter(id eq 2)/aggregate(size with max as a))": "[18446744073709551615][7]",
	} {
		if got := s.get(target); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

// A key of MariaDB that is unsigned, as those of many frameworks are, finds and orders
// rows by its index.
func TestUnsignedKeysUseTheirIndex(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "mysql", `CREATE TABLE parents (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, place INT UNSIGNED NOT NULL, note VARCHAR(200), KEY (place));
INSERT INTO parents (place, note) SELECT seq * 7, REPEAT('x', 200) FROM seq_1_to_5000;
ANALYZE TABLE parents`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
	for _, target := range []string{
		"parents(7)", "parents?$top=5", "parents?$orderby=id desc&$top=5", "parents?$filter=id gt 4990", "parents?$filter=id in (1,2)",
		"parents?$filter=place eq 70", "parents?$orderby=place&$top=5", "parents?$filter=id eq -1",
	} {
		for _, st := range s.explain(t, target).Statements {
			plan := strings.Join(st.QueryPlan, "\n")
			if strings.Contains(plan, "filesort") || strings.Contains(plan, "ALL") {
				t.Errorf("%s reads the whole table: %s\n%s", target, st.SQL, plan)
			}
		}
	}
}

// TestUnsignedKeysBeyondInt64 holds that a key of MariaDB that no signed integer holds, and what refers to it, is Edm.Decimal:
// its rows are found, ordered, paged and followed, by the index.
func TestUnsignedKeysBeyondInt64(t *testing.T) {
	t.Parallel()
	for name, parameters := range map[string]string{"as a host opens it": "&interpolateParams=true&parseTime=true", "by prepared statements": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, databaseWith(t, "mysql", parameters, `CREATE TABLE parents (id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(9));
CREATE TABLE children (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, parent_id BIGINT UNSIGNED, FOREIGN KEY (parent_id) REFERENCES parents (id));
CREATE TABLE grandchildren (id BIGINT UNSIGNED PRIMARY KEY, FOREIGN KEY (id) REFERENCES parents (id));
CREATE TABLE few (id BIGINT UNSIGNED PRIMARY KEY);
CREATE TABLE parts (tenant BIGINT UNSIGNED, hash BIGINT UNSIGNED, PRIMARY KEY (tenant, hash));
INSERT INTO parts VALUES (1, 7), (1, 18446744073709551615);
INSERT INTO parents VALUES (1, 'one'), (9223372036854775807, 'largest'), (9223372036854775808, 'beyond'), (18446744073709551614, 'nearly'), (18446744073709551615, 'all');
INSERT INTO children (parent_id) VALUES (18446744073709551615), (18446744073709551614), (1), (9223372036854775808), (9223372036854775807), (18446744073709551615);
INSERT INTO few VALUES (7)`), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
			types := map[string]string{}
			for _, set := range s.Model().Sets {
				for _, p := range set.Type.Properties {
					types[set.Name+"."+p.Name] = p.Type.Kind.String()
				}
			}
			want := map[string]string{
				"parents.id": "Decimal", "parents.name": "String", "children.id": "Int64", "children.parent_id": "Decimal", "grandchildren.id": "Decimal", "few.id": "Int64",
				"parts.tenant": "Int64", "parts.hash": "Decimal",
			}
			if diff := cmp.Diff(want, types); diff != "" {
				t.Error(diff)
			}
			check(t, s, [][2]string{
				{"parents", "[1,one][9223372036854775807,largest][9223372036854775808,beyond][18446744073709551614,nearly][18446744073709551615,all]"},
				{"parents?$orderby=id desc&$top=2", "[18446744073709551615,all][18446744073709551614,nearly]"},
				{"parents(18446744073709551615)/name", "[all]"},
				{"parents(18446744073709551614)/name", "[nearly]"},
				{"parents(9223372036854775808)/name", "[beyond]"},
				{"parents(1)/name", "[one]"},
				{"parents(18446744073709551616)", ""},
				{"parents/18446744073709551615/name", "[all]"},
				{"parents?$filter=id gt 9223372036854775807&$select=name", "[beyond][nearly][all]"},
				{"parents?$filter=id eq -1", ""},
				{"parts", "[1,7][1,18446744073709551615]"},
				{"parts(tenant=1,hash=18446744073709551615)", "[1,18446744073709551615]"},
				{"parents?$filter=id gt -1&$top=1&$select=name", "[one]"},
				{"parents?$filter=id in (18446744073709551615,1)&$select=name", "[one][all]"},
				{"parents?$filter=id sub 18446744073709551615 eq 0&$select=name", "[all]"},
				{"children?$expand=parent&$select=id&$orderby=id", "[1 {[18446744073709551615,all]}][2 {[18446744073709551614,nearly]}][3 {[1,one]}][4 {[9223372036854775808,beyond]}][5 {[9223372036854775807,largest]}][6 {[18446744073709551615,all]}]"},
				{"parents?$expand=children($select=id;$count=true)&$select=name", "[one {[3]#1}][largest {[5]#1}][beyond {[4]#1}][nearly {[2]#1}][all {[1][6]#2}]"},
				{"parents(18446744073709551615)/children?$select=id", "[1][6]"},
				{"children?$filter=parent/name eq 'all'&$select=id", "[1][6]"},
				{"children?$filter=parent_id eq 18446744073709551615&$select=id", "[1][6]"},
				{"children?$apply=groupby((parent_id))&$orderby=parent_id desc&$top=1", "[18446744073709551615]"},
			})
			for _, target := range []string{"parents(7)", "parents?$top=5", "parents?$orderby=id desc&$top=5", "parents?$filter=id gt 18446744073709551000&$top=1"} {
				for _, st := range s.explain(t, target).Statements {
					if plan := strings.Join(st.QueryPlan, "\n"); strings.Contains(plan, "filesort") || strings.Contains(plan, "ALL") {
						t.Errorf("%s reads the whole table: %s\n%s", target, st.SQL, plan)
					}
				}
			}
		})
	}
}
