package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestNamesThatAreNoIdentifiers holds that tables and columns may be named as they like.
func TestNamesThatAreNoIdentifiers(t *testing.T) {
	script := `CREATE TABLE "a$1 b" ("the id" {BIG} PRIMARY KEY, "price$2" {DEC}, "it's" {STR}, "?" {STR}, "group" {STR}, "Größe" {BIG}, "1st" {BIG});
CREATE TABLE "select" ("id" {BIG} PRIMARY KEY, "a$1" {BIG} NOT NULL, FOREIGN KEY ("a$1") REFERENCES "a$1 b" ("the id"));
INSERT INTO "a$1 b" VALUES (1, 9.50, 'x', 'y', 'z', 7, 8);
INSERT INTO "select" VALUES (5, 1)`
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := open(t, database(t, d, ddlOf(d, script)), sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"*"}})
			check(t, s, [][2]string{
				{"a_1_b", "[1,9.50,x,y,z,7,8]"},
				{"a_1_b(1)/price_2", "[9.50]"},
				{"a_1_b?$filter=price_2 mul 2 eq 19 and it_s eq 'x' and _ eq 'y' and group ne 'y' and Größe eq 7&$select=_1st&$orderby=it_s,price_2", "[8]"},
				{"select?$expand=a_1_a_1_b", "[5,1 {[1,9.50,x,y,z,7,8]}]"},
				{"a_1_b?$select=_1st&$expand=select($filter=a_1_a_1_b/price_2 gt 1)", "[8 {[5,1]}]"},
			})
		})
	}
}

// TestOwnNamesComeFirst holds that a column and a table whose own name is an identifier keep it, whatever others become.
func TestOwnNamesComeFirst(t *testing.T) {
	const script = `CREATE TABLE "t-x" (id {BIG} PRIMARY KEY, "p_a.b" {BIG}, "p_a-b" {BIG}, "p_a_b" {BIG});
CREATE TABLE "t.x" (id {BIG} PRIMARY KEY);
CREATE TABLE "t_x" (id {BIG} PRIMARY KEY, "a.b" {BIG}, "a-b" {BIG}, "a_b" {BIG}, "c d" {BIG}, "c_d" {BIG});
INSERT INTO "t-x" VALUES (1, 2, 3, 4);
INSERT INTO "t_x" VALUES (1, 2, 3, 4, 5, 6)`
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, d, ddlOf(d, script)), sqlsource.Config{
				Guard: edm.GuardNone, Discover: []string{"*"},
				EntitySets: []sqlsource.EntitySet{{Name: "Whole", Table: "t-x", Complexes: []sqlsource.Complex{{Type: "P", Prefix: "p_"}}}},
			})
			check(t, s, [][2]string{
				{"t_x?$select=a_b", "[4]"},
				{"t_x?$select=a_b_,a_b__", "[2,3]"},
				{"t_x?$select=c_d", "[6]"},
				{"t_x?$select=c_d_", "[5]"},
				{"t_x?$filter=a_b eq 4 and a_b_ eq 2&$select=id", "[1]"},
				{"Whole?$select=P/a_b", "[(4)]"},
				{"Whole?$select=P", "[(2,3,4)]"},
				{"t_x_2?$select=id", ""},
			})
			if table := s.Model().Set("t_x").Type; table.Property("a_b") == nil || len(table.Properties) != 6 || table.Properties[1].Name != "a_b_" {
				t.Error("the properties are not in the order of the columns")
			}
		})
	}
}
