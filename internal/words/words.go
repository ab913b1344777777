// Package words has what messages of several packages need: the known name that is
// nearest to a misspelt one, and texts cut to a length.
package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nearest returns the one of names that was probably meant, or "" when none is near:
// at most a third of the letters of name, but no more than three, are put in, taken
// out, replaced or swapped with their neighbour; one always may be. Case does not count.
func Nearest(name string, names []string) string {
	best, distance := "", 1+max(1, min(3, len(name)/3))
	for _, candidate := range names {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// editDistance is the Damerau-Levenshtein distance in bytes, with adjacent
// transpositions.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Cut returns the longest beginning of s that has at most n bytes and ends between
// two characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)]
}

// Printable is [Cut] of s without control characters and bytes that are not UTF-8,
// which a database may refuse and a log must not hold.
func Printable(s string, n int) string {
	return Cut(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "")), n)
}

// Clean makes a text of somebody else's harmless for a terminal and for readers of logs,
// and shortens it to about limit bytes: what is not printable, such as an escape or a mark
// that turns the direction of writing, is written as \uXXXX, and a tab as a space.
func Clean(s string, limit int) string { return clean(s, limit, false) }

// CleanLines is [Clean] for a text that may have several lines.
func CleanLines(s string, limit int) string { return clean(s, limit, true) }

func clean(s string, limit int, lines bool) string {
	var b strings.Builder
	for i, r := range s {
		if b.Len() >= limit {
			_, _ = fmt.Fprintf(&b, "… (%d bytes more)", len(s)-i)
			break
		}
		switch {
		case r == utf8.RuneError, r == '\n' && lines, unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteByte(' ')
		default:
			_, _ = fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
