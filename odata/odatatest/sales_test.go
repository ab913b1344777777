package odatatest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// The example data of OData Data Aggregation 4.0, section 2.2. Sale 8 is of product P3, as its results have it.
func salesTables() []odatatest.Table {
	return []odatatest.Table{
		{Name: "categories", Columns: []string{"ID str!", "Name str"}, Key: []string{"ID"}, Rows: [][]any{{"PG1", "Food"}, {"PG2", "Non-Food"}}},
		{
			Name: "products", Columns: []string{"ID str!", "CategoryID str", "Name str", "Color str", "TaxRate dec"}, Key: []string{"ID"},
			Rows: [][]any{{"P1", "PG1", "Sugar", "White", "0.06"}, {"P2", "PG1", "Coffee", "Brown", "0.06"}, {"P3", "PG2", "Paper", "White", "0.14"}, {"P4", "PG2", "Pencil", "Black", "0.14"}},
		},
		{
			Name: "customers", Columns: []string{"ID str!", "Name str", "Country str"}, Key: []string{"ID"},
			Rows: [][]any{{"C1", "Joe", "USA"}, {"C2", "Sue", "USA"}, {"C3", "Sue", "Netherlands"}, {"C4", "Luc", "France"}},
		},
		{
			Name: "sales", Columns: []string{"ID big!", "CustomerID str", "Day date", "ProductID str", "Amount dec"}, Key: []string{"ID"},
			Rows: [][]any{
				{1, "C1", "2022-01-03", "P3", "1"},
				{2, "C1", "2022-04-10", "P1", "2"},
				{3, "C1", "2022-08-07", "P2", "4"},
				{4, "C2", "2022-01-03", "P2", "8"},
				{5, "C2", "2022-11-09", "P3", "4"},
				{6, "C3", "2022-04-01", "P1", "2"},
				{7, "C3", "2022-08-06", "P3", "1"},
				{8, "C3", "2022-11-22", "P3", "2"},
			},
		},
	}
}

func salesMapping() sqlsource.Config {
	return sqlsource.Config{
		Namespace: "SalesModel", Guard: edm.GuardNone,
		EntitySets: []sqlsource.EntitySet{
			{Name: "Categories", Table: "categories"},
			{Name: "Products", Table: "products", Hide: []string{"CategoryID"}, Navigations: []sqlsource.Navigation{
				{Name: "Category", To: "Categories", On: map[string]string{"CategoryID": "ID"}},
				{Name: "Sales", To: "Sales", Many: true, On: map[string]string{"ID": "ProductID"}},
			}},
			{Name: "Customers", Table: "customers"},
			{
				Name: "Sales", Table: "sales", Hide: []string{"CustomerID", "ProductID"},
				Properties: []sqlsource.Property{{Column: "Amount", Aggregate: "sum"}, {Column: "Day", Aggregate: "unit"}},
				Navigations: []sqlsource.Navigation{
					{Name: "Customer", To: "Customers", On: map[string]string{"CustomerID": "ID"}},
					{Name: "Product", To: "Products", On: map[string]string{"ProductID": "ID"}},
				},
			},
			{Name: "Shut", Table: "sales", NoApply: true},
		},
	}
}

