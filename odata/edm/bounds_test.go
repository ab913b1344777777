package edm_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// OData-CSDL 3.3 gives the integer types as 8, 16, 32 and 64 bits, signed but for Byte.
func TestBounds(t *testing.T) {
	for kind, want := range map[edm.Kind][2]int64{
		edm.Byte: {0, 255}, edm.SByte: {-128, 127}, edm.Int16: {-32768, 32767}, edm.Int32: {-2147483648, 2147483647},
		edm.Int64: {-9223372036854775808, 9223372036854775807},
	} {
		if least, greatest := kind.Bounds(); least != want[0] || greatest != want[1] {
			t.Errorf("%v: %d to %d", kind, least, greatest)
		}
	}
}
