package column_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/column"
)

func TestKind(t *testing.T) {
	for name, want := range map[string]column.Kind{
		"int8": column.Int, "bigint(20) unsigned": column.Int, "unsigned big int": column.Int, "integer": column.Int,
		"tinyint(1)": column.Bool, "tinyint(4)": column.Int, "bool": column.Bool, "bit(1)": column.Bool,
		"double precision": column.Float, "float8": column.Float, "numeric": column.Decimal, "decimal(10,2)": column.Decimal,
		"timestamptz": column.Time, "datetime(6)": column.Time, "date": column.Date, "time": column.Text,
		"uuid": column.UUID, "binary(16)": column.Bytes, "bytea": column.Bytes, "varchar(255)": column.Text,
		"citext": column.Text, "interval": column.Text, "point": column.Text, "_int4": column.Text, "": column.Text,
	} {
		if got := (column.Column{Type: name}).Kind(); got != want {
			t.Errorf("%q is of kind %d, want %d", name, got, want)
		}
	}
}

func TestValue(t *testing.T) {
	moment := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	for _, c := range []struct {
		kind     column.Kind
		in, want any
		text     string
	}{
		{column.Int, int64(-5), int64(-5), "-5"},
		{column.Int, uint64(math.MaxUint64), "18446744073709551615", "18446744073709551615"},
		{column.Int, uint64(5), int64(5), "5"},
		{column.Int, nil, nil, ""},
		{column.Bool, int64(1), true, "true"},
		{column.Bool, []byte{0}, false, "false"},
		{column.Bool, []byte{1}, true, "true"},
		{column.Bool, "False", false, "false"},
		{column.Bool, "f", false, "false"},
		{column.Bool, "t", true, "true"},
		{column.Float, int64(2), 2.0, "2"},
		{column.Float, float32(0.5), 0.5, "0.5"},
		{column.Decimal, 1e21, "1000000000000000000000", "1000000000000000000000"},
		{column.Decimal, []byte("12.30"), "12.30", "12.30"},
		{column.Decimal, int64(7), "7", "7"},
		{column.Text, []byte("x"), "x", "x"},
		{column.Text, int64(7), int64(7), "7"},
		{column.Bytes, "ab", []byte("ab"), "6162"},
		{column.Bytes, []byte{}, []byte{}, ""},
		{column.Time, moment, "2026-01-02T02:04:05.0000006Z", "2026-01-02T02:04:05.0000006Z"},
		{column.Time, time.Time{}, nil, ""},
		{column.Time, "whenever", "whenever", "whenever"},
		{column.Date, moment, "2026-01-02", "2026-01-02"},
	} {
		if diff := cmp.Diff(c.want, c.kind.Value(c.in)); diff != "" {
			t.Errorf("kind %d, %v: %s", c.kind, c.in, diff)
		}
		if got := c.kind.Text(c.in); got != c.text {
			t.Errorf("kind %d, %v: text %q, want %q", c.kind, c.in, got, c.text)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		typ, text string
		want      any
	}{
		{"int8", "-7", int64(-7)},
		{"int8", "+7", nil},
		{"int8", "07", nil},
		{"int8", "", nil},
		{"int4", "2147483647", int64(math.MaxInt32)},
		{"int4", "2147483648", nil},
		{"int2", "32768", nil},
		{"bigint(20) unsigned", "2147483648", int64(1 << 31)},
		{"uuid", "0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99", "0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99"},
		{"uuid", "0B6F8C1E-6D0A-4C8E-9D5E-2F1F0C3B7A99", nil},
		{"uuid", "0b6f8c1e6d0a4c8e9d5e2f1f0c3b7a99", nil},
		{"binary(2)", "00ff", []byte{0, 0xff}},
		{"binary(2)", "0", nil},
		{"binary(2)", "00FF", nil},
		{"varchar(5)", "ada", "ada"},
		{"varchar(5)", "nul\x00", nil},
		{"varchar(5)", "bad\xff", nil},
		{"numeric", "1.50", "1.50"},
		{"numeric", "x", nil},
		{"numeric", "1e5", nil},
		{"bool", "true", nil},
		{"date", "2026-01-02", nil},
	} {
		got, ok := column.Column{Type: c.typ}.Parse(c.text)
		if ok != (c.want != nil) {
			t.Errorf("%s %q: fits is %v", c.typ, c.text, ok)
		} else if diff := cmp.Diff(c.want, got); ok && diff != "" {
			t.Errorf("%s %q: %s", c.typ, c.text, diff)
		}
	}
}

// What is parsed reads as it was written, so that one key never has two texts.
func FuzzParse(f *testing.F) {
	types := []string{"int8", "int4", "uuid", "binary(16)", "varchar(255)"}
	for _, text := range []string{"1", "-0", "00", "ff", "0b6f8c1e-6d0a-4c8e-9d5e-2f1f0c3b7a99", "\x00", "é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, typ := range types {
			c := column.Column{Type: typ}
			if v, ok := c.Parse(text); ok && c.Kind().Text(v) != text {
				t.Errorf("%s: %q reads as %q", typ, text, c.Kind().Text(v))
			}
		}
	})
}

// What a column cannot hold is refused before the statement, with its name.
func TestParamRefuses(t *testing.T) {
	moment := func(at time.Time) any { return at }
	for _, c := range []struct {
		column column.Column
		value  any
		fits   bool
	}{
		{column.Column{Name: "n", Type: "int8"}, "abc", false},
		{column.Column{Name: "n", Type: "int8"}, int64(math.MaxInt64), true},
		{column.Column{Name: "n", Type: "int8"}, int64(math.MinInt64), true},
		{column.Column{Name: "n", Type: "int4"}, int64(math.MaxInt32), true},
		{column.Column{Name: "n", Type: "int4"}, int64(math.MaxInt32 + 1), false},
		{column.Column{Name: "n", Type: "int2"}, int64(math.MinInt16 - 1), false},
		{column.Column{Name: "n", Type: "int2"}, int64(math.MinInt16), true},
		{column.Column{Name: "n", Type: "varchar", Length: 3}, "üüü", true},
		{column.Column{Name: "n", Type: "varchar", Length: 3}, "üüü ", false},
		{column.Column{Name: "n", Type: "varchar", Length: 3}, int64(1234), false},
		{column.Column{Name: "n", Type: "varchar", Length: 3}, []byte("1234"), false},
		{column.Column{Name: "n", Type: "varchar"}, "a\x00b", false},
		{column.Column{Name: "n", Type: "varbinary(3)", Length: 3}, []byte("1234"), false},
		{column.Column{Name: "n", Type: "varbinary(3)", Length: 3}, []byte{0, 1, 2}, true},
		{column.Column{Name: "n", Type: "timestamp"}, "2026-01-31T13:00:00.5+01:00", true},
		{column.Column{Name: "n", Type: "timestamp"}, "yesterday", false},
		{column.Column{Name: "n", Type: "date"}, "2026-01-31", true},
		{column.Column{Name: "n", Type: "date"}, "2026-02-31", false},
	} {
		_, err := c.column.Param(c.value, moment)
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), `column "n"`) {
			t.Errorf("%s with the length %d takes %v: %v", c.column.Type, c.column.Length, c.value, err)
		}
	}
}
