package plan

import (
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// maxNumber is the greatest of the numbers that Numbers and With are about: it fits into each of their types.
const maxNumber = 999_999_999

// Numbers tells where the whole numbers from 1 to 999,999,999 were written (see Literal.At) that the filter of the top
// compares properties with, as far as any other of them would make the same plan but for the number. They are in the order
// in which the filter has them.
func (p *Plan) Numbers() (at []int) {
	if p.Top == nil || p.Top.Query == nil || p.Top.Query.Range.Derived != nil || len(p.Top.Query.Computed) > 0 {
		return nil
	}
	numbered(p.Top.Query.Filter, func(l *Literal) *Literal {
		at = append(at, l.At)
		return l
	})
	return at
}

// With is the plan with other numbers in the place of those of Numbers: as many, from 1 to 999,999,999.
func (p *Plan) With(numbers []int64) *Plan {
	out, top, query := *p, *p.Top, *p.Top.Query
	query.Filter = numbered(query.Filter, func(l *Literal) *Literal {
		n := numbers[0]
		numbers = numbers[1:]
		return l.with(n)
	})
	top.Query, out.Top, out.Like = &query, &top, nil
	return &out
}

// numbered copies a condition, with what change makes of each number that a property is compared with.
func numbered(e Expr, change func(*Literal) *Literal) Expr {
	call, ok := e.(*Call)
	if !ok {
		return e
	}
	switch call.Name {
	case "and", "or", "not":
		out := *call
		out.Args = make([]Expr, len(call.Args))
		for i, a := range call.Args {
			out.Args[i] = numbered(a, change)
		}
		return &out
	case "eq", "ne", "gt", "ge", "lt", "le":
		ref, isRef := call.Args[0].(*Ref)
		l, isLiteral := call.Args[1].(*Literal)
		if isRef && isLiteral && ref.T.Kind == l.T.Kind && l.replaceable() {
			out := *call
			out.Args = []Expr{ref, change(l)}
			return &out
		}
	}
	return e
}

// replaceable tells whether a constant is a whole number that could be any other one.
func (l *Literal) replaceable() bool {
	if l.At == 0 || l.Value.Null {
		return false
	}
	switch l.T.Kind {
	case edm.Int32, edm.Int64:
		return l.Value.Int > 0 && l.Value.Int <= maxNumber
	case edm.Decimal:
		n, err := strconv.ParseInt(string(l.Value.Bytes), 10, 64)
		return err == nil && n > 0 && n <= maxNumber
	case edm.Single, edm.Double:
		return l.Value.Float > 0 && l.Value.Float <= maxNumber
	}
	return false
}

// with is a replaceable constant with another number.
func (l *Literal) with(n int64) *Literal {
	out := *l
	switch l.T.Kind {
	case edm.Decimal:
		out.Value.Bytes = strconv.AppendInt(nil, n, 10)
	case edm.Single:
		out.Value.Float = float64(float32(n))
	case edm.Double:
		out.Value.Float = float64(n)
	default:
		out.Value.Int = n
	}
	return &out
}
