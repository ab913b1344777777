package sqlsource_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// storedColumn is a column with the values that it keeps, parted by blanks, and those that it would alter. "_" is a blank in a value.
type storedColumn struct{ declared, as, keeps, alters string }

const (
	someGUIDs    = "0a0b0c0d-0000-0000-0000-00000000000f"
	someInstants = "2024-02-29T23:59:59.123456Z 0001-01-01T00:00:00Z 9999-12-31T23:59:59Z 1969-12-31T23:59:59.5Z 2024-10-27T01:30:00Z 2024-10-27T00:30:00Z"
	someDays     = "2024-02-29 0001-01-01 9999-12-31"
	someClocks   = "00:00:00 23:59:59.999999 12:30:00.5"
	someSpans    = "PT0S P1DT2H3M4S -PT1H PT59M"
	someFloats   = "0.1 -1.5E300 1E-300 9007199254740993 0 5"
	someWhole    = "0 -1 9223372036854775807 -9223372036854775808"
	someTexts    = "a Straße 𝄞 'O''Neil' a_ _a 007 1e5 null? \"x\\ -- $1 ?"
)

func storedColumns(dialect string) []storedColumn {
	switch dialect {
	case "sqlite":
		return []storedColumn{
			{"INTEGER", "", someWhole, ""},
			{"BOOLEAN", "", "true false", ""},
			{"DECIMAL(20,4)", "", "0 12.5 -12.3400 9007199254740993 123456789.1234 0.1", "9007199254740993.5 1234567890123456.7891"},
			{"REAL", "Decimal", "0 12.5 9007199254740991", "9007199254740993"},
			{"REAL", "", someFloats + " INF -INF", "NaN"},
			{"NUMERIC", "Double", "0.1 5 1E18", "NaN"},
			{"VARCHAR(80)", "", someTexts, ""},
			{"STRING", "", "a Straße a1 1_a 5 -7 1.5", "007 1e5 _5 5.0 +5"},
			{"JSON", "", `{"a":1} [] 12`, "1.0"},
			{"UUID", "", someGUIDs, ""},
			{"BLOB", "", "00ff 61", ""},
			{"DATE", "", someDays, ""},
			{"TIME", "", someClocks, ""},
			{"DATETIME", "", someInstants, ""},
			{"INTEGER", "DateTimeOffset", "2024-02-29T23:59:59Z 1969-12-31T23:59:59Z", "2024-02-29T23:59:59.5Z"},
			{"INTEGER", "Duration", someSpans, ""},
			{"REAL", "Duration", someSpans + " PT0.5S -PT1.000001S", ""},
			{"TEXT", "Duration", someSpans + " PT0.5S", ""},
			{"TEXT", "Int32", "0 -5 2147483647", ""},
			{"TEXT", "Decimal", "0 12.5 9007199254740993.5", ""},
			{"TEXT", "Double", "0.1 1E+300", "INF NaN"},
			{"TEXT", "Boolean", "true false", ""},
			{"TEXT", "Guid", someGUIDs, ""},
			{"TEXT", "DateTimeOffset", "2024-02-29T23:59:59.5Z", ""},
			{"", "String", someTexts, ""},
		}
	case "postgres":
		return []storedColumn{
			{"smallint", "", "0 -32768 32767", ""},
			{"integer", "", "0 -2147483648", ""},
			{"bigint", "", someWhole, ""},
			{"oid", "", "0 4294967295", ""},
			{"boolean", "", "true false", ""},
			{"smallint", "Boolean", "true false", ""},
			{"numeric(20,4)", "", "0 12.5 -12.3400 9007199254740993.5 1234567890123456.7891", ""},
			{"numeric", "", "0 12.5 -0.00000000000000000000001 123456789012345678901234567890.5", ""},
			{"money", "", "0 12.50 -3", "0.125"},
			{"integer", "Decimal", "0 12", "12.5"},
			{"real", "", "0.5 -1.5", ""},
			{"real", "Double", "0.5", "0.1"},
			{"double precision", "", someFloats + " INF -INF NaN", ""},
			{"integer", "Double", "5 -1", "0.5"},
			{"text", "", someTexts, ""},
			{"varchar(80)", "", someTexts, ""},
			{"char(5)", "", "a abcde", "a_"},
			{"bit(3)", "", "101", ""},
			{"name", "", "a b", strings.Repeat("x", 64)},
			{"mood", "", "sad happy", ""},
			{"jsonb", "", `{"a":_1} []`, ""},
			{"inet", "", "10.0.0.1/32 ::1/128", ""},
			{"integer", "String", "5 -7", "007 5.0"},
			{"uuid", "", someGUIDs, ""},
			{"bytea", "", "00ff 61", ""},
			{"date", "", someDays, ""},
			{"time", "", someClocks, ""},
			{"time(0)", "", "23:59:59", "12:00:00.5"},
			{"timestamptz", "", someInstants, ""},
			{"timestamp", "", someInstants, ""},
			{"timestamp(3)", "", "2024-02-29T23:59:59.123Z", "2024-02-29T23:59:59.1234Z"},
			{"bigint", "DateTimeOffset", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.5Z"},
			{"interval", "", someSpans + " PT0.000001S P10000D", ""},
			{"bigint", "Duration", someSpans, "PT0.5S"},
			{"numeric(12,3)", "Duration", someSpans + " PT0.5S", "PT0.0005S"},
			{"double precision", "Duration", someSpans + " PT0.5S", ""},
			{"text", "Int32", "0 -5", ""},
			{"text", "Decimal", "0 9007199254740993.5", ""},
		}
	}
	return []storedColumn{
		{"TINYINT", "", "0 -128 127", ""},
		{"TINYINT UNSIGNED", "", "0 255", ""},
		{"SMALLINT UNSIGNED", "", "0 65535", ""},
		{"INT", "", "0 -2147483648", ""},
		{"BIGINT", "", someWhole, ""},
		{"BIGINT UNSIGNED", "", "0 18446744073709551615", ""},
		{"BIT(9)", "", "0 511", ""},
		{"YEAR", "", "0 1901 2155", "1900 2156"},
		{"BOOLEAN", "", "true false", ""},
		{"BIT(1)", "", "true false", ""},
		{"DECIMAL(20,4)", "", "0 12.5 -12.3400 9007199254740993.5 1234567890123456.7891", ""},
		{"FLOAT", "", "0.5 -1.5", ""},
		{"FLOAT", "Double", "0.5", "0.1"},
		{"FLOAT(7,2)", "", "0.5", "0.125"},
		{"DOUBLE", "", someFloats, "INF NaN"},
		{"TEXT", "", someTexts, ""},
		{"VARCHAR(80)", "", someTexts, ""},
		{"CHAR(5)", "", "a abcde", "a_"},
		{"ENUM('sad','happy')", "", "sad happy", ""},
		{"JSON", "", `{"a":1} []`, ""},
		{"UUID", "", someGUIDs, ""},
		{"BINARY(16)", "Guid", someGUIDs, ""},
		{"CHAR(36)", "Guid", someGUIDs, ""},
		{"BLOB", "", "00ff 61", ""},
		{"BINARY(2)", "", "00ff", "61"},
		{"DATE", "", someDays, ""},
		{"TIME(6)", "", someClocks, ""},
		{"TIME", "", "23:59:59", "12:00:00.5"},
		{"DATETIME(6)", "", someInstants, ""},
		{"DATETIME", "", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.5Z"},
		{"TIMESTAMP(6) NULL", "", "2024-02-29T23:59:59.5Z 1970-01-01T00:00:01Z", "1970-01-01T00:00:00Z 2040-01-01T00:00:00Z"},
		{"BIGINT", "DateTimeOffset", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.5Z"},
		{"TIME(6)", "Duration", someSpans + " PT0.000001S PT838H59M59S", "P40D"},
		{"BIGINT", "Duration", someSpans, "PT0.5S"},
		{"DECIMAL(12,3)", "Duration", someSpans + " PT0.5S", "PT0.0005S"},
		{"DOUBLE", "Duration", someSpans + " PT0.5S", ""},
		{"VARCHAR(80)", "Int32", "0 -5", ""},
	}
}

// A value that fits a column is read as it was written; one that the column would alter does not fit.
func TestStoredValuesComeBack(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			s := sqlsource.EntitySet{Name: "Values", Table: "vals", Write: &sqlsource.Write{Create: true, Update: true}}
			script := "CREATE TABLE vals (id BIGINT PRIMARY KEY"
			columns := storedColumns(dialect)
			for i, c := range columns {
				name := columnName(i)
				script += ", " + name + " " + c.declared
				if c.as != "" {
					s.Properties = append(s.Properties, sqlsource.Property{Column: name, Type: c.as})
				}
			}
			script += ")"
			if dialect == "postgres" {
				script = "CREATE TYPE mood AS ENUM ('sad', 'happy');\n" + script
			}
			params := ""
			if dialect == "mysql" {
				params = "&time_zone=%27%2B05:45%27&sql_mode=%27ANSI_QUOTES,NO_BACKSLASH_ESCAPES%27"
			}
			w := writer{t, open(t, databaseWith(t, dialect, params, script), sqlsource.Config{EntitySets: []sqlsource.EntitySet{s}}), tenant(1)}
			set := w.Model().Set("Values")
			for i, c := range columns {
				path := []*edm.Property{set.Type.Property(columnName(i))}
				for text := range strings.FieldsSeq(c.keeps) {
					w.comesBack(path, c, strings.ReplaceAll(text, "_", " "))
				}
				for text := range strings.FieldsSeq(c.alters) {
					a := []write.Assignment{{Path: path, Value: storedValue(t, path[0].Type, strings.ReplaceAll(text, "_", " "))}}
					var r *write.Refusal
					if err := w.Fits(&write.Change{Set: set}, a); !errors.As(err, &r) || r.Kind != write.Unfit || r.Properties[0][0] != path[0] {
						t.Errorf("%s as %s takes %q: %v", c.declared, path[0].Type, text, err)
					}
					w.isUnfit(a)
				}
			}
		})
	}
}

