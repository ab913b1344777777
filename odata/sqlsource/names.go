package sqlsource

import (
	"strings"
	"unicode"
)

// maxIdentifier is how many characters a name may have. ABNF odataIdentifier
const maxIdentifier = 128

// identifier tells whether a name can stand in a URL. ABNF odataIdentifier
func identifier(s string) bool {
	n := 0
	for i, r := range s {
		if !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.Is(unicode.Nd, r)) {
			return false
		}
		n++
	}
	return n > 0 && n <= maxIdentifier
}

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
	if r := []rune(id); len(r) > maxIdentifier {
		id = string(r[:maxIdentifier])
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
