package bind

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// maxFolded is the longest text, in bytes, that is put together here: names of $compute and aliases can double a text with
// each of them, which the limits notice only afterwards.
const maxFolded = 4 << 10

// fold computes a call whose arguments are all constants, so that every source has the same result of it, and refuses what
// leaves the range of its type before there is a row.
func (s *scope) fold(x plan.Expr, pos int) (plan.Expr, error) {
	call, ok := x.(*plan.Call)
	if !ok {
		return x, nil
	}
	args := make([]plan.Value, len(call.Args))
	size := 0
	for i, a := range call.Args {
		l, ok := a.(*plan.Literal)
		if !ok {
			return x, nil
		}
		args[i] = l.Value
		size += len(l.Value.Bytes)
	}
	if size > maxFolded {
		return x, nil
	}
	if call.Name == "case" {
		return chosen(call), nil
	}
	eval, err := function.Lookup(call.Name).Compile(call)
	if err != nil {
		return x, nil //nolint:nilerr // what the catalogue cannot compute is left to the source
	}
	v, err := eval(args)
	switch {
	case errors.Is(err, function.ErrRange):
		return nil, &plan.Error{Kind: plan.Malformed, Pos: pos, Message: "the result of a computation is out of range", Cause: fmt.Errorf("%s: %w", call.Name, err)}
	case err != nil:
		return nil, fmt.Errorf("compute %s: %w", call.Name, err)
	}
	return &plan.Literal{T: call.T, Value: v}, nil
}

// chosen is the result of a case over constants; the call itself where the result would have to be promoted.
func chosen(call *plan.Call) plan.Expr {
	for i := 0; i < len(call.Args); i += 2 {
		cond, ok := call.Args[i].(*plan.Literal)
		if !ok || cond.Value.Null || cond.Value.Int == 0 {
			continue
		}
		result, ok := call.Args[i+1].(*plan.Literal)
		if !ok {
			return call
		}
		if l, ok := convert(result, call.T); ok {
			return l
		}
		return call
	}
	return plan.Null(call.T)
}

// sixDigits cuts the seconds of a constant to the digits that computations with times have on every source. Comparisons
// look at all of them.
func sixDigits(x plan.Expr) plan.Expr {
	l, ok := x.(*plan.Literal)
	if !ok || l.Value.Null {
		return x
	}
	point := bytes.IndexByte(l.Value.Bytes, '.')
	if point < 0 || len(l.Value.Bytes) <= point+7 {
		return x
	}
	out := *l
	switch text := string(l.Value.Bytes); l.T.Kind {
	case edm.DateTimeOffset:
		out.Value.Bytes = append(cutFraction(l.Value.Bytes[:point+7]), 'Z')
	case edm.TimeOfDay:
		out.Value.Bytes = cutFraction(l.Value.Bytes[:point+7])
	case edm.Duration:
		d, _ := scalar.ParseDuration(text) // values have this form
		d.Nanos -= d.Nanos % 1000
		out.Value.Bytes = []byte(d.String())
	default:
		return x
	}
	return &out
}

// cutFraction copies a text without the zeros at its end, and the point where nothing is left behind it.
func cutFraction(text []byte) []byte {
	return bytes.Clone(bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte(".")))
}
