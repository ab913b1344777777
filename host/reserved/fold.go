package reserved

import (
	"strings"
	"unicode"
)

// Fold returns the form in which two names are equal when a database may take
// them for one: letters that differ only by case become the same. It folds as
// [strings.EqualFold] does, so that "paſſword" folds to "password".
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
			least = min(least, c)
		}
		return unicode.ToLower(least)
	}, name)
}

// LowerASCII returns a text with the letters A to Z in lower case. All other letters stay.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Resolve finds the real name that a written one means among those there are:
// the same name, or else the only one that differs by case alone. ok is false
// when there is none, or more than one.
func Resolve(written string, names []string) (name string, ok bool) {
	found := 0
	for _, candidate := range names {
		if candidate == written {
			return candidate, true
		}
		if Fold(candidate) == Fold(written) {
			name, found = candidate, found+1
		}
	}
	if found != 1 {
		return "", false
	}
	return name, true
}