// TestSalesExamples asks the committee's examples that use what the contract lists. Its results are as the standard has
// them, but for amounts, which have four digits here as their column has; the comments name its examples.
func TestSalesExamples(t *testing.T) {
	t.Parallel()
	all := enginesOf(t, salesTables(), salesMapping())
	for _, c := range []struct{ name, target, want string }{
		{"7 as", "Sales?$apply=aggregate(Amount with sum as Total,Amount with max as MxA)", `[{"Total":24,"MxA":8}]`},
		{"8 product", "Sales?$apply=aggregate(Amount mul Product/TaxRate with sum as Tax)", `[{"Tax":2.08}]`},
		{"10 min", "Sales?$apply=aggregate(Amount with min as MinAmount)", `[{"MinAmount":1}]`},
		{"12 average", "Sales?$apply=aggregate(Amount with average as AverageAmount)", `[{"AverageAmount":3}]`},
		{"13 countdistinct", "Sales?$apply=aggregate(Product with countdistinct as DistinctProducts)", `[{"DistinctProducts":3}]`},
		{"15 count", "Sales?$apply=aggregate($count as SalesCount)", `[{"SalesCount":8}]`},
		{"16 from", "Sales?$apply=aggregate(Amount with sum from Day with average as DailyAverage)", `[{"DailyAverage":3.4285714286}]`},
		{"17 custom aggregate from", "Sales?$apply=aggregate(Amount from Day with average as DailyAverage)", `[{"DailyAverage":3.4285714286}]`},
		{"18 average of averages", "Sales?$apply=aggregate(Amount with average from Day,Product/Name with max as MaxDailyAverage)", `[{"MaxDailyAverage":8}]`},
		{"19 concat", "Sales?$apply=concat(topcount(2,Amount),aggregate(Amount))&$select=ID,Amount", `[{"ID":3,"Amount":4},{"ID":4,"Amount":8},{"Amount":24}]`},
		{"20 groups", "Sales?$apply=groupby((Customer/Country,Product/Name),aggregate(Amount with sum as Total))", `[
			{"Customer":{"Country":"Netherlands"},"Product":{"Name":"Paper"},"Total":3},
			{"Customer":{"Country":"Netherlands"},"Product":{"Name":"Sugar"},"Total":2},
			{"Customer":{"Country":"USA"},"Product":{"Name":"Coffee"},"Total":12},
			{"Customer":{"Country":"USA"},"Product":{"Name":"Paper"},"Total":5},
			{"Customer":{"Country":"USA"},"Product":{"Name":"Sugar"},"Total":2}]`},
		{"21 groups alone", "Sales?$apply=groupby((Product/Name,Amount))", `[
			{"Product":{"Name":"Coffee"},"Amount":4},{"Product":{"Name":"Coffee"},"Amount":8},{"Product":{"Name":"Paper"},"Amount":1},
			{"Product":{"Name":"Paper"},"Amount":2},{"Product":{"Name":"Paper"},"Amount":4},{"Product":{"Name":"Sugar"},"Amount":2}]`},
		{"23 two rollups", "Sales?$apply=groupby((rollup(Customer/Country,Customer/Name),rollup(Product/Category/Name,Product/Name)),aggregate(Amount with sum as Total))" +
			"/filter(not isdefined(Product/Name))", `[
			{"Customer":{"Country":"Netherlands","Name":"Sue"},"Product":{"Category":{"Name":"Food"}},"Total":2},
			{"Customer":{"Country":"Netherlands","Name":"Sue"},"Product":{"Category":{"Name":"Non-Food"}},"Total":3},
			{"Customer":{"Country":"USA","Name":"Joe"},"Product":{"Category":{"Name":"Food"}},"Total":6},
			{"Customer":{"Country":"USA","Name":"Joe"},"Product":{"Category":{"Name":"Non-Food"}},"Total":1},
			{"Customer":{"Country":"USA","Name":"Sue"},"Product":{"Category":{"Name":"Food"}},"Total":8},
			{"Customer":{"Country":"USA","Name":"Sue"},"Product":{"Category":{"Name":"Non-Food"}},"Total":4},
			{"Customer":{"Country":"Netherlands"},"Product":{"Category":{"Name":"Food"}},"Total":2},
			{"Customer":{"Country":"Netherlands"},"Product":{"Category":{"Name":"Non-Food"}},"Total":3},
			{"Customer":{"Country":"USA"},"Product":{"Category":{"Name":"Food"}},"Total":14},
			{"Customer":{"Country":"USA"},"Product":{"Category":{"Name":"Non-Food"}},"Total":5}]`},
		{"23 how many", "Sales?$apply=groupby((rollup(Customer/Country,Customer/Name),rollup(Product/Category/Name,Product/Name)),aggregate(Amount with sum as Total))" +
			"/aggregate($count as Rows,Total with sum as Total)", `[{"Rows":22,"Total":96}]`},
		{"25 bottomcount", "Sales?$apply=bottomcount(2,Amount)&$select=ID,Amount", `[{"ID":1,"Amount":1},{"ID":7,"Amount":1}]`},
		{"26 topcount", "Sales?$apply=topcount(2,Amount)&$select=ID,Amount", `[{"ID":3,"Amount":4},{"ID":4,"Amount":8}]`},
		{"27 bottompercent", "Sales?$apply=bottompercent(50,Amount)&$select=ID", `[{"ID":1},{"ID":2},{"ID":3},{"ID":6},{"ID":7},{"ID":8}]`},
		{"28 toppercent", "Sales?$apply=toppercent(50,Amount)&$select=ID", `[{"ID":3},{"ID":4}]`},
		{"29 bottomsum", "Sales?$apply=bottomsum(7,Amount)&$select=ID", `[{"ID":1},{"ID":2},{"ID":6},{"ID":7},{"ID":8}]`},
		{"30 topsum", "Sales?$apply=topsum(15,Amount)&$select=ID", `[{"ID":3},{"ID":4},{"ID":5}]`},
		{"31 filter", "Sales?$apply=filter(Amount gt 3)&$select=ID,Amount", `[{"ID":3,"Amount":4},{"ID":4,"Amount":8},{"ID":5,"Amount":4}]`},
		{
			"32 orderby", "Sales?$apply=groupby((Product/Name),aggregate(Amount with sum as Total))/orderby(Total desc)",
			`[{"Product":{"Name":"Coffee"},"Total":12},{"Product":{"Name":"Paper"},"Total":8},{"Product":{"Name":"Sugar"},"Total":4}]`,
		},
		{"34 skip", "Sales?$apply=orderby(Customer/Name desc)/skip(2)/top(2)&$select=ID,Amount", `[{"ID":6,"Amount":2},{"ID":7,"Amount":1}]`},
		{"35 top", "Sales?$apply=orderby(Customer/Name desc)/top(2)&$select=ID,Amount", `[{"ID":4,"Amount":8},{"ID":5,"Amount":4}]`},
		{
			"36 identity", "Sales?$apply=concat(identity,aggregate(Amount with sum as Total))&$filter=ID eq 8 or ID eq null&$select=ID,Amount,Total",
			`[{"ID":8,"Amount":2},{"Total":24}]`,
		},
		{"37 compute", "Sales?$apply=compute(Amount mul Product/TaxRate as Tax)&$select=ID,Tax&$top=3", `[{"ID":1,"Tax":0.14},{"ID":2,"Tax":0.12},{"ID":3,"Tax":0.24}]`},
		{"41 these", "Sales?$apply=filter(Amount mul 3 ge $these/aggregate(Amount with sum))&$select=ID,Amount", `[{"ID":4,"Amount":8}]`},
		{"44 these count", "Sales?$apply=topcount($these/$count div 3,Amount)&$select=ID,Amount", `[{"ID":3,"Amount":4},{"ID":4,"Amount":8}]`},
		{"45 isdefined", "Sales?$apply=aggregate(Amount with sum as Total)&$filter=isdefined(Product)", `[]`},
		{"6 rows of groups", "Sales?$apply=groupby((Customer/Country),orderby(Amount desc)/top(1))&$select=ID,Amount&$orderby=ID", `[{"ID":4,"Amount":8},{"ID":6,"Amount":2}]`},
	} {
		for _, e := range all {
			t.Run(c.name+" "+e.name, func(t *testing.T) { e.gives(t, c.target, c.want) })
		}
	}
	for _, e := range all {
		t.Run("OpenUI5 "+e.name, func(t *testing.T) { openUI5(t, e) })
	}
}

