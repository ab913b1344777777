package cursor_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/payload"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestDecode gives for each type what the databases store it as, and what a
// client reads.
func TestDecode(t *testing.T) {
	t.Parallel()
	cents := edm.Type{Kind: edm.Decimal, Precision: 10, Scale: 2}
	variable := edm.Type{Kind: edm.Decimal, Scale: edm.VariableScale}
	tests := []struct {
		name string
		typ  edm.Type
		cell engine.Cell
		want string // "!" where the cell does not fit, which makes it null
	}{
		{"text", edm.Of(edm.String), text("Äpfel"), "Äpfel"},
		{"empty text", edm.Of(edm.String), engine.Cell{Kind: engine.Text}, ""},
		{"text stored as a number", edm.Of(edm.String), integer(-7), "-7"},
		{"integer", edm.Of(edm.Int32), integer(42), "42"},
		{"integer as text", edm.Of(edm.Int64), text("-9223372036854775808"), "-9223372036854775808"},
		{"integer as a whole real", edm.Of(edm.Int64), real(3), "3"},
		{"integer as a broken real", edm.Of(edm.Int64), real(3.5), "!"},
		{"integer beyond its type", edm.Of(edm.Int16), integer(40000), "!"},
		{"integer as words", edm.Of(edm.Int64), text("three"), "!"},
		{"boolean as an integer", edm.Of(edm.Boolean), integer(2), "true"},
		{"boolean as text", edm.Of(edm.Boolean), text("F"), "false"},
		{"boolean as a bit", edm.Of(edm.Boolean), blob("\x01"), "true"},
		{"boolean as words", edm.Of(edm.Boolean), text("maybe"), "!"},
		{"decimal gets its digits", cents, text("10.5"), "10.50"},
		{"decimal as an integer", cents, integer(-3), "-3.00"},
		{"decimal as a real", cents, real(0.1), "0.10"},
		{"decimal of variable scale", variable, text("10.500"), "10.5"},
		{"decimal of variable scale, whole", variable, text("10.000"), "10"},
		{"decimal as an exponent", cents, text("1e5"), "!"},
		{"decimal as a negative zero", variable, real(math.Copysign(0, -1)), "0"},
		{"decimal that is no number", cents, real(math.NaN()), "!"},
		{"double", edm.Of(edm.Double), text("1.5e3"), "1500"},
		{"double, infinite", edm.Of(edm.Double), real(math.Inf(-1)), "-INF"},
		{"guid as bytes", edm.Of(edm.Guid), blob("\x0a\x0b\x0c\x0d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"), "0a0b0c0d-0000-0000-0000-000000000001"},
		{"guid in capitals", edm.Of(edm.Guid), text("0A0B0C0D-0000-0000-0000-00000000000F"), "0a0b0c0d-0000-0000-0000-00000000000f"},
		{"guid cut short", edm.Of(edm.Guid), text("0a0b"), "!"},
		{"instant as seconds", edm.Of(edm.DateTimeOffset), integer(-1), "1969-12-31T23:59:59Z"},
		{"instant with a space", edm.Of(edm.DateTimeOffset), text("2024-01-15 10:30:00"), "2024-01-15T10:30:00Z"},
		{"instant as words", edm.Of(edm.DateTimeOffset), text("soon"), "!"},
		{"date", edm.Of(edm.Date), text("2024-02-29"), "2024-02-29"},
		{"date as seconds", edm.Of(edm.Date), integer(86400), "1970-01-02"},
		{"time of day as seconds", edm.Of(edm.TimeOfDay), integer(3661), "01:01:01"},
		{"duration as microseconds", edm.Of(edm.Duration), integer(-90_000_000), "-PT1M30S"},
		{"duration as text", edm.Of(edm.Duration), text("P1DT2H"), "P1DT2H"},
		{"duration as words", edm.Of(edm.Duration), text("long"), "!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newThings(t, tt.typ)
			rows, err := s.reader(&database{rows: [][]engine.Cell{{integer(1), tt.cell}}}).Open(t.Context(), s.page(0, 9, 0))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			if !rows.Next() {
				t.Fatalf("the error is %v", rows.Err())
			}
			if rows.Row()[1].Null != (tt.want == "!") {
				t.Fatalf("null is %t", rows.Row()[1].Null)
			}
			if tt.want == "!" {
				return
			}
			if got := string(payload.AppendText(nil, &rows.Row()[1], &tt.typ)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestDecodeNull holds that null stays null and leaves nothing of the row before.
func TestDecodeNull(t *testing.T) {
	t.Parallel()
	for k := edm.Boolean; k < edm.Stream; k++ {
		if k == edm.Null {
			continue
		}
		s := newThings(t, edm.Of(k))
		rows, err := s.reader(&database{rows: [][]engine.Cell{{integer(1), {}}}}).Open(t.Context(), s.page(0, 9, 0))
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() || !rows.Row()[1].Null || rows.Row()[1].Bytes != nil {
			t.Errorf("%s is not null; error %v", k, rows.Err())
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDecodeFaults: a value that does not fit its type is the client's fault where the client computed it, and a
// defect of the data where it is stored.
func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	for name, computed := range map[string]bool{"stored": false, "computed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newThings(t, edm.Of(edm.Date))
			s.value.Nullable = false
			p := s.page(0, 9, 0)
			if column := &p.Top.Columns[1]; computed {
				column.Expr = &plan.Call{Name: "add", Args: []plan.Expr{column.Expr, column.Expr}, T: column.T}
			}
			rows, err := s.reader(&database{rows: [][]engine.Cell{{integer(1), text("12345-01-01")}}}).Open(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			var fault *plan.Error
			if rows.Next() || rows.Err() == nil || errors.As(rows.Err(), &fault) != computed || computed && fault.Kind != plan.Malformed {
				t.Errorf("the error is %v", rows.Err())
			}
			if where := "Things(1)/Value: the stored value is no Date"; !computed && !strings.Contains(rows.Err().Error(), where) {
				t.Errorf("the error is %v, want %s", rows.Err(), where)
			}
		})
	}
}
