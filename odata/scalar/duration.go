package scalar

import (
	"fmt"
	"strings"
)

// FormatDuration writes an Edm.Duration of so many seconds and nanoseconds (0 to 999,999,999) as it stands in JSON.
func FormatDuration(negative bool, seconds, nanos int64) string {
	if seconds == 0 && nanos == 0 {
		return "PT0S"
	}
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	b.WriteByte('P')
	if d := seconds / 86400; d > 0 {
		fmt.Fprintf(&b, "%dD", d)
	}
	if seconds%86400 == 0 && nanos == 0 {
		return b.String()
	}
	b.WriteByte('T')
	if h := seconds % 86400 / 3600; h > 0 {
		fmt.Fprintf(&b, "%dH", h)
	}
	if m := seconds % 3600 / 60; m > 0 {
		fmt.Fprintf(&b, "%dM", m)
	}
	if s := seconds % 60; s > 0 || nanos > 0 {
		fmt.Fprintf(&b, "%d", s)
		if nanos > 0 {
			b.WriteString("." + strings.TrimRight(fmt.Sprintf("%09d", nanos), "0"))
		}
		b.WriteByte('S')
	}
	return b.String()
}
