package syntax_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

func TestLiterals(t *testing.T) {
	tests := []struct {
		in   string
		kind syntax.LiteralKind
		text string
	}{
		{"null", syntax.Null, "null"},
		{"true", syntax.Boolean, "true"},
		{"FALSE", syntax.Boolean, "false"},

		{"0", syntax.Integer, "0"},
		{"007", syntax.Integer, "007"},
		{"-128", syntax.Integer, "-128"},
		{"+42", syntax.Integer, "42"},
		{"9223372036854775807", syntax.Integer, "9223372036854775807"},
		{"-9223372036854775808", syntax.Integer, "-9223372036854775808"},
		{"9223372036854775808", syntax.Decimal, "9223372036854775808"},
		{"0000000000000000000000001", syntax.Integer, "0000000000000000000000001"},
		{"3.14", syntax.Decimal, "3.14"},
		{"-0.10", syntax.Decimal, "-0.10"},
		{"12345678901234567890.12345678901234567890", syntax.Decimal, "12345678901234567890.12345678901234567890"},
		{"1e5", syntax.Double, "1e5"},
		{"-0.314E-1", syntax.Double, "-0.314e-1"},
		{"1e+5", syntax.Double, "1e5"},
		{"INF", syntax.Double, "INF"},
		{"-INF", syntax.Double, "-INF"},
		{"NaN", syntax.Double, "NaN"},

		// OData 2 had suffixes, and clients still send them.
		{"5L", syntax.Integer, "5"},
		{"-5l", syntax.Integer, "-5"},
		{"400m", syntax.Decimal, "400"},
		{"2.5M", syntax.Decimal, "2.5"},
		{"9223372036854775808m", syntax.Decimal, "9223372036854775808"},
		{"1.5d", syntax.Double, "1.5"},
		{"-3D", syntax.Double, "-3"},
		{"1e5d", syntax.Double, "1e5"},
		{"2f", syntax.Single, "2"},
		{"2.25F", syntax.Single, "2.25"},
		{"2012010f-0101-0101-0101-456789abcdef", syntax.GUID, "2012010f-0101-0101-0101-456789abcdef"},

		{"''", syntax.String, ""},
		{"'O''Neil'", syntax.String, "O'Neil"},
		{"''''", syntax.String, "'"},
		{"'a\tb\nc'", syntax.String, "a\tb\nc"},
		{"'100%'", syntax.String, "100%"},
		{"'Grüße 🌍'", syntax.String, "Grüße 🌍"},

		{"01234567-89ab-CDEF-0123-456789abcdef", syntax.GUID, "01234567-89ab-CDEF-0123-456789abcdef"},
		{"abcdefab-89ab-cdef-0123-456789abcdef", syntax.GUID, "abcdefab-89ab-cdef-0123-456789abcdef"},
		{"20120101-0101-0101-0101-456789abcdef", syntax.GUID, "20120101-0101-0101-0101-456789abcdef"},

		{"2012-09-03", syntax.Date, "2012-09-03"},
		{"0000-01-01", syntax.Date, "0000-01-01"},
		{"-10000-04-01", syntax.Date, "-10000-04-01"},
		{"2000-02-29", syntax.Date, "2000-02-29"},
		{"12004-02-29", syntax.Date, "12004-02-29"},
		{"2012-09-03T12:53Z", syntax.DateTimeOffset, "2012-09-03T12:53Z"},
		{"2012-09-03t22:09:02z", syntax.DateTimeOffset, "2012-09-03T22:09:02Z"},
		{"2012-12-31T23:59:60.123456789012-01:30", syntax.DateTimeOffset, "2012-12-31T23:59:60.123456789012-01:30"},
		{"2012-09-03T12:53+01:00", syntax.DateTimeOffset, "2012-09-03T12:53+01:00"},
		{"11:22", syntax.TimeOfDay, "11:22"},
		{"23:59:59.999", syntax.TimeOfDay, "23:59:59.999"},

		{"duration'P6DT23H59M59.9999S'", syntax.Duration, "P6DT23H59M59.9999S"},
		{"Duration'-PT1M'", syntax.Duration, "-PT1M"},
		{"duration'P1D'", syntax.Duration, "P1D"},
		{"binary''", syntax.Bytes, ""},
		{"binary'Zg'", syntax.Bytes, "Zg"},
		{"binary'Zg=='", syntax.Bytes, "Zg=="},
		{"binary'Zm8='", syntax.Bytes, "Zm8="},
		{"binary'_-9v'", syntax.Bytes, "_-9v"},
		{"Sales.Pattern'Solid,Yellow,-42'", syntax.Enum, "Solid,Yellow,-42"},

		{"geography'SRID=0;Point(142.1 64.1)'", syntax.Geography, "SRID=0;Point(142.1 64.1)"},
		{"geometry'SRID=12345;LineString(142.1 64.1,3.14 2.78)'", syntax.Geometry, "SRID=12345;LineString(142.1 64.1,3.14 2.78)"},
		{"geometry'SRID=0;MultiPoint()'", syntax.Geometry, "SRID=0;MultiPoint()"},
		{"geometry'SRID=0;MultiLineString((1 1,2 2))'", syntax.Geometry, "SRID=0;MultiLineString((1 1,2 2))"},
		{"geometry'SRID=0;MultiPolygon(((1 1,2 2,1 1)))'", syntax.Geometry, "SRID=0;MultiPolygon(((1 1,2 2,1 1)))"},
		{"geometry'SRID=0;Polygon((1 1,1 1),(1 1,2 2,3 3,1 1))'", syntax.Geometry, "SRID=0;Polygon((1 1,1 1),(1 1,2 2,3 3,1 1))"},
		{"geometry'SRID=0;GeometryCollection(Point(1e1 -2 3 4))'", syntax.Geometry, "SRID=0;GeometryCollection(Point(1e1 -2 3 4))"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			l, err := syntax.ParseLiteral(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if l.Kind != tt.kind || l.Text != tt.text {
				t.Errorf("got %d %q, want %d %q", l.Kind, l.Text, tt.kind, tt.text)
			}
			if wantType := "Sales.Pattern"; tt.kind == syntax.Enum && l.Type != wantType {
				t.Errorf("got type %q, want %q", l.Type, wantType)
			}
			e, err := syntax.ParseFilter(tt.in, v40)
			if err != nil || tree(e) != tree(l) {
				t.Errorf("as an expression: %v", err)
			}
		})
	}
}

