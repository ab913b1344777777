package scalar

import (
	"math"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/odata/plan/constant"
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
	return constant.FormatDuration(s < 0, int64(whole), nanos)
}
