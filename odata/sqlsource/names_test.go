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
