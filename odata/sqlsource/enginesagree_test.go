package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestExpandedAlike holds that databases agree on expanded properties with totals, pages and further levels, over composite
// keys of which a part may be null, and on values at the ends of their types.
func TestExpandedAlike(t *testing.T) {
	t.Parallel()
	const script = `CREATE TABLE owners (a {BIG} NOT NULL, b {STR} NOT NULL, n {DEC}, PRIMARY KEY (a, b));
CREATE TABLE items (id {BIG} PRIMARY KEY, a {BIG}, b {STR}, price {DEC}, weight {DBL}, at {TS}, day {DATE}, uid {UUID}, active {BOOL}, FOREIGN KEY (a, b) REFERENCES owners (a, b));
CREATE TABLE parts (id {BIG} PRIMARY KEY, item {BIG} REFERENCES items (id), q {INT});
INSERT INTO owners VALUES (1, 'x', 1.50), (1, 'y', NULL), (2, 'x', -0.05), (3, 'z', 0);
INSERT INTO items VALUES (1, 1, 'x', 10.50, 0.1, '2024-01-15 10:30:00{Z}', '2024-01-15', '0a0b0c0d-0000-0000-0000-000000000001', {T}), (2, 1, 'x', NULL, NULL, NULL, NULL, NULL, {F}), (3, 1, 'y', 0.00, 1e300, '9999-12-31 23:59:59{Z}', '9999-12-31', 'FFFFFFFF-0000-0000-0000-000000000001', {T}),
 (4, NULL, 'x', 1, 1, NULL, NULL, NULL, {T}), (5, 1, NULL, 2, 2, NULL, NULL, NULL, {F}), (6, 1, 'x', 3, 3, NULL, NULL, NULL, {T}), (7, 2, 'x', 4, 4, NULL, NULL, NULL, {T}), (8, 1, 'x', 3, 3, NULL, NULL, NULL, {T});
INSERT INTO parts VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 2, 4), (5, 6, 5), (6, NULL, 6), (7, 7, 7), (8, 8, 8), (9, 1, NULL);
`
	cfg := sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"owners", "items", "parts"}}
	targets := []string{
		"owners?$expand=items", "owners?$expand=items($count=true;$top=1)", "owners?$expand=items($count=true;$skip=1;$orderby=price desc,id)",
		"owners?$expand=items($count=true;$top=0)", "owners?$expand=items/$count", "owners?$expand=items($expand=parts($count=true;$top=1;$orderby=q desc);$top=2;$count=true)",
		"owners?$expand=items($filter=active;$count=true)", "items?$expand=a_b_owners&$orderby=id", "items?$expand=a_b_owners($expand=items($top=1;$count=true;$skip=1))",
		"owners?$expand=items($skip=5;$count=true)", "owners?$expand=items/$ref", "owners(a=1,b='x')/items?$expand=parts($count=true;$skip=2)&$count=true&$top=2",
		"owners?$expand=items($filter=parts/any(p:p/q gt 1);$orderby=price,id desc;$top=2;$count=true)&$top=2&$skip=1&$count=true",
		"owners?$expand=items($filter=price eq null;$count=true)", "items?$expand=parts($count=true;$filter=q ne null;$orderby=q desc;$top=1)&$orderby=weight desc,id", "owners?$expand=items/$count($filter=active)",
		"items?$filter=a_b_owners/n eq 1.5&$expand=parts/$count", "items?$filter=uid eq FFFFFFFF-0000-0000-0000-000000000001", "items?$select=id,uid,at,day,price,weight&$orderby=uid,id",
		"items?$filter=at gt 2024-01-15T10:29:59Z and price ge 0", "items?$filter=weight in (1,2,1e300)&$orderby=weight desc", "items?$filter=price in (3,10.5,null)&$orderby=id",
	}
	want := map[string]string{}
	for _, d := range dialects() {
		s := open(t, database(t, d, ddlOf(d, script)), cfg)
		for _, target := range targets {
			got := s.get(target)
			if want[target] == "" {
				want[target] = got
			}
			if got != want[target] || got[0] != '[' {
				t.Errorf("%s on %s\n got %s\nwant %s", target, d, got, want[target])
			}
		}
	}
}
