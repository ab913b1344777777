package odatatest_test

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// fuzzTables are two tables of awkward values: nulls, empty and blank text, combining and astral characters, decimals
// and integers at the edges, doubles that no decimal has, times before 1970 and at both ends of the range.
func fuzzTables() []odatatest.Table {
	return []odatatest.Table{
		{
			Name: "vals", Key: []string{"id"},
			Columns: []string{
				"id big!", "n big", "m big", "d dec", "e dec", "f dbl", "g dbl", "s str", "t str", "b bool", "day date", "at ts", "then ts",
				"clock time", "uid uuid", "bin bin", "status big!", "up_id big", "span str", "due str",
			},
			Rows: [][]any{
				{1, 0, 1, "0", "1", 0.0, 1.0, "", " ", true, "2024-02-29", "2024-02-29 23:59:59.5", "2024-01-01 00:00:00", "00:00:00", guid(1), []byte{0, 255}, 0, nil, "PT0S", "2024-02-29"},
				{2, int64(9223372036854775807), -1, "99999999.9999", "-0.0001", 0.1, -0.5, "a", "A", false, "1969-12-31", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "23:59:59.999999", guid(0xff), nil, 3, 1, "P1DT12H", "1969-12-31"},
				{3, int64(-9223372036854775807), 3, "-99999999.9999", "0.5", 1e20, 2.5, "Ä", "ä", nil, "0001-01-01", "0001-01-01 00:00:00", "2000-02-29 12:00:00.000001", "12:30:45.5", nil, nil, 1, 1, "-PT0.000001S", "0001-01-01"},
				{4, 2, 2, "0.5", "-0.5", -2.5, 1e-7, "Zo\u00eb", "Zoe\u0308", true, "9999-12-31", "9999-12-31 23:59:59.999999", "9999-01-01 00:00:00", "00:00:00.000001", guid(1), []byte{}, 2, 2, "PT36H", "9999-12-31"},
				{5, -7, 2, "2.5", "3", 9007199254740993, 3, "𝄞 clef", "clef", false, "2000-12-31", "2000-12-31 12:00:00", "2000-12-31 12:00:00", "06:07:08", guid(2), []byte("a"), 9, 4, "soon", "2023-02-29"},
				{6, 9007199254740993, 10, "10.4999", "10.5", 1.5, -1.5, "  b\t", "b", nil, nil, nil, nil, nil, nil, nil, 0, 99, nil, "2000-12-31 "},
				{7, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil, nil},
				{8, 100, nil, "1.1", nil, 100.25, nil, "100%", nil, true, "2023-03-01", nil, "2023-03-01 01:02:03", nil, nil, nil, 2, 8, "P9999999DT23H59M59.999999S", "2024-02-29"},
				{9, nil, 5, nil, "7.25", nil, 0.3, "a_b'c\\d", "it's", false, nil, "2024-02-29 00:00:00", nil, "23:00:00", nil, nil, 1, 5, "", "1900-02-28"},
				{10, 12, -12, "12", "-12.3456", 12, 1e300, "aaa", "aa", true, "2024-12-31", "2024-12-31 23:59:59", "2024-12-30 23:59:59", "01:00:00", guid(3), nil, 0, 3, "-P1D", "later"},
			},
		},
		{
			Name: "parts", Key: []string{"id"},
			Columns: []string{"id big!", "val_id big", "n big", "m big", "d dec", "e dec", "f dbl", "g dbl", "s str", "t str", "b bool", "day date", "at ts", "then ts", "clock time", "uid uuid", "bin bin", "status big!", "span str", "due str"},
			Rows: [][]any{
				{1, 1, 1, 2, "1.5", "2", 1.5, 2.0, "a", "b", true, "2024-01-01", "2024-01-01 00:00:00", "2024-01-02 00:00:00", "01:02:03", guid(1), nil, 1, "PT1H30M", "1999-12-31"},
				{2, 1, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, 0, nil, nil},
				{3, 2, -1, 0, "0", "-1", 0.0, -1.0, "", "A", false, "1999-12-31", "1999-12-31 00:00:00", nil, "00:00:00", nil, []byte("x"), 3, "1:00", "2024-02-30"},
				{4, 5, 7, 7, "0.1", "0.2", 0.1, 0.2, "12", "1.5e1", true, nil, "2024-02-29 12:00:00", "2024-02-29 12:00:00", nil, guid(4), nil, 2, "-PT90.5S", "2024-02-29"},
				{5, nil, 3, 4, "3", "4", 3.0, 4.0, "c", "d", true, nil, nil, nil, nil, nil, nil, 0, "PT1S", nil},
			},
		},
	}
}