// openUI5 asks what the OData V4 model of OpenUI5 sends for $$aggregation: a filter on groups, the number of
// leaves and the grand total in front, a group level with units and aliases that are names of properties, its number of rows, and
// a page of them.
func openUI5(t *testing.T, e engine) {
	t.Helper()
	const target = "Sales?$apply=filter(Amount gt 0)/groupby((Customer/Country,Product/Name),filter($these/aggregate(Amount) gt 2))" +
		"/concat(groupby((Customer/Country,Product/Name))/aggregate($count as UI5__leaves),aggregate(Amount,Day)," +
		"groupby((Customer/Country),aggregate(Amount with sum as Amount,Day))/orderby(Customer/Country desc)/concat(aggregate($count as UI5__count),skip(0)/top(1)))"
	e.gives(t, target, `[{"UI5__leaves":3},{"Amount":20,"Day":null},{"UI5__count":2},{"Customer":{"Country":"USA"},"Amount":17,"Day":null}]`)
	e.gives(t, strings.Replace(target, "skip(0)", "skip(1)", 1)+"&$filter=isdefined(Customer)", `[{"Customer":{"Country":"Netherlands"},"Amount":3,"Day":null}]`)
	e.gives(t, "Sales?$apply=concat(aggregate(Amount,Day),filter(ID eq 1)/aggregate(Amount,Day))", `[{"Amount":24,"Day":null},{"Amount":1,"Day":"2022-01-03"}]`)
}

