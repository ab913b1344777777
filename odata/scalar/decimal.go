package scalar

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// DivisionDigits is how many fractional digits the quotient of two decimals keeps, on every database.
const DivisionDigits = 10

// Plain writes a finite decimal without an exponent and without needless zeros; zero has no sign.
func Plain(d *apd.Decimal) string {
	if d.IsZero() {
		return "0"
	}
	short, _ := new(apd.Decimal).Reduce(d)
	return short.Text('f')
}

// DecimalOf is a finite float as a decimal in plain notation, by its shortest digits; false for NaN and the infinities.
func DecimalOf(f float64) (string, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", false
	}
	if f == 0 {
		return "0", true
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}

// PlainDecimal reads a decimal, with or without an exponent, and writes it as Plain does; false for what is none.
func PlainDecimal(text string) (string, bool) {
	if isPlain(text) {
		return text, true
	}
	d, _, err := apd.NewFromString(text)
	if err != nil || d.Form != apd.Finite || d.Exponent > maxExponent || d.Exponent < -maxExponent {
		return "", false
	}
	return Plain(d), true
}

// isPlain reports whether a text of at most 30 bytes is a decimal as Plain writes it.
func isPlain[T string | []byte](text T) bool {
	start, point := 0, -1
	if len(text) > 0 && text[0] == '-' {
		start = 1
	}
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
		case c == '.' && point < 0:
			point = i
		default:
			return false
		}
	}
	whole := len(text) - start
	if point >= 0 {
		whole = point - start
	}
	switch {
	case whole == 0, len(text) > 30, whole > 1 && text[start] == '0':
		return false
	case point >= 0:
		return point < len(text)-1 && text[len(text)-1] != '0'
	}
	return start == 0 || text[start] != '0'
}

// maxExponent keeps a short text from becoming a long one.
const maxExponent = 1000

// DecimalKey is a text that orders, byte by byte, as decimals in plain notation do: the sign, the place of the first
// digit, and the digits, all of them turned round where the number is negative.
func DecimalKey(plain string) string {
	digits, negative := strings.CutPrefix(plain, "-")
	whole, frac, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return "1"
	}
	place := len(digits) - len(frac) + keyBias
	key := strconv.Itoa(place) + strings.TrimRight(digits, "0")
	if !negative {
		return "2" + key
	}
	turned := []byte("0" + key + "~")
	for i := 1; i < len(turned)-1; i++ {
		turned[i] = '0' + '9' - turned[i]
	}
	return string(turned)
}

// keyBias makes four digits of every place that a number may have.
const keyBias = 5000

// PadDecimal adds zeros to the plain number that begins at dst[from], until it has scale digits behind the point. With
// edm.VariableScale it takes needless ones away.
func PadDecimal(dst []byte, from, scale int) []byte {
	digits, point := 0, false
	for _, b := range dst[from:] {
		if point {
			digits++
		}
		point = point || b == '.'
	}
	if scale == edm.VariableScale {
		for point && digits > 0 && dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
			digits--
		}
		if point && digits == 0 {
			dst = dst[:len(dst)-1]
		}
		return dst
	}
	if !point && scale > 0 {
		dst = append(dst, '.')
	}
	for ; digits < scale; digits++ {
		dst = append(dst, '0')
	}
	return dst
}