func columnName(i int) string { return "c" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

func storedValue(t *testing.T, of edm.Type, text string) plan.Value {
	t.Helper()
	if of.Kind == edm.Binary {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Value{Bytes: b}
	}
	if of.Kind.Floating() {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Value{Float: f}
	}
	return valueOf(t, of, text)
}

// comesBack writes a value into a row of its own and compares it with what the row then has.
func (w writer) comesBack(path []*edm.Property, c storedColumn, text string) {
	t := w.t.(*testing.T)
	t.Helper()
	want := storedValue(t, path[0].Type, text)
	tx, err := w.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Close() }()
	change := w.change("POST Values id=1", "")
	change.Values = append(change.Values, write.Assignment{Path: path, Value: want})
	rows, _, err := tx.Apply([]*write.Change{change})
	if err != nil {
		t.Errorf("%s as %s refuses %q: %v", c.declared, path[0].Type, text, err)
		return
	}
	for _, f := range change.After.Plan.Top.Fields {
		if f.Name != path[0].Name {
			continue
		}
		got, of := rows.Row()[f.Column], path[0].Type
		if a, b := value(got, of), value(want, of); a != b && !(of.Kind == edm.Decimal && plainOf(a) == plainOf(b)) {
			t.Errorf("%s as %s shows %q for %q", c.declared, of, a, b)
		}
	}
}

// isUnfit tries to write a value that does not fit.
func (w writer) isUnfit(values []write.Assignment) {
	w.t.Helper()
	for _, request := range []string{"POST Values id=1", "PATCH Values(1) id=1"} {
		tx, err := w.Begin(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		change := w.change(request, "*")
		change.Values = append(change.Values, values...)
		if strings.HasPrefix(request, "PATCH") {
			_, _, err = tx.Apply([]*write.Change{w.change("POST Values id=1", "")})
		}
		if err == nil {
			_, _, err = tx.Apply([]*write.Change{change})
		}
		if err == nil || refusalOf(err) != "unfit" {
			w.t.Errorf("%s: %v", request, err)
		}
		_ = tx.Close()
	}
}

func plainOf(decimal string) string {
	plain, _ := scalar.PlainDecimal(decimal)
	return plain
}
