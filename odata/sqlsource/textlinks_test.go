package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

const textLinksDDL = `
CREATE TABLE countries (code varchar(8) PRIMARY KEY, zone varchar(8));
INSERT INTO countries VALUES ('DE', 'eu'), ('FR', 'EU'), ('SE', 'eu ');
CREATE TABLE customers (id int PRIMARY KEY, code varchar(8), zone varchar(8));
INSERT INTO customers VALUES (1, 'DE', 'eu'), (2, 'de', 'EU'), (3, 'De ', 'eu '), (4, 'FR', 'Eu'), (5, 'DE', 'eu'), (6, NULL, 'eu');
CREATE TABLE tags (name varchar(8) PRIMARY KEY);
INSERT INTO tags VALUES ('a'), ('b');
CREATE TABLE country_tags (country varchar(8), tag varchar(8));
INSERT INTO country_tags VALUES ('de', 'a'), ('DE', 'A'), ('DE', 'b'), ('DE', 'b'), ('DE ', 'a'), ('FR', 'a '), ('FR', 'a')`

// TestTextLinks holds that a text links to the very same text, in every way there is, also where the database compares
// texts without regard to case and to blanks at their ends, as MariaDB does.
func TestTextLinks(t *testing.T) {
	code, zone := map[string]string{"code": "code"}, map[string]string{"zone": "zone"}
	config := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "Countries", Table: "countries", Navigations: []sqlsource.Navigation{
			{Name: "customers", To: "Customers", Many: true, On: code},
			{Name: "zoned", To: "Customers", Many: true, On: zone},
			{Name: "both", To: "Customers", Many: true, On: map[string]string{"code": "code", "zone": "zone"}},
			{Name: "tags", To: "Tags", Many: true, Via: "country_tags", FromKey: "country", ToKey: "tag"},
		}},
		{Name: "Customers", Table: "customers", Navigations: []sqlsource.Navigation{{Name: "country", To: "Countries", On: code}}},
		{Name: "Tags", Table: "tags"},
	}}
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			s := open(t, database(t, dialect, textLinksDDL), config)
			for _, test := range []struct{ target, want string }{
				{"Countries?$select=code&$expand=customers($select=id)", "[DE {[1][5]}][FR {[4]}][SE {}]"},
				{"Countries?$select=code&$expand=customers($select=id;$top=1;$count=true)", "[DE {[1]#2}][FR {[4]#1}][SE {#0}]"},
				{"Countries?$select=code&$expand=customers($select=id;$top=1;$orderby=id desc)", "[DE {[5]}][FR {[4]}][SE {}]"},
				{"Countries?$select=code&$expand=customers/$count", "[DE {#2}][FR {#1}][SE {#0}]"},
				{"Countries?$select=code&$expand=zoned($select=id;$top=2;$count=true)", "[DE {[1][5]#3}][FR {[2]#1}][SE {[3]#1}]"},
				{"Countries?$select=code&$expand=zoned/$count", "[DE {#3}][FR {#1}][SE {#1}]"},
				{"Countries?$select=code&$expand=both($select=id;$count=true)", "[DE {[1][5]#2}][FR {#0}][SE {#0}]"},
				{"Countries?$select=code&$expand=tags($count=true)", "[DE {[b]#1}][FR {[a]#1}][SE {#0}]"},
				{"Countries?$select=code&$expand=tags($top=1;$count=true;$compute=length(name) as n;$filter=n eq 1)", "[DE {[b,1]#1}][FR {[a,1]#1}][SE {#0}]"},
				{"Countries?$select=code&$expand=tags/$count", "[DE {#1}][FR {#1}][SE {#0}]"},
				{"Customers?$select=id&$expand=country($select=code)", "[1 {[DE]}][2 {}][3 {}][4 {[FR]}][5 {[DE]}][6 {}]"},
				{"Countries('DE')/customers?$select=id", "[1][5]"},
				{"Countries('DE')/customers/$count", "2"},
				{"Countries('DE')/tags", "[b]"},
				{"Customers(1)/country?$select=code", "[DE]"},
				{"Customers(2)/country?$select=code", ""},
				{"Customers?$select=id&$filter=country/code eq 'DE'", "[1][5]"},
				{"Customers?$select=id&$filter=country/code eq null", "[2][3][6]"},
				{"Customers?$select=id&$orderby=country/code desc,id", "[4][1][5][2][3][6]"},
				{"Countries?$select=code&$filter=customers/any(c:c/id eq 2)", ""},
				{"Countries?$select=code&$filter=customers/$count gt 1", "[DE]"},
				{"Countries?$select=code&$filter=zoned/all(c:c/id lt 3)", "[FR]"},
				{"Countries?$select=code&$filter=zoned/$count eq 1", "[FR][SE]"},
				{"Countries?$select=code&$orderby=zoned/$count desc,code", "[DE][FR][SE]"},
				{"Countries?$select=code&$filter=tags/any(g:g/name eq 'a')", "[FR]"},
				{"Customers?$select=id&$filter=country/customers/$count eq 2", "[1][5]"},
				{"Customers?$select=id&$filter=country/zoned/$count eq 3", "[1][5]"},
				{"Customers?$select=id&$filter=country/both/$count eq 0", "[2][3][4][6]"},
				{"Customers?$select=id&$filter=country/tags/$count eq 1", "[1][4][5]"},
				{"Customers?$select=id&$orderby=country/customers/$count desc,id desc", "[5][1][4][6][3][2]"},
				{"Customers?$apply=groupby((country/code),aggregate($count as n))&$orderby=country/code", "[(null),3][(DE),2][(FR),1]"},
			} {
				if got := s.get(test.target); got != test.want {
					t.Errorf("%s: %q, want %q", test.target, got, test.want)
				}
			}
		})
	}
}

