package odatatest_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// multiplied is the example data with a set whose columns are all to be grouped by, and one with many texts to search.
func multiplied() ([]odatatest.Table, sqlsource.Config) {
	wide := odatatest.Table{Name: "wide", Columns: []string{"ID big!"}, Key: []string{"ID"}, Rows: [][]any{{1}}}
	set := sqlsource.EntitySet{Name: "Wide", Table: "wide", Navigations: []sqlsource.Navigation{{Name: "Same", To: "Wide", Many: true, On: map[string]string{"ID": "ID"}}}}
	for i := range 40 {
		name := "t" + strconv.Itoa(i)
		wide.Columns = append(wide.Columns, name+" str")
		wide.Rows[0] = append(wide.Rows[0], "a")
		set.Search = append(set.Search, name)
	}
	mapping := salesMapping()
	mapping.EntitySets = append(mapping.EntitySets, set, sqlsource.EntitySet{Name: "Rows", Table: "sales"})
	return append(salesTables(), wide), mapping
}

// TestApplyMultiplies holds on all databases that what transformations copy is bounded before there is SQL, and that
// what is within the bounds works.
func TestApplyMultiplies(t *testing.T) {
	t.Parallel()
	tables, mapping := multiplied()
	all := enginesOf(t, tables, mapping)
	list := func(sep, form string, n int) string {
		var items []string
		for i := range n {
			items = append(items, strings.ReplaceAll(form, "#", strconv.Itoa(i)))
		}
		return strings.Join(items, sep)
	}
	again := func(step string, n int) string { return strings.TrimSuffix(strings.Repeat(step+"/", n), "/") }
	const rollup = "groupby((rollup(CustomerID,ProductID)))"
	big := func(n int) string { return "filter(" + list(" or ", "Amount eq #", n) + ")/" }
	long := "concat(Name,Name)"
	for range 4 {
		long = "concat(" + long + "," + long + ")"
	}
	twice := strings.ReplaceAll(long, "Name", "k0")
	for _, c := range []struct{ name, target, refused string }{
		{"copies of a big filter", "Rows?$apply=" + big(240) + again(rollup, 6), "more than 30000 parts"},
		{"copies of a small filter", "Rows?$apply=" + big(9) + again(rollup, 6), ""},
		{"a filter for each aggregate", "Rows?$apply=groupby((ProductID)," + big(110) + "aggregate(" + list(",", "$count as c#", 400) + "))", ""},
		{"more counts", "Rows?$apply=aggregate(" + list(",", "$count as c#", 1001) + ")", "filter_nodes is 1000"},
		{"words in many texts", "Products?$apply=groupby((Name))/compute(" + list(",", "concat(Name,'0') as t#", 150) + ")/search(" + list(" OR ", "z#", 300) + ")", "each word of $search"},
		{"fewer words in many texts", "Products?$apply=groupby((Name))/compute(" + list(",", "concat(Name,'0') as t#", 150) + ")/search(" + list(" OR ", "z#", 30) + ")", "filter_nodes is 1000"},
		{"many words in a text", "Products?$apply=groupby((Name))/search(" + list(" OR ", "z#", 20) + ")", ""},
		{"more words in a text", "Products?$apply=groupby((Name))/search(" + list(" OR ", "z#", 21) + ")", "each word of $search"},
		{"words in copies", "Wide?$apply=search(" + list(" OR ", "z#", 20) + ")/" + again("groupby((rollup(t0,t1)))", 6), "more than 30000 parts"},
		{"words in columns", "Wide?$search=" + list(" OR ", "z#", 300), "each word of $search"},
		{"words in columns of children", "Wide?$expand=Same($search=" + list(" OR ", "z#", 300) + ")", "each word of $search"},
		{"words one after the other", "Wide?$apply=search(" + list(")/search(", "z# y#", 5) + ")&$search=" + list(" ", "x#", 12), "each word of $search"},
		{"words of counts", "Wide?$filter=Same/$count($search=" + list(" OR ", "z#", 12) + ") gt 0 and Same/$count($search=" + list(" OR ", "z#", 12) + ") gt 0", "each word of $search"},
		{"fewer words in columns", "Wide?$search=" + list(" OR ", "z#", 20), ""},
		{"text that grows", "Products?$apply=compute(" + long + " as k0)", ""},
		{"and grows behind groupby", "Products?$apply=compute(" + long + " as k0)/groupby((k0))/compute(" + twice + " as k1)", "put together from 1024 texts"},
		{"behind top", "Products?$apply=compute(" + long + " as k0)/top(9)/compute(" + twice + " as k1)", "put together from 1024 texts"},
		{"behind concat", "Products?$apply=compute(" + long + " as k0)/concat(identity,identity)/compute(" + twice + " as k1)", "put together from 1024 texts"},
		{"behind max", "Products?$apply=compute(" + long + " as k)/aggregate(k with max as k0)/compute(" + twice + " as k1)", "put together from 1024 texts"},
		{"behind $these", "Products?$apply=compute(" + long + " as k0)/filter($these/$count gt 0)/compute(" + twice + " as k1)", "put together from 1024 texts"},
	} {
		for _, e := range all {
			t.Run(c.name+" "+e.name, func(t *testing.T) {
				want := http.StatusOK
				if c.refused != "" && (e.name != "memory" || !strings.Contains(c.refused, "parameters")) {
					want = http.StatusBadRequest
				}
				r := httptest.NewRequest(http.MethodGet, "http://h/", nil)
				r.RequestURI = "/" + strings.ReplaceAll(c.target, " ", "%20")
				w := httptest.NewRecorder()
				e.service.ServeHTTP(w, r)
				if w.Code != want || want != http.StatusOK && !strings.Contains(w.Body.String(), c.refused) {
					t.Errorf("%d %.300s, want %d %s", w.Code, w.Body, want, c.refused)
				}
			})
		}
	}
}
