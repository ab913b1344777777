package schema

import (
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes.
type Bytes int64

// units are the suffixes of sizes, the largest first; "" is bytes.
func units() []string { return []string{"GiB", "MiB", "KiB", "B"} }

// ParseBytes reads an integer with one of the units B, KiB, MiB, GiB behind it.
func ParseBytes(s string) (Bytes, bool) {
	for i, unit := range units() {
		digits, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		shift := 10 * (len(units()) - 1 - i)
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		return Bytes(n << shift), err == nil && digits[0] != '+' && n >= 0 && n <= math.MaxInt64>>shift
	}
	return 0, false
}

// String writes the size with the largest unit that leaves an integer.
func (b Bytes) String() string {
	for i, unit := range units() {
		shift := 10 * (len(units()) - 1 - i)
		if b>>shift != 0 && b>>shift<<shift == b {
			return strconv.FormatInt(int64(b>>shift), 10) + unit
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}