// TestApplyLimits holds the limits of $apply, and a set that has none of it.
func TestApplyLimits(t *testing.T) {
	t.Parallel()
	reference, err := memory.New(odatatest.MemoryOf(salesMapping(), salesTables()))
	if err != nil {
		t.Fatal(err)
	}
	service := func(limits odata.Limits) http.Handler {
		s, err := odata.New(reference.Model(), reference, odata.Options{Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	few, many := service(odata.Limits{ApplySteps: 3, ApplyGroups: 3}), service(odata.Limits{ApplySteps: odata.Unlimited})
	again := func(step string, n int) string {
		return "Sales?$apply=" + strings.TrimSuffix(strings.Repeat(step+"/", n), "/")
	}
	sometimes := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("1 as p%d", i)
		}
		return "Sales?$apply=concat(compute(" + strings.Join(names, ",") + "),identity)&$top=1"
	}
	for _, c := range []struct {
		name, target, want string
		status             int
	}{
		{"deep", again("topcount($these/$count,Amount)", 24) + "&$top=1", `"value"`, http.StatusOK},
		{"too deep", again("topcount($these/$count,Amount)", 25), "more than 48 deep", http.StatusBadRequest},
		{"many copies", again("concat(identity,identity)", 6) + "&$top=1", `"value"`, http.StatusOK},
		{"too many copies", again("concat(identity,identity)", 7), "read the rows more than 64 times", http.StatusBadRequest},
		{"as many copies of properties", sometimes(63), `"p62":1`, http.StatusOK},
		{"too many copies of properties", sometimes(64), "more than 63 properties are in some rows", http.StatusBadRequest},
		{"as many groups", "Sales?$apply=groupby((Customer/ID))", `"C3"`, http.StatusOK},
		{"too many groups", "Sales?$apply=groupby((Amount))", "$apply makes 4 groups; the limit odata.limits.apply_groups is 3", http.StatusBadRequest},
		{"too many on the way", "Sales?$apply=groupby((Amount))/aggregate($count as n)", "$apply makes 4 groups", http.StatusBadRequest},
		{"but for a bare number", "Sales/$count?$apply=groupby((Amount))", "4", http.StatusOK},
		{"an empty page", "Sales?$apply=groupby((Amount))&$count=true&$top=0", `"@odata.count":4`, http.StatusOK},
		{"a page behind the end", "Sales?$apply=groupby((Amount))&$skip=100", `"value":[]`, http.StatusOK},
		{"nothing left of the groups", "Sales?$apply=groupby((Amount))/filter(Amount lt 0)/aggregate($count as n)", `"n":0`, http.StatusOK},
		{"rows of another sequence", "Sales?$apply=concat(identity,groupby((Amount)))&$top=1", `"ID":1`, http.StatusOK},
		{"and those of the groups", "Sales?$apply=concat(identity,groupby((Amount)))", "$apply makes 4 groups", http.StatusBadRequest},
		{"entities of each group", "Sales?$apply=groupby((Amount),topcount(1,ID))", `"ID":4`, http.StatusOK},
		{"as many steps", "Sales?$apply=concat(identity,identity)", `"value"`, http.StatusOK},
		{"too many steps", "Sales?$apply=concat(identity,identity/identity)", "the limit odata.limits.apply_steps is 3 (at position 38)", http.StatusBadRequest},
		{"turned off", "Shut?$apply=identity", "does not support $apply", http.StatusNotImplemented},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, s := httptest.NewRecorder(), few
			if strings.Contains(c.name, "deep") || strings.Contains(c.name, "copies") {
				s = many
			}
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+strings.ReplaceAll(c.target, " ", "%20"), nil))
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("GET %s gives %d %s, want %d and %s", c.target, w.Code, w.Body, c.status, c.want)
			}
		})
	}
}

// gives compares the values of an answer: numbers by what they are worth.
func (e engine) gives(t *testing.T, target, want string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://h/", nil)
	r.RequestURI = "/" + strings.ReplaceAll(target, " ", "%20")
	w := httptest.NewRecorder()
	e.service.ServeHTTP(w, r)
	var got struct{ Value []map[string]any }
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s gives %d: %s", target, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if text := plainRows(got.Value); text != compact(t, want) {
		t.Errorf("GET %s gives\n%s, want\n%s", target, text, compact(t, want))
	}
}

func plainRows(rows []map[string]any) string {
	for _, row := range rows {
		for name := range row {
			if strings.Contains(name, "@") {
				delete(row, name)
			}
		}
	}
	b, _ := json.Marshal(rows)
	return string(b)
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	return plainRows(rows)
}
