package reading

import (
	"strings"
	"unicode"
)

// Fold returns the form in which two decoded paths are equal to a server that
// ignores the case of letters, and dots and blanks at the end of a segment.
func Fold(path string) string {
	return trimSegments(FoldCase(path), isDotOrBlank)
}

// FoldCase makes letters that some server takes for one the same. It folds as
// [strings.EqualFold] does, so that the Kelvin sign is a k and the long s an s, and
// takes both Turkish letters, the dotted and the dotless one, for an i as Java does.
func FoldCase(path string) string {
	if !strings.ContainsFunc(path, func(c rune) bool { return c >= 'A' && c <= 'Z' || c > unicode.MaxASCII }) {
		return path
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c <= unicode.MaxASCII:
			return c
		case c == 'İ' || c == 'ı':
			return 'i'
		}
		least := c
		for next := unicode.SimpleFold(c); next != c; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return unicode.ToLower(least)
	}, path)
}

// Folded returns every path that a server might take the encoded one for once it
// folds it: the readings of [All], folded, cut at # and ?, and decoded until nothing
// changes, with dots and blanks at the end of segments and without. ok is false where
// there are too many to tell.
func Folded(encoded string) (folded []string, ok bool) {
	readings, ok := All(encoded)
	if !ok {
		return nil, false
	}
	trim := func(cut func(rune) bool) step { return func(path string) string { return trimSegments(path, cut) } }
	return explore(readings, len(encoded), FoldCase, append(steps(), withoutMarks, trim(isBlank), trim(isDotOrBlank))) // ".. " is a dot segment without its blank
}

// IsFolded reports whether an encoded path has but one reading, and is folded.
func IsFolded(encoded string) bool {
	for i := range len(encoded) {
		switch c := encoded[i]; {
		case c >= 'A' && c <= 'Z', c <= ' ', c >= 0x7f, c == '%', c == '\\', c == ';', c == '#', c == '?':
			return false
		case c == '/' && i > 0 && (encoded[i-1] == '.' || encoded[i-1] == '/'):
			return false
		}
	}
	return !strings.HasSuffix(encoded, ".")
}

// withoutMarks cuts a path where a query or a fragment would begin.
func withoutMarks(path string) string {
	if at := strings.IndexAny(path, "?#"); at >= 0 {
		return path[:at]
	}
	return path
}

// trimSegments cuts the letters that cut reports off the end of each segment.
func trimSegments(path string, cut func(rune) bool) string {
	if !strings.ContainsFunc(path, cut) {
		return path
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = strings.TrimRightFunc(segments[i], cut)
	}
	return strings.Join(segments, "/")
}

func isBlank(c rune) bool { return c <= ' ' || c == 0x7f || unicode.IsSpace(c) }

func isDotOrBlank(c rune) bool { return c == '.' || isBlank(c) }

// FoldAmbiguity names what in an encoded path servers fold.
func FoldAmbiguity(encoded string) string {
	if what := Ambiguity(encoded); what != "" {
		return what
	}
	plain := decode(encoded, "")
	switch {
	case strings.ContainsAny(plain, "?#"):
		return "encoded_mark"
	case trimSegments(plain, isDotOrBlank) != plain:
		return "trailing_dot_or_blank"
	}
	return "letter_case"
}
