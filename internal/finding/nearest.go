package finding

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// DidYouMean returns the remedy for a name that is none of the known ones: the nearest, or all there are.
func DidYouMean(wrong string, known []string) string {
	const most = 20
	if near := words.Nearest(wrong, known); near != "" {
		return "did you mean \"" + near + "\"?"
	}
	switch {
	case len(known) == 0:
		return "take it out"
	case len(known) > most:
		return "use one of " + strings.Join(known[:most], ", ") + ", …"
	}
	return "use one of " + strings.Join(known, ", ")
}
