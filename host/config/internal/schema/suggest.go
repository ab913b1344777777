package schema

import "strings"

// closest returns the name that was probably meant, or "" when none is near.
func closest(name string, names []string) string {
	best, distance := "", 1+max(1, min(3, len(name)/3))
	for _, candidate := range names {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	if best != "" {
		return best
	}
	for _, candidate := range names { // "postgresql", "mariadb_dsn": a name with something around it
		if len(candidate) > 2 && strings.Contains(strings.ToLower(name), strings.ToLower(candidate)) {
			return candidate
		}
	}
	return ""
}

// DidYouMean is the remedy for a name that is none of those there are.
func DidYouMean(name string, names []string) string {
	if near := closest(name, names); near != "" {
		return `did you mean "` + near + `"?`
	}
	return "use one of " + list(names)
}

func list(names []string) string { return strings.Join(names, ", ") }

// editDistance is the Damerau-Levenshtein distance with adjacent transpositions.
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
