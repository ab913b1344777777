package engine

import (
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// registerNumbers adds what SQLite cannot compute by itself: decimals of more digits than a double has, and NaN.
//
//	ves_compute('name:Result:Kind,Kind', a, b)  a function of the catalogue, by its reference implementation
//	ves_sortkey(x)                              a text that orders as the decimal x does
//	ves_unequal(x)                              the double x, or for NaN a text that equals no double, nor 'NaN'
//
// A decimal is an integer, a real (its shortest notation counts), or text; a double is a real, and NaN, which SQLite
// takes for null, is the text 'NaN'; a duration is an integer, microseconds. What a type cannot hold is null.
func registerNumbers(conn *conn) error {
	calls := map[string]*computation{}
	err := conn.CreateFunction("ves_compute", &sqlite.FunctionImpl{
		NArgs: -1, Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			text := args[0].Text()
			c := calls[text]
			if c == nil {
				var err error
				if c, err = compile(text); err != nil {
					return sqlite.Value{}, err
				}
				calls[strings.Clone(text)] = c
			}
			return c.result(args[1:])
		},
	})
	if err != nil {
		return err
	}
	err = conn.CreateFunction("ves_unequal", &sqlite.FunctionImpl{
		NArgs: 1, Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			if args[0].Type() == sqlite.TypeText {
				return sqlite.TextValue("not a number"), nil
			}
			return args[0], nil
		},
	})
	if err != nil {
		return err
	}
	return conn.CreateFunction("ves_sortkey", &sqlite.FunctionImpl{
		NArgs: 1, Deterministic: true,
		Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			v := operand(args[0], edm.Decimal)
			if v.Null {
				return sqlite.Value{}, nil
			}
			return sqlite.TextValue(scalar.DecimalKey(string(v.Bytes))), nil
		},
	})
}

// computation is a call whose arguments come later.
type computation struct {
	kinds  []edm.Kind
	result func([]sqlite.Value) (sqlite.Value, error)
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
	c.result = func(args []sqlite.Value) (sqlite.Value, error) {
		for i, k := range c.kinds {
			values[i] = operand(args[i], k)
		}
		v, err := eval(values)
		if err != nil {
			return sqlite.Value{}, nil //nolint:nilerr // what leaves the range of its type is null within a row
		}
		return computed(v, call.T.Kind), nil
	}
	return c, nil
}

// operand reads a number of SQLite as a value of a kind; null where it is none.
func operand(v sqlite.Value, k edm.Kind) plan.Value {
	null := plan.Value{Null: true}
	switch {
	case v.Type() == sqlite.TypeNull:
		return null
	case k == edm.Single || k == edm.Double:
		if v.Type() != sqlite.TypeText {
			return plan.Value{Float: v.Float()}
		}
		f, err := strconv.ParseFloat(v.Text(), 64)
		return plan.Value{Float: f, Null: err != nil}
	case k == edm.Duration:
		return plan.Value{Bytes: []byte(scalar.FormatMicros(v.Int64()))}
	case k != edm.Decimal:
		return plan.Value{Int: v.Int64()}
	case v.Type() == sqlite.TypeFloat:
		text, ok := scalar.DecimalOf(v.Float())
		return plan.Value{Bytes: []byte(text), Null: !ok}
	}
	text, ok := scalar.PlainDecimal(v.Text())
	return plan.Value{Bytes: []byte(text), Null: !ok}
}

// computed writes a value for SQLite.
func computed(v plan.Value, k edm.Kind) sqlite.Value {
	switch {
	case v.Null:
		return sqlite.Value{}
	case k == edm.Single || k == edm.Double:
		if v.Float != v.Float {
			return sqlite.TextValue("NaN")
		}
		return sqlite.FloatValue(v.Float)
	case k == edm.Decimal:
		if n, whole := wholeNumber(v); whole {
			return sqlite.IntegerValue(n)
		}
		return sqlite.TextValue(string(v.Bytes))
	case k == edm.String:
		return sqlite.TextValue(string(v.Bytes))
	case k == edm.Duration:
		n, _ := scalar.Micros(string(v.Bytes)) // values have this form
		return sqlite.IntegerValue(n)
	}
	return sqlite.IntegerValue(v.Int)
}

// wholeNumber is a decimal as an integer of SQLite, where it is one.
func wholeNumber(v plan.Value) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(v.Bytes), 10, 64)
	return n, err == nil
}
