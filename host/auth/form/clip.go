package form

import (
	"strings"
	"unicode"
)

// MaxName is how many bytes of a login name count and are logged.
const MaxName = 255

// Clip makes a login name fit to be stored and logged: short, UTF-8, and without
// the control characters that a database may refuse.
func Clip(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), MaxName)], "")
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, s)
}
