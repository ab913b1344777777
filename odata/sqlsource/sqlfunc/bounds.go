package sqlfunc

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// bounds are the smallest and the largest value of an integer kind.
func bounds(k edm.Kind) (lo, hi string) {
	switch k {
	case edm.Byte:
		return "0", "255"
	case edm.SByte:
		return "-128", "127"
	case edm.Int16:
		return "-32768", "32767"
	case edm.Int32:
		return "-2147483648", "2147483647"
	}
	return "-9223372036854775808", "9223372036854775807"
}