const outerTextsDDL = `
CREATE TABLE parts (id int PRIMARY KEY, shelf int, name varchar(8));
INSERT INTO parts VALUES (1, 1, 'a'), (2, 1, 'A'), (3, 1, 'a '), (4, 1, 'a'), (5, 2, 'A');
CREATE TABLE notes (id int PRIMARY KEY, shelf int, name varchar(8));
INSERT INTO notes VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'a')`

// TestOuterTexts holds that what is asked of related rows is asked anew for each text of the row that they belong to.
// MariaDB remembers what a subquery gave, and takes 'a', 'A' and 'a ' for one text in doing so.
func TestOuterTexts(t *testing.T) {
	notes := []sqlsource.Navigation{{Name: "notes", To: "Notes", Many: true, On: map[string]string{"shelf": "shelf"}}}
	config := sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
		{Name: "Parts", Table: "parts", Navigations: notes},
		{Name: "Noted", Table: "parts", Type: "NotedPart", Navigations: notes, Filter: "notes/any(n:n/name eq name) or id eq 5"},
		{Name: "Notes", Table: "notes"},
	}}
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			s := open(t, database(t, dialect, outerTextsDDL), config)
			for _, test := range []struct{ target, want string }{
				{"Parts?$select=id&$filter=notes/any(n:n/name eq name)", "[1][4]"},
				{"Noted?$select=id", "[1][4][5]"},
				{"Parts?$select=id&$filter=not notes/any(n:n/name eq name)", "[2][3][5]"},
				{"Parts?$select=id&$filter=notes/any(n:n/name eq name) or id eq 5", "[1][4][5]"},
				{"Parts?$select=id&$filter=notes/all(n:n/name ne name)", "[2][3][5]"},
				{"Parts?$select=id&$orderby=notes/any(n:n/name eq name) desc,id", "[1][4][2][3][5]"},
				{"Parts?$select=id,y&$compute=notes/any(n:n/name eq name) as y", "[1,1][2,0][3,0][4,1][5,0]"},
			} {
				if got := s.get(test.target); got != test.want {
					t.Errorf("%s: %q, want %q", test.target, got, test.want)
				}
			}
		})
	}
}
