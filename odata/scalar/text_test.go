package scalar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

func TestFromText(t *testing.T) {
	t.Parallel()
	const no = "-"
	for kind, cases := range map[edm.Kind]map[string]string{ // what is read, and what it is
		edm.Boolean: {"true": "1", "FALSE": "0", "1": no, "yes": no, "": no, "true\n": no},
		edm.Byte:    {"255": "255", "256": no, "-1": no, "-0": "0"},
		edm.Int64: {
			"7": "7", "+7": "7", "-0007": "-7", "9223372036854775807": "9223372036854775807", "9223372036854775808": no, "-9223372036854775808": "-9223372036854775808",
			"": no, " 7": no, "7 ": no, "7\n": no, "7\x00": no, "1.0": no, "1e2": no, "--1": no, "٣": no,
		},
		edm.Decimal: {"1.50": "1.5", "-0.00": "0", "+12": "12", "1e3": "1000", "1.5E-2": "0.015", "1e16": no, ".5": no, "5.": no, "NaN": no, strings.Repeat("9", 36): no, "0." + strings.Repeat("1", 31): no},
		edm.Double:  {"1.5": "1.5", "-0": "0", "1e999": no, "1e-999": "0", "5e-324": "5e-324", "INF": no, "1.7976931348623157e308": no, "1e308": "1e+308"},
		edm.Single:  {"0.1": "0.10000000149011612", "3.5e38": no, "1e-60": "0"},
		edm.Guid:    {"0A0B0C0D-0000-0000-0000-0000000000fF": "0a0b0c0d-0000-0000-0000-0000000000ff", "0a0b0c0d00000000000000000000000ff": no, "{0a0b0c0d-0000-0000-0000-0000000000ff}": no},
		edm.Date: {
			"2024-02-29": "2024-02-29", "2023-02-29": no, "1900-02-29": no, "2000-02-29": "2000-02-29", "0000-01-01": no, "0000-02-29": no, "0004-02-29": "0004-02-29",
			"2024-04-31": no, "2024-13-01": no, "2024-2-9": no, "2024-02-29 10:00": no, "12024-01-01": no, "9999-12-31": "9999-12-31", "0400-02-29": "0400-02-29",
		},
		edm.TimeOfDay: {"10:11": "10:11:00", "10:11:12.50": "10:11:12.5", "10:11:12.1234567": no, "10:11:12.1234560000": "10:11:12.123456", "24:00": no, "10:60": no, "10:11:60": no, "noon": no},
		edm.DateTimeOffset: {
			"2024-02-29": "2024-02-29T00:00:00Z", "2024-02-29 10:11": "2024-02-29T10:11:00Z", "2024-02-29T10:11:12.50Z": "2024-02-29T10:11:12.5Z",
			"2024-02-29t10:11:12z": "2024-02-29T10:11:12Z", "2024-02-29 10:11:12+02": "2024-02-29T08:11:12Z", "2024-02-29T10:11-0130": "2024-02-29T11:41:00Z",
			"2024-02-29 10:11:12 +02:00": "2024-02-29T08:11:12Z", "2024-02-29 10:11:12 ": no, "2024-02-29T10:11:12+15:00": no, "0001-01-01T00:00:00+01:00": no,
			"9999-12-31T23:59:59-00:01": no, "0001-01-01T00:00:00-01:00": "0001-01-01T01:00:00Z", "2024-02-29_10:11": no, "soon": no,
		},
		edm.Duration: {
			"PT1H": "PT1H", "P1DT36H": "P2DT12H", "-PT1.50S": "-PT1.5S", "+PT90S": "PT1M30S", "PT0S": "PT0S", "P": no, "PT": no, "P1DT": no, "P1M": no, "P1Y": no, "PT1M1H": no,
			"PT1.1234567S": no, "P9999999D": "P9999999D", "P10000000D": no, "pt1h": no, "1:00": no,
		},
		edm.String: {"a": no}, edm.Binary: {"AA": no},
	} {
		for text, want := range cases {
			r, ok := scalar.FromText(kind, []byte(text))
			got := r.Text
			switch {
			case !ok:
				got = no
			case kind.Integer(), kind == edm.Boolean:
				got = fmt.Sprint(r.Int)
			case kind == edm.Double, kind == edm.Single:
				got = fmt.Sprint(r.Float)
			}
			if got != want {
				t.Errorf("%v %q: got %s, want %s", kind, text, got, want)
			}
		}
	}
}