func TestLiteralsRejected(t *testing.T) {
	tests := []struct {
		in  string
		pos int
		msg string
	}{
		{"", 0, "expected a literal"},
		{"wrong", 0, "text must be in single quotes"},
		{"Null", 0, "expected a literal"},
		{"inf", 0, "expected a literal"},
		{"+INF", 0, "expected a literal"},
		{".1", 0, "expected a literal"},
		{"1.", 1, "a digit must follow the decimal point"},
		{"1e", 1, "a digit must follow the exponent"},
		{"-0.314e1e2", 8, "cannot follow -0.314e1"},
		{"2.5L", 3, "cannot follow 2.5"},
		{"9223372036854775808L", 19, "cannot follow"},
		{"5Lx", 2, "cannot follow 5L"},
		{"-INFd", 0, "expected a literal"},
		{"0x1F", 1, "cannot follow 0"},
		{"1_000", 1, "cannot follow 1"},
		{"'", 0, "no closing quote"},
		{"'O'Neil'", 3, "unexpected text"},
		{"01234567-89ab-cdef-456789abcdef", 8, "unexpected text"},
		{"01234567-89ab-cdef-0123-456789abcdef0", 36, "cannot follow"},
		{"2012-13-01", 0, "there is no day 2012-13-01"},
		{"2012-00-01", 0, "there is no day"},
		{"2012-04-31", 0, "there is no day"},
		{"2012-01-00", 0, "there is no day"},
		{"1900-02-29", 0, "there is no day"},
		{"2013-02-29", 0, "there is no day"},
		{"02012-01-01", 5, "unexpected text"},
		{"2012-09-03T24:00:00Z", 11, "expected a time of day"},
		{"2012-09-03T22:09:02", 19, "expected Z or an offset"},
		{"2012-09-03T22:09:02 01:00", 19, "the plus sent as %2B"},
		{"2012-09-03T22:09:02+1", 19, "expected an offset"},
		{"2012-09-03T22:09:02+01:60", 19, "expected an offset"},
		{"2012-09-03T22:09:02+01:000", 25, "cannot follow"},
		{"24:00:00", 2, "unexpected text"},
		{"11:60", 2, "unexpected text"},
		{"11:22:61", 5, "unexpected text"},
		{"11:22:33.1234567890123", 8, "cannot follow"},
		{"duration'P1Y'", 11, "not a valid duration"},
		{"duration'P'", 10, "not a valid duration"},
		{"duration'P1DT'", 13, "not a valid duration"},
		{"duration'PT1H2H'", 14, "not a valid duration"},
		{"duration'PT1.5H'", 14, "not a valid duration"},
		{"duration'PT1S2M'", 14, "not a valid duration"},
		{"duration'P1H'", 11, "not a valid duration"},
		{"duration'1D'", 9, "not a valid duration"},
		{"duration'PT'", 11, "not a valid duration"},
		{"duration'P1D1D'", 13, "not a valid duration"},
		{"binary'Z'", 8, "not a valid binary"},
		{"binary'Zh'", 9, "not a valid binary"},
		{"binary'Zm9v='", 11, "not a valid binary"},
		{"binary'Zm9$'", 10, "not a valid binary"},
		{"Sales.Pattern''", 14, "not a valid Sales.Pattern"},
		{"Sales.Pattern'a,'", 16, "not a valid Sales.Pattern"},
		{"Sales.Pattern'a b'", 15, "not a valid Sales.Pattern"},
		{"Sales.Pattern'+a'", 15, "not a valid Sales.Pattern"},
		{"Sales.Pattern'9223372036854775808'", 14, "not a valid Sales.Pattern"},
		{"Pattern'a'", 0, "qualified by its namespace"},
		{"X'1a2B'", 0, "write binary"},
		{"guid'x'", 0, "write the value without prefix"},
		{"datetime'x'", 0, "write 2012-09-03T00:00:00Z"},
		{"time'x'", 0, "a time of day"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			_, err := syntax.ParseLiteral(tt.in)
			wantError(t, err, tt.pos, "malformed", tt.msg)
		})
	}
}
