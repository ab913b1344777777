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

// AppendDecimal appends a float in plain notation with at least scale digits behind the point, as [PadDecimal] adds them to
// what [AppendFloat] writes. Numbers with no more digits than that, such as prices, take half the time.
func AppendDecimal(dst []byte, f float64, scale int) []byte {
	powers := [...]uint64{0, 10, 100, 1000, 10_000}
	a := math.Abs(f)
	if scale <= 0 || scale >= len(powers) || a >= 1e9 || math.Signbit(f) && f == 0 {
		return PadDecimal(AppendFloat(dst, f), len(dst), scale)
	}
	n := uint64(a*float64(powers[scale]) + 0.5)
	if float64(n)/float64(powers[scale]) != a {
		return PadDecimal(AppendFloat(dst, f), len(dst), scale)
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	dst = append(strconv.AppendUint(dst, n/powers[scale], 10), ".0000"[:scale+1]...)
	for i, rest := len(dst)-1, n%powers[scale]; rest > 0; i, rest = i-1, rest/10 {
		dst[i] = byte('0' + rest%10)
	}
	return dst
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

// pairs are the numbers up to 99, with two digits each.
const pairs = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// AppendInt appends a whole number. Those of up to eight digits, as most numbers of rows are, take two thirds of the time
// that strconv needs, which writes digits into a buffer of its own first.
func AppendInt(dst []byte, n int64) []byte {
	if n < 0 || n >= 1e8 {
		return strconv.AppendInt(dst, n, 10)
	}
	high, low := uint32(n)/10_000, uint32(n)%10_000
	if high == 0 {
		return appendLeading(dst, low)
	}
	dst = appendLeading(dst, high)
	a, b := low/100*2, low%100*2
	return append(dst, pairs[a], pairs[a+1], pairs[b], pairs[b+1])
}

// appendLeading appends a number below 10,000 without zeros in front.
func appendLeading(dst []byte, n uint32) []byte {
	if n < 10 {
		return append(dst, byte('0'+n))
	}
	a, b := n/100*2, n%100*2
	switch {
	case n < 100:
		return append(dst, pairs[b], pairs[b+1])
	case n < 1000:
		return append(dst, pairs[a+1], pairs[b], pairs[b+1])
	}
	return append(dst, pairs[a], pairs[a+1], pairs[b], pairs[b+1])
}
