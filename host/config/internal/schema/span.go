package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// ParseSpan reads a duration as [time.ParseDuration] does, and days before it: "90d",
// "1d12h". A day has 24 hours.
func ParseSpan(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || n > uint64(math.MaxInt64/day) {
		return 0, fmt.Errorf("%q is no duration", s)
	}
	sum := time.Duration(n) * day
	if rest == "" {
		return sum, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || rest[0] == '+' || sum+more < 0 {
		return 0, fmt.Errorf("%q is no duration", s)
	}
	return sum + more, nil
}
