package sqlsource

import (
	"strings"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// makeIdentifier replaces what cannot stand in an identifier by "_".
func makeIdentifier(s string) string {
	id := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.Is(unicode.Nd, r) || r == '_' {
			return r
		}
		return '_'
	}, s)
	if id == "" || unicode.IsDigit([]rune(id)[0]) {
		id = "_" + id
	}
	if r := []rune(id); len(r) > edm.MaxIdentifier {
		id = string(r[:edm.MaxIdentifier])
	}
	return id
}

// relation names what a foreign key column points to: "category_id" is the category, "AlbumId" the Album. Empty when
// the column's name does not tell.
func relation(column string) string {
	for _, suffix := range []string{"_id", "_ID", "_Id", "_fk", "_key", "Id", "ID", "Key"} {
		if name, ok := strings.CutSuffix(column, suffix); ok && strings.Trim(name, "_") != "" {
			return makeIdentifier(strings.TrimRight(name, "_"))
		}
	}
	return ""
}
