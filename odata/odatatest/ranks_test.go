package odatatest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRanksAreCharged holds on all databases that transformations that pass over all rows count for each pass, that they
// count as one where few rows are left, and that the refusal says what to ask instead.
func TestRanksAreCharged(t *testing.T) {
	t.Parallel()
	all := enginesOf(t, salesTables(), salesMapping())
	again := func(step string, n int) string {
		return "Sales?$apply=" + strings.TrimSuffix(strings.Repeat(step+"/", n), "/")
	}
	for _, c := range []struct {
		name, target string
		refused      bool
	}{
		{"one", again("toppercent(90,Amount)", 1), false},
		{"two", again("topsum(20,Amount)", 2), false},
		{"three", again("bottompercent(90,Amount)", 3), true},
		{"three of many rows", again("topcount(1000000,Amount)", 3), true},
		{"fourteen of many rows", again("bottomcount(1000000,Amount)", 14), true},
		{"fourteen of few rows", again("topcount(5,Amount)", 14), false},
		{"behind few rows", "Sales?$apply=topcount(5,Amount)/toppercent(90,Amount)/topsum(9,Amount)/bottompercent(90,Amount)", false},
		{"behind one row", "Sales?$apply=aggregate(Amount with sum as s)/toppercent(90,s)/topsum(9,s)/bottompercent(90,s)", false},
		{"in sequences of concat", "Sales?$apply=concat(topcount(2,Amount),bottomcount(2,Amount),topcount(2,ID),bottomcount(2,ID))", false},
		{"many rows in sequences of concat", "Sales?$apply=concat(toppercent(9,Amount),bottompercent(9,Amount),topsum(9,ID))", true},
		{"behind concat", "Sales?$apply=concat(identity,identity)/topsum(9,Amount)/topsum(9,Amount)", true},
		{"of $these", again("filter(Amount gt $these/aggregate(Amount with min))", 8), true},
		{"a page of groups", "Sales?$apply=filter(Amount gt 0)/groupby((Customer/ID,Product/ID),aggregate(Amount with sum as s))" +
			"/concat(aggregate($count as n,s with sum as all),groupby((Product/ID),aggregate(s with sum as t))/orderby(Product/ID)/concat(aggregate($count as m),skip(1)/top(2)))", false},
	} {
		for _, e := range all {
			t.Run(c.name+" "+e.name, func(t *testing.T) {
				r := httptest.NewRequest(http.MethodGet, "http://h/", nil)
				r.RequestURI = "/" + strings.ReplaceAll(c.target, " ", "%20")
				w := httptest.NewRecorder()
				e.service.ServeHTTP(w, r)
				said := strings.Contains(w.Body.String(), "odata.limits.apply_steps is 20") && strings.Contains(w.Body.String(), "keep at most 10000 rows first")
				if c.refused != (w.Code == http.StatusBadRequest && said) || !c.refused && w.Code != http.StatusOK {
					t.Errorf("%d %.300s, refused: want %t", w.Code, w.Body, c.refused)
				}
			})
		}
	}
}
