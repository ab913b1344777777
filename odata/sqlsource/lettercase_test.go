package sqlsource_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestEveryLetterHasOneCase maps all letters of the first planes of Unicode that Go maps: MariaDB left the capital ẞ (U+1E9E)
// and hundreds of others as they were, so that nobody found them who looked for them.
func TestEveryLetterHasOneCase(t *testing.T) {
	t.Parallel()
	var upper, lower strings.Builder
	for c := rune(0x80); c <= 0x1ffff; c++ {
		if unicode.ToLower(c) != c {
			upper.WriteRune(c)
		}
		if unicode.ToUpper(c) != c {
			lower.WriteRune(c)
		}
	}
	for _, dialect := range []string{"sqlite", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, "CREATE TABLE letters (id INTEGER PRIMARY KEY, note TEXT)")
			for id, note := range []string{upper.String(), lower.String(), "GRO\u1e9eE"} {
				if _, err := db.DB.Exec("INSERT INTO letters VALUES (?, ?)", id, note); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Letters", Table: "letters", Search: []string{"note"}}}})
			for target, want := range map[string]string{
				"Letters?$compute=tolower(note) as n&$select=n&$filter=id eq 0": strings.ToLower(upper.String()),
				"Letters?$compute=toupper(note) as n&$select=n&$filter=id eq 1": strings.ToUpper(lower.String()),
			} {
				got, mapped := []rune(strings.Trim(s.get(target), "[]")), []rune(want)
				if len(got) != len(mapped) {
					t.Fatalf("%s has %d letters of %d", target, len(got), len(mapped))
				}
				for i := range got {
					if got[i] != mapped[i] {
						t.Errorf("%.30s: %U, want %U", target, got[i], mapped[i])
					}
				}
			}
			for _, target := range []string{
				"Letters?$select=id&$filter=id gt 1 and contains(tolower(note),tolower('o\u1e9ee'))", "Letters?$select=id&$filter=tolower(note) eq 'gro\u00dfe'",
				"Letters?$select=id&$search=gro\u00dfe", "Letters?$select=id&$search=GRO\u1e9eE OR none",
			} {
				if got := s.get(target); got != "[2]" {
					t.Errorf("%s: got %s", target, got)
				}
			}
		})
	}
}
