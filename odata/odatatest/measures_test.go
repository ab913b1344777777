package odatatest_test

import (
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestMeasuresAggregate holds that what another property has for its currency or its unit is aggregated by its bare name: the
// one value of all rows, else null.
func TestMeasuresAggregate(t *testing.T) {
	t.Parallel()
	table := odatatest.Table{Name: "wares", Key: []string{"id"}, Columns: []string{"id big!", "kind str", "price dec", "money str", "mass dec", "of str", "note str"}, Rows: [][]any{
		{1, "a", "1.5", "EUR", "2", "kg", "x"},
		{2, "a", "2", "EUR", "1", "g", "x"},
		{3, "b", "3", "USD", "1", "kg", "x"},
		{4, "c", "4", nil, nil, nil, "x"},
		{5, "d", "5", "EUR", "1", "kg", "x"},
		{6, "d", "6", nil, "1", "kg", "x"},
	}}
	look := func(column string, l sqlsource.Look) sqlsource.Property {
		return sqlsource.Property{Column: column, Look: l}
	}
	all := enginesOf(t, []odatatest.Table{table}, sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Wares", Table: "wares", Properties: []sqlsource.Property{
			look("price", sqlsource.Look{Currency: "money"}), look("mass", sqlsource.Look{Unit: "of"}),
		}}},
	})
	for _, e := range all {
		for target, want := range map[string]string{
			"Wares?$apply=groupby((kind),aggregate(money,of))": `"value":[{"kind":"a","money":"EUR","of":null},{"kind":"b","money":"USD","of":"kg"},` +
				`{"kind":"c","money":null,"of":null},{"kind":"d","money":null,"of":"kg"}]}`,
			"Wares?$apply=groupby((kind),aggregate(money))/aggregate($count as n)": `"n":4}]}`,
			"Wares?$apply=aggregate(note)":                                         `400`,
			"Wares?$apply=aggregate(price)":                                        `400`,
		} {
			if got := e.ask(target); !strings.HasSuffix(got, want) {
				t.Errorf("%s: %s is %s, want %s", e.name, target, got, want)
			}
		}
		metadata := e.ask("$metadata")
		for _, name := range []string{"money", "of", "note", "price"} {
			says := strings.Contains(metadata, `Term="Aggregation.CustomAggregate" Qualifier="`+name+`" String="Edm.String"`)
			if says != (name == "money" || name == "of") {
				t.Errorf("%s: $metadata says a custom aggregate of %s: %v", e.name, name, says)
			}
		}
	}
}
