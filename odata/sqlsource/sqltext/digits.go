package sqltext

import (
	"bytes"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// rounded brings a comparison with a constant of more digits of a second than the database keeps to a constant that it
// keeps, between which and the other there is no value; decided tells that no value decides on it, and truth how. Nothing
// changes where the digits suffice.
func (g *Generator) rounded(op string, x, y plan.Expr) (newOp string, a, b plan.Expr, decided, truth bool) {
	if l, ok := x.(*plan.Literal); ok && g.tooFine(l) {
		if _, ok := y.(*plan.Literal); !ok {
			op, x, y = mirrored(op), y, x
		}
	}
	l, ok := y.(*plan.Literal)
	if !ok || !g.tooFine(l) {
		return op, x, y, false, false
	}
	switch op {
	case "eq", "ne":
		return op, x, y, true, op == "ne"
	}
	cut := *l
	cut.Value.Bytes = sixDigits(l)
	negative := l.T.Kind == edm.Duration && l.Value.Bytes[0] == '-' // the cut is towards zero
	switch less := op[0] == 'l'; {
	case less && negative:
		op = "lt"
	case less:
		op = "le"
	case negative:
		op = "ge"
	default:
		op = "gt"
	}
	return op, x, &cut, false, false
}

// mirrored is the operator with its operands exchanged.
func mirrored(op string) string {
	switch op {
	case "gt":
		return "lt"
	case "ge":
		return "le"
	case "lt":
		return "gt"
	case "le":
		return "ge"
	}
	return op
}

// tooFine tells whether a constant has more digits of a second than the database computes with.
func (g *Generator) tooFine(l *plan.Literal) bool {
	switch l.T.Kind {
	case edm.DateTimeOffset, edm.TimeOfDay:
		if _, all := g.d.(sqlite); all { // text
			return false
		}
	case edm.Duration:
	default:
		return false
	}
	point := bytes.IndexByte(l.Value.Bytes, '.')
	return point >= 0 && len(bytes.TrimRight(l.Value.Bytes[point+1:], "ZS")) > 6
}

// sixDigits cuts off what is too fine; the constant need not be in its shortest form.
func sixDigits(l *plan.Literal) []byte {
	end := bytes.IndexByte(l.Value.Bytes, '.') + 7
	rest := bytes.TrimLeft(l.Value.Bytes[end:], "0123456789") // the unit or the zone
	return append(bytes.Clone(l.Value.Bytes[:end]), rest...)
}
