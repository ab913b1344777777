package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestDoublesAsSingles declares a column of doubles to hold Edm.Single. A single that is shown is the one that conditions,
// orders, groups and links to pages see: the double 0.1 is no single.
func TestDoublesAsSingles(t *testing.T) {
	t.Parallel()
	script := `CREATE TABLE sizes (id {BIG} PRIMARY KEY, size {DBL}, fixed {DBL} NOT NULL, n {INT});
INSERT INTO sizes VALUES (1, 0.1, 0.1, 1), (2, 0.10000000149011612, 0.10000000149, 16777217), (3, 0.30000000000000004, 2.5, 16777216), (4, NULL, -0.1, NULL), (5, 1e300, 1e20, 3), (6, -1e39, 0, 4), (7, 1e-50, 1, 5)`
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t, dialect, ddlOf(dialect, script)), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
				Name: "Sizes", Table: "sizes", Properties: []sqlsource.Property{
					{Column: "size", Type: "Edm.Single"}, {Column: "fixed", Type: "Edm.Single"}, {Column: "n", Type: "Edm.Single"},
				},
			}, {
				Name: "Counts", Table: "sizes", Properties: []sqlsource.Property{{Column: "n", Type: "Edm.Double"}},
			}}})
			for target, want := range map[string]string{
				"Sizes?$select=id,size":                                             "[1,0.10000000149011612][2,0.10000000149011612][3,0.30000001192092896][4,null][5,null][6,null][7,0]",
				"Sizes?$select=id&$filter=size eq 0.1":                              "[1][2]",
				"Sizes?$select=id&$filter=size in (0.1,5)":                          "[1][2]",
				"Sizes?$select=id&$filter=fixed eq 1e20":                            "[5]",
				"Sizes?$select=id&$filter=1e-1 eq size":                             "[1][2]",
				"Sizes?$select=id&$filter=fixed lt 1e300 and fixed gt 1e0":          "[3][5]",
				"Sizes?$select=id&$filter=size lt 3.0000000000000004e-1":            "[1][2][7]",
				"Sizes?$select=id&$filter=size ne 0.1":                              "[3][4][5][6][7]",
				"Sizes?$select=id&$filter=size eq null":                             "[4][5][6]",
				"Sizes?$select=id&$filter=size gt 0.1":                              "[3]",
				"Sizes?$select=id&$filter=size ge 0.1":                              "[1][2][3]",
				"Sizes?$select=id&$filter=size lt 0.1":                              "[7]",
				"Sizes?$select=id&$filter=size eq 0":                                "[7]",
				"Sizes?$select=id&$filter=fixed le 0.1":                             "[1][2][4][6]",
				"Sizes?$select=id&$filter=n eq 16777216":                            "[2][3]",
				"Sizes?$select=id&$filter=cast(size,Edm.String) eq '0.1'":           "[1][2]",
				"Sizes?$select=id&$filter=size eq fixed":                            "[1][2]",
				"Sizes?$select=id&$orderby=size desc,id desc&$top=3":                "[3][2][1]",
				"Sizes?$select=id&$orderby=fixed,id":                                "[4][6][1][2][7][3][5]",
				"Sizes?$apply=groupby((size),aggregate($count as n))&$orderby=size": "[null,3][0,1][0.10000000149011612,2][0.30000001192092896,1]",
				"Counts?$select=id&$filter=n eq 3":                                  "[5]",
				"Counts?$select=id&$filter=n gt 3":                                  "[2][3][6][7]",
				"Counts?$select=id&$filter=floor(n) le 4":                           "[1][5][6]",
				"Counts?$select=id,n&$orderby=n desc&$top=2":                        "[2,1.6777217e+07][3,1.6777216e+07]",
				"Sizes?$select=id&$filter=n lt 16777216":                            "[1][5][6][7]",
				"Sizes?$select=id&$filter=floor(size) eq 0":                         "[1][2][3][7]",
				"Sizes?$apply=aggregate(size with max as m)":                        "[0.30000001192092896]",
			} {
				if got := s.get(target); got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
			if got := s.walk(t, "Sizes?$select=id&$orderby=fixed,id", 1); got != "[4][6][1][2][7][3][5]" {
				t.Errorf("page by page: %s", got)
			}
		})
	}
}

// TestSinglesKeepTheirDigits holds that a stored single comes whole out of groups, aggregates and computations: MariaDB writes
// one with six digits.
func TestSinglesKeepTheirDigits(t *testing.T) {
	t.Parallel()
	for dialect, real := range map[string]string{"sqlite": "REAL", "postgres": "real", "mysql": "FLOAT"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			script := `CREATE TABLE sizes (id {BIG} PRIMARY KEY, size ` + real + `);
INSERT INTO sizes VALUES (1, 16777215), (2, 0.1), (3, 16777215), (4, NULL)`
			s := open(t, database(t, dialect, ddlOf(dialect, script)), sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{
				Name: "Sizes", Table: "sizes", Properties: []sqlsource.Property{{Column: "size", Type: "Edm.Single"}},
			}}})
			for target, want := range map[string]string{
				"Sizes?$apply=groupby((size),aggregate($count as n))&$orderby=size":                               "[null,1][0.10000000149011612,1][1.6777215e+07,2]",
				"Sizes?$apply=groupby((size),aggregate($count as n))&$filter=size eq 16777215":                    "[1.6777215e+07,2]",
				"Sizes?$apply=aggregate(size with max as m)":                                                      "[1.6777215e+07]",
				"Sizes?$apply=aggregate(size with min as m)":                                                      "[0.10000000149011612]",
				"Sizes?$apply=aggregate(size with sum as m)":                                                      "[3.35544301e+07]",
				"Sizes?$apply=compute(case(id eq 3:size) as c)/filter(c ne null)&$select=c":                       "[1.6777215e+07]",
				"Sizes?$compute=case(id gt 2:size) as c&$select=c&$filter=id eq 3":                                "[1.6777215e+07]",
				"Sizes?$apply=topcount(1,size)&$select=size":                                                      "[1.6777215e+07]",
				"Sizes?$apply=groupby((size))/aggregate(size with max as m)":                                      "[1.6777215e+07]",
				"Sizes?$apply=filter(size eq 16777215)/groupby((id,size))/groupby((size),aggregate($count as n))": "[1.6777215e+07,2]",
			} {
				if got := s.get(target); got != want {
					t.Errorf("%s: got %s, want %s", target, got, want)
				}
			}
		})
	}
}
