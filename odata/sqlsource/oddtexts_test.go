package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestTextsThatAreNumbers holds that a text is the one that is shown where SQLite stores a number for it: a column whose
// declared type means numbers to SQLite, and one of numbers that is exposed as text.
func TestTextsThatAreNumbers(t *testing.T) {
	t.Parallel()
	s := open(t, database(t, "sqlite", `CREATE TABLE goods (id INTEGER PRIMARY KEY, label STRING, any, n INTEGER);
CREATE INDEX by_label ON goods (label);
INSERT INTO goods VALUES (1, '10', 10, 10), (2, '9', '9', 9), (3, '007', x'3037', 8), (4, '1abc', 1.5, 7), (5, NULL, NULL, NULL), (6, 1e20, 'a', 100)`),
		sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
			{Name: "goods"},
			{Name: "numbers", Table: "goods", Properties: []sqlsource.Property{{Column: "n", Type: "Edm.String"}}},
			{Name: "keys", Table: "goods", Properties: []sqlsource.Property{{Column: "id", Type: "Edm.String"}}},
		}})
	check(t, s, [][2]string{
		{"goods?$select=id,label,any", "[1,10,10][2,9,9][3,7,07][4,1abc,1.5][5,null,null][6,1e+20,a]"},
		{"goods?$select=label&$orderby=label", "[null][10][1abc][1e+20][7][9]"},
		{"goods?$select=any&$orderby=any desc", "[a][9][10][1.5][07][null]"},
		{"goods?$select=id&$filter=label eq '7'", "[3]"},
		{"goods?$select=id&$filter=label eq '007'", ""},
		{"goods?$select=id&$filter=label eq '10'", "[1]"},
		{"goods?$select=id&$filter=label eq '1e+20'", "[6]"},
		{"goods?$select=id&$filter=label lt '5'", "[1][4][6]"},
		{"goods?$select=id&$filter=label ge '1abc'", "[2][3][4][6]"},
		{"goods?$select=id&$filter=startswith(label,'1')", "[1][4][6]"},
		{"goods?$select=id&$filter=label in ('7','9')", "[2][3]"},
		{"goods?$select=id&$filter=length(label) eq 1", "[2][3]"},
		{"goods?$select=id&$filter=any eq '10' or any eq '07'", "[1][3]"},
		{"goods?$select=id&$filter=startswith(any,'1')", "[1][4]"},
		{"goods?$apply=aggregate(label with max as a,any with min as b,label with countdistinct as c)", "[9,07,5]"},
		{"numbers?$select=n&$orderby=n desc", "[9][8][7][100][10][null]"},
		{"numbers?$select=id&$filter=n gt '5'", "[2][3][4]"},
		{"numbers?$select=id&$filter=n eq '9.0'", ""},
		{"numbers?$select=n&$filter=startswith(n,'1')", "[10][100]"},
		{"numbers?$apply=groupby((n))/orderby(n)", "[null][10][100][7][8][9]"},
		{"keys('3')?$select=label", "[7]"},
		{"keys?$select=id&$filter=id gt '3'", "[4][5][6]"},
	})
}
