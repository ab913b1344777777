package scalar

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// DurationSeconds is the number of seconds in an Edm.Duration in canonical form.
func DurationSeconds(s string) float64 {
	s, neg := strings.CutPrefix(s, "-")
	day, clock, _ := strings.Cut(strings.TrimPrefix(s, "P"), "T")
	var sum float64
	for _, part := range []struct {
		text, units string
		factors     []float64
	}{{day, "D", []float64{86400}}, {clock, "HMS", []float64{3600, 60, 1}}} {
		rest := part.text
		for i, u := range part.units {
			number, after, ok := strings.Cut(rest, string(u))
			if !ok {
				continue
			}
			n, _ := strconv.ParseFloat(number, 64)
			sum += n * part.factors[i]
			rest = after
		}
	}
	if neg {
		return -sum
	}
	return sum
}

// FormatSeconds writes a number of seconds, to the microsecond, as an Edm.Duration.
func FormatSeconds(s float64) string {
	whole, frac := math.Modf(math.Abs(s))
	nanos := int64(math.Round(frac*1e6)) * 1000
	if nanos == 1e9 {
		whole, nanos = whole+1, 0
	}
	return FormatDuration(s < 0, int64(whole), nanos)
}

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
