package engine

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// registerNumbers adds what SQLite cannot compute by itself: decimals of more digits than a double has.
//
//	ves_compute('name:Result:Kind,Kind', a, b)  a function of the catalogue, by its reference implementation
//	ves_sortkey(x)                              a text that orders as the decimal x does
//
// A decimal is an integer, a real (its shortest notation counts), or text; a double is a real; a duration is an integer, microseconds. What a type cannot hold is null.
func registerNumbers(conn *conn) error {
	calls := map[string]*computation{}
	err := conn.Function("ves_compute", -1, func(args []sqlite3.Value) (sqlite3.Value, error) {
		c := calls[string(args[0].Bytes())]
		if c == nil {
			var err error
			if c, err = compile(args[0].Text()); err != nil {
				return sqlite3.Null(), err
			}
			calls[args[0].Text()] = c
		}
		return c.result(args[1:])
	})
	if err != nil {
		return err
	}
	return conn.Function("ves_sortkey", 1, func(args []sqlite3.Value) (sqlite3.Value, error) {
		v := operand(args[0], edm.Decimal)
		if v.Null {
			return sqlite3.Null(), nil
		}
		return sqlite3.Text(scalar.DecimalKey(string(v.Bytes))), nil
	})
}

// computation is a call whose arguments come later.
type computation struct {
	kinds  []edm.Kind
	result func([]sqlite3.Value) (sqlite3.Value, error)
}

func compile(text string) (*computation, error) {
	name, rest, _ := strings.Cut(text, ":")
	result, list, _ := strings.Cut(rest, ":")
	call := &plan.Call{Name: name, T: edm.Of(edm.PrimitiveKind(result))}
	c := &computation{}
	for _, k := range strings.Split(list, ",") {
		c.kinds = append(c.kinds, edm.PrimitiveKind(k))
		call.Args = append(call.Args, &plan.Literal{T: edm.Of(edm.PrimitiveKind(k))})
	}
	eval, err := function.Lookup(name).Compile(call)
	if err != nil {
		return nil, err
	}
	values := make([]plan.Value, len(c.kinds)) // connections are not shared between goroutines
	c.result = func(args []sqlite3.Value) (sqlite3.Value, error) {
		for i, k := range c.kinds {
			values[i] = operand(args[i], k)
		}
		v, err := eval(values)
		if err != nil {
			return sqlite3.Null(), nil //nolint:nilerr // what leaves the range of its type is null within a row
		}
		return computed(v, call.T.Kind), nil
	}
	return c, nil
}

// operand reads a number of SQLite as a value of a kind; null where it is none.
func operand(v sqlite3.Value, k edm.Kind) plan.Value {
	null := plan.Value{Null: true}
	switch {
	case v.Kind() == sqlite3.KindNull:
		return null
	case k.Floating():
		if v.Kind() != sqlite3.KindText {
			return plan.Value{Float: v.Float()}
		}
		f, err := strconv.ParseFloat(v.Text(), 64)
		return plan.Value{Float: f, Null: err != nil}
	case k == edm.Duration:
		return plan.Value{Bytes: []byte(scalar.FormatMicros(v.Int()))}
	case k != edm.Decimal:
		return plan.Value{Int: v.Int()}
	case v.Kind() == sqlite3.KindFloat:
		text, ok := scalar.DecimalOf(v.Float())
		return plan.Value{Bytes: []byte(text), Null: !ok}
	}
	text, ok := scalar.PlainDecimal(v.Text())
	return plan.Value{Bytes: []byte(text), Null: !ok}
}

// computed writes a value for SQLite.
func computed(v plan.Value, k edm.Kind) sqlite3.Value {
	switch {
	case v.Null:
		return sqlite3.Null()
	case k.Floating():
		return sqlite3.Float(v.Float)
	case k == edm.Decimal:
		if n, whole := wholeNumber(v); whole {
			return sqlite3.Int(n)
		}
		return sqlite3.Text(string(v.Bytes))
	case k == edm.String:
		return sqlite3.Text(string(v.Bytes))
	case k == edm.Duration:
		n, _ := scalar.Micros(string(v.Bytes)) // values have this form
		return sqlite3.Int(n)
	}
	return sqlite3.Int(v.Int)
}

// wholeNumber is a decimal as an integer of SQLite, where it is one.
func wholeNumber(v plan.Value) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(v.Bytes), 10, 64)
	return n, err == nil
}
