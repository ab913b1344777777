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
