package sqlsource

import (
	"fmt"
	"strings"
)

// didYouMean ends a message with the known name that is nearest to a wrong one.
func didYouMean(wrong string, known []string) string {
	best, distance := "", 1+len(wrong)/3
	for _, k := range known {
		if strings.EqualFold(k, wrong) {
			return fmt.Sprintf("; did you mean %q?", k)
		}
		if d := editDistance(strings.ToLower(wrong), strings.ToLower(k)); d <= distance && (best == "" || d < distance) {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance is how many letters must be put in, taken out, replaced, or swapped with their neighbour.
func editDistance(a, b string) int {
	var before, prev []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, prev, row = prev, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
