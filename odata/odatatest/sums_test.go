package odatatest_test

import (
	"math"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestFourEnginesAverageAlike makes averages of decimals whose sums are within the range that is computed with, at its
// ends, and out of it.
func TestFourEnginesAverageAlike(t *testing.T) {
	t.Parallel()
	wide, nines := "4"+strings.Repeat("0", 39), strings.Repeat("9", 35)
	table := odatatest.Table{Name: "numbers", Key: []string{"id"}, Columns: []string{"id big!", "g big", "w wide", "x deep", "p dec"}, Rows: [][]any{
		{1, int64(1), wide, nines, "1.5"},
		{2, int64(1), "-" + wide, nines, "-7"},
		{3, int64(2), wide, nines, "0"},
		{4, int64(2), wide, "1", "2.3333"},
		{5, int64(3), nines, nines + "." + strings.Repeat("9", 30), "1"},
		{6, int64(4), "-" + wide, "-" + nines + ".9", nil},
		{7, int64(5), "1", "-" + nines + "." + strings.Repeat("9", 16), "10"},
		{8, int64(6), "-" + wide, "-" + nines, "10"},
		{9, int64(6), "7", "-1", "10"},
		{10, int64(7), nil, nil, nil},
	}}
	all := enginesOf(t, []odatatest.Table{table}, sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Numbers", Table: "numbers"}},
	})
	for _, target := range []string{
		"Numbers?$apply=groupby((g),aggregate(w with average as a))",
		"Numbers?$apply=groupby((g),aggregate(x with average as a))",
		"Numbers?$apply=groupby((g),aggregate(w with average as a))/filter(a eq null)",
		"Numbers?$apply=groupby((g),aggregate(x with average as a,w with sum as b))/compute(a add 1 as c)",
		"Numbers?$apply=concat(aggregate(w with average as a),aggregate(x with average as a))",
		"Numbers?$apply=aggregate(p with average as a,x with average as b)",
		"Numbers?$apply=groupby((g),aggregate(p with average as a))/aggregate(a with average as a)",
	} {
		want := all[0].ask(target)
		if want[0] != '2' {
			t.Errorf("GET %s is %s", target, want)
		}
		for _, e := range all[1:] {
			if got := e.ask(target); got != want {
				t.Errorf("GET %s\n  memory %s\n%8s %s", target, want, e.name, got)
			}
		}
	}
}

// TestSumsBeyondTheRange holds what docs/odata-reference.md says of sums that a database cannot hold, and of doubles out of range.
func TestSumsBeyondTheRange(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("9", 65)
	table := odatatest.Table{Name: "numbers", Key: []string{"id"}, Columns: []string{"id big!", "w wide", "v fine", "f dbl", "h dbl"}, Rows: [][]any{
		{1, whole, "1", 1e308, 1e300}, {2, "1", "2", 1e308, 1e300}, {3, nil, nil, nil, 0.0}, {4, nil, nil, nil, -1.0}, {5, nil, nil, math.MaxFloat64, nil},
	}}
	all := enginesOf(t, []odatatest.Table{table}, sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Numbers", Table: "numbers"}},
	})
	for _, c := range []struct {
		sequence, want string
		// others are the databases that do otherwise.
		others map[string]string
	}{
		{"aggregate(w with sum as a)", `[{"a":1` + strings.Repeat("0", 65) + `}]`, map[string]string{"mysql": "400"}},
		{"groupby((id),aggregate(w with sum as a))/aggregate(a with sum as a)", `[{"a":1` + strings.Repeat("0", 65) + `}]`, map[string]string{"mysql": "400"}},
		{"filter(id eq 2)/aggregate(w with sum as a)", `[{"a":1}]`, nil},
		{"filter(id eq 1)/aggregate(w with max as a)", `[{"a":` + whole + `}]`, nil},
		{"concat(aggregate(w with max as a),aggregate(v with sum as a))", `[{"a":` + whole + `},{"a":3}]`, map[string]string{"mysql": "400"}},
		{"concat(aggregate(w with min as a),aggregate(v with sum as a))", `[{"a":1},{"a":3}]`, nil},
		{"aggregate(f with sum as a)", `[{"a":null}]`, nil},
		{"aggregate(f with average as a)", `[{"a":null}]`, nil},
		{"filter(id eq 1)/aggregate(f with sum as a,f with average as b)", `[{"a":1e+308,"b":1e+308}]`, nil},
		{"groupby((id),aggregate(f with sum as b))/aggregate(b with sum as a)", `[{"a":null}]`, nil},
		{"compute(2e0 as z)/groupby((z),aggregate(f with sum as a,f with average as b))", `[{"z":2,"a":null,"b":null}]`, nil},
		{"filter(id eq 5)/compute(2e0 as z)/groupby((z),aggregate(f with sum as a))", `[{"z":2,"a":1.7976931348623157e+308}]`, nil},
		{"filter(id lt 3)/aggregate(h mul h with sum as a)", `[{"a":null}]`, nil},
		{"filter(id eq 1 or id eq 4)/aggregate(h mul 1e300 with average as a)", `[{"a":-1e+300}]`, nil},
		{"filter(id eq 1 or id eq 4)/aggregate(h div 0 with sum as a)", `[{"a":null}]`, nil},
		{"filter(id ne 3)/aggregate(h with sum as a)", `[{"a":2e+300}]`, nil},
		{"filter(h lt 1e300)/aggregate(h div 2 with sum as a)", `[{"a":-0.5}]`, nil},
	} {
		for _, e := range all {
			want, ok := c.others[e.name]
			if !ok {
				want = c.want
			}
			got := strings.ReplaceAll(e.ask("Numbers?$apply="+c.sequence), `"a@odata.type":"#Decimal",`, "")
			if got != want && !strings.HasSuffix(got, `"value":`+want+"}") {
				t.Errorf("%s: %s is %s, want %s", e.name, c.sequence, got, want)
			}
		}
	}
}
