package scalar

import (
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// The decoder of answers and the functions that SQLite computes with read stored values by the rules of this file.

// Integral returns a float as an integer; false for a fraction and for what 64 bits cannot hold.
func Integral(f float64) (int64, bool) {
	const beyond = 1 << 63
	if !(f > -beyond && f < beyond) {
		return 0, false
	}
	n := int64(f)
	return n, float64(n) == f
}

// AppendReal appends a float that a column of texts or bytes holds, as it is shown.
func AppendReal(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'g', -1, 64) }

// Truth reads a Boolean from text; false in ok for other text.
func Truth(text []byte) (v, ok bool) {
	var lower [5]byte
	if len(text) > len(lower) {
		return false, false
	}
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	switch string(lower[:len(text)]) {
	case "true", "t", "1", "yes", "y", "\x01":
		return true, true
	case "false", "f", "0", "no", "n", "\x00":
		return false, true
	}
	return false, false
}

// PlainNumber reports whether text is a decimal in plain notation: a sign, digits, and a point between digits.
func PlainNumber(text []byte) bool {
	digits, points := 0, 0
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && digits > 0:
			points++
		case i > 0 || c != '-':
			return false
		}
	}
	return digits > 0 && points <= 1 && text[len(text)-1] != '.'
}

// FloatNumber reports whether text has nothing but digits, signs, a point and an exponent. Words and other notations that Go
// reads as numbers are none of a database.
func FloatNumber(text []byte) bool {
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9', c == '.', c == '+', c == '-', c == 'e', c == 'E':
		default:
			return false
		}
	}
	return len(text) > 0
}

// AppendGUID appends a GUID in lower case. It reads 36 characters or, from a blob, 16 bytes; false for anything else.
func AppendGUID(dst, stored []byte, blob bool) ([]byte, bool) {
	const hex = "0123456789abcdef"
	if blob && len(stored) == 16 {
		for i, b := range stored {
			if i == 4 || i == 6 || i == 8 || i == 10 {
				dst = append(dst, '-')
			}
			dst = append(dst, hex[b>>4], hex[b&15])
		}
		return dst, true
	}
	if len(stored) != 36 {
		return dst, false
	}
	from := len(dst)
	for i, b := range stored {
		if b >= 'A' && b <= 'F' {
			b += 'a' - 'A'
		}
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (b == '-') || !dash && (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return dst[:from], false
		}
		dst = append(dst, b)
	}
	return dst, true
}

// The first second of year 1 and the last of year 9999, since 1970.
const (
	FirstSecond = -62135596800
	LastSecond  = 253402300799
)

// AppendSeconds appends a date, an instant or a time of day that is stored as seconds since 1970; false beyond the years 1
// to 9999.
func AppendSeconds(dst []byte, seconds int64, k edm.Kind) ([]byte, bool) {
	if seconds < FirstSecond || seconds > LastSecond {
		return dst, false
	}
	layout := time.RFC3339
	switch k {
	case edm.Date:
		layout = time.DateOnly
	case edm.TimeOfDay:
		layout = time.TimeOnly
	}
	return time.Unix(seconds, 0).UTC().AppendFormat(dst, layout), true
}