func guid(n byte) string {
	const hex = "0123456789abcdef"
	return "0a0b0c0d-0000-0000-0000-0000000000" + string(hex[n>>4]) + string(hex[n&15])
}

func fuzzMapping() sqlsource.Config {
	status := []sqlsource.Property{
		{Column: "status", Name: "status", Type: "Status"}, {Column: "span", Name: "span", Type: "Edm.Duration"}, {Column: "due", Name: "due", Type: "Edm.Date"},
	}
	return sqlsource.Config{
		Namespace: "Test", Guard: edm.GuardNone,
		EntitySets: []sqlsource.EntitySet{
			{Name: "Values", Table: "vals", Properties: status, Search: []string{"s", "t"}, Navigations: []sqlsource.Navigation{
				{Name: "up", To: "Values", On: map[string]string{"up_id": "id"}},
				{Name: "parts", To: "Parts", Many: true, On: map[string]string{"id": "val_id"}},
			}},
			{Name: "Parts", Table: "parts", Properties: status},
		},
		Enums: []sqlsource.Enum{{Name: "Status", Flags: true, Members: map[string]int64{"None": 0, "New": 1, "Sale": 2}}},
	}
}

// fuzzProperties are those that both tables have.
func fuzzProperties() map[edm.Kind][]string {
	return map[edm.Kind][]string{
		edm.Boolean: {"b"}, edm.Int64: {"id", "n", "m"}, edm.Decimal: {"d", "e"}, edm.Double: {"f", "g"}, edm.String: {"s", "t"},
		edm.Date: {"day", "due"}, edm.Duration: {"span"}, edm.DateTimeOffset: {"at", "then"}, edm.TimeOfDay: {"clock"}, edm.Guid: {"uid"}, edm.Binary: {"bin"}, edm.Enum: {"status"},
	}
}

// fuzzConstants are literals, some of them in unusual forms.
func fuzzConstants() map[edm.Kind][]string {
	return map[edm.Kind][]string{
		edm.Boolean:        {"true", "false", "null"},
		edm.Int64:          {"0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808", "9007199254740993", "-4611686018427387904"},
		edm.Decimal:        {"0.5", "-0.5", "1.10", "99999999.9999", "0.0001", "3.3333333333", "12345678901234567890.5", "-0.00000000000000000007", "99999999999999999999999999999999999.9", "0.000000000000000000000000000001"},
		edm.Double:         {"1e0", "-2.5e0", "1e-7", "1e20", "0e0", "5e-1", "INF", "-INF", "NaN", "5e-324", "-1.5e308", "4503599627370497e0", "-0e0"},
		edm.String:         {"''", "' '", "'a'", "'A'", "'ä'", "'e\u0308'", "'𝄞'", "'it''s'", "'%25'", "'\\'", "'7'", "'-1.5'", "'2024-02-29'", "'10:11:12.5'", "'PT1H'"},
		edm.Date:           {"2024-02-29", "1969-12-31", "0001-01-01", "9999-12-31"},
		edm.DateTimeOffset: {"2024-02-29T23:59:59.5Z", "1969-12-31T23:59:59Z", "2024-03-01T01:00:00%2B14:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2000-02-29T12:00:00.0000011Z"},
		edm.TimeOfDay:      {"00:00:00", "23:59:59.999999", "12:30", "06:07:08.5", "06:07:07.9999999"},
		edm.Duration:       {"duration'PT0S'", "duration'P1D'", "duration'-PT1H30M'", "duration'PT0.000001S'", "duration'P1DT12H'", "duration'PT36H'", "duration'-P3600000D'", "duration'P106751991DT4H54.775807S'", "duration'-PT0.0000015S'"},
		edm.Guid:           {guid(1), "0A0B0C0D-0000-0000-0000-0000000000FF", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
		edm.Binary:         {"binary'AP8='", "binary''", "binary'YQ'"},
		edm.Enum:           {"'New'", "'New,Sale'", "Test.Status'Sale'", "'9'"},
	}
}
