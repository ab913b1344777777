package schema

import (
	"cmp"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// closest returns the name that was probably meant, or "" when none is near.
func closest(name string, names []string) string {
	return cmp.Or(words.Nearest(name, names), within(name, names))
}

// within returns the first of names that name holds with something around it, as
// "postgresql" does "postgres"; "" when there is none.
func within(name string, names []string) string {
	for _, candidate := range names {
		if len(candidate) > 2 && strings.Contains(strings.ToLower(name), strings.ToLower(candidate)) {
			return candidate
		}
	}
	return ""
}

// DidYouMean is the remedy for a name that is none of those there are.
func DidYouMean(name string, names []string) string {
	if near := closest(name, names); near != "" {
		return didYouMean(near)
	}
	return "use one of " + list(names)
}

func didYouMean(name string) string { return `did you mean "` + name + `"?` }

func list(names []string) string { return strings.Join(names, ", ") }
