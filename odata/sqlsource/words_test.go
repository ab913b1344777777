package sqlsource_test

import (
	"strings"
	"testing"
)

// TestWordsShareTexts holds that a search makes each text of a row small once, however many words it looks for, and which rows it
// finds.
func TestWordsShareTexts(t *testing.T) {
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			s := openShop(t, d)
			reads := func(words, column string) int {
				sql := s.explain(t, "Products?$search="+words).Statements[0].SQL
				_, where, _ := strings.Cut(strings.NewReplacer("`", "", `"`, "").Replace(sql), " WHERE ")
				where, _, _ = strings.Cut(where, " ORDER BY ")
				return strings.Count(where, "."+column)
			}
			for _, column := range []string{"name", "note"} {
				if few, many := reads("ham OR zz", column), reads("ham OR zz OR yy OR xx", column); few == 0 || many != few {
					t.Errorf("%s is read %d times for two words, and %d times for four", column, few, many)
				}
			}
			check(t, s, [][2]string{
				{"Products?$select=id&$search=ham zz", ""},
				{"Products?$select=id&$search=HAM OR zz", "[1][2][5]"},
				{"Products?$select=id&$search=ham heavy", "[1]"},
				{"Products?$select=id&$search=ham AND NOT heavy", "[2][5]"},
				{"Products?$select=id&$search=NOT ham NOT ä", "[4][6][7]"},
				{"Products?$select=id&$search=ÄPFEL OR STRA", "[3][6]"},
				{"Products?$select=id&$search=\"100%\" OR \"w_b\"", "[3][4]"},
				{"Products?$select=id&$search=\"l 1\" OR \" pad \"", "[3]"},
				{"Products?$select=id&$search=(ham OR saw) (heavy OR neil)&$count=true", "[1][5]#2"},
				{"Products/$count?$search=ham OR saw", "4"},
				{"Categories?$select=id&$filter=products/$count($search=ham OR heavy) gt 1", "[2]"},
				{"Categories?$select=id&$expand=products($select=id;$search=ham OR saw)&$filter=id gt 1", "[2 {[1][2]}][3 {[5]}][4 {}]"},
			})
		})
	}
}

// TestOneRowUnderWindows holds that a condition counts where a unique key finds the one row of a table and the statement has a
// window: MariaDB leaves out such conditions if they set variables.
func TestOneRowUnderWindows(t *testing.T) {
	const never = "(weight add 1) mul 2 gt 1e9"
	for _, d := range dialects() {
		t.Run(d, func(t *testing.T) {
			db := database(t, d, ddl(d))
			check(t, open(t, db, shopConfig()), [][2]string{
				{"Products?$apply=filter(id eq 1)/search(ham zz)/groupby((id))", ""},
				{"Products?$apply=filter(id eq 1)/search(ham heavy)/groupby((id))", "[1]"},
				{"Products?$apply=filter(id eq 1 and " + never + ")/groupby((id))", ""},
				{"Products?$apply=filter(id eq 1)/groupby((weight))&$filter=" + never + "&$count=true", "#0"},
				{"Products?$apply=filter(sku eq 'A1' and " + never + ")/groupby((sku))&$count=true", "#0"},
				{"Products?$apply=filter(id eq 1)/aggregate(weight with sum as w)&$filter=(w add 1) mul 2 gt 1e9&$count=true", "#0"},
				{"Categories?$select=id&$filter=id eq 1&$expand=products($select=id;$filter=id eq 1 and " + never + ";$top=1;$count=true)", "[1 {#0}]"},
			})
			cfg := shopConfig()
			for i := range cfg.EntitySets {
				if cfg.EntitySets[i].Name == "Products" {
					cfg.EntitySets[i].Filter = never
				}
			}
			check(t, open(t, db, cfg), [][2]string{
				{"Products?$apply=filter(id eq 1)/groupby((id))", ""},
				{"Categories?$apply=filter(id eq 1 and products/any(p:p/id eq 1))/groupby((id))", ""},
			})
		})
	}
}
