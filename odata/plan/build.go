package plan

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Bool is a Boolean constant.
func Bool(v bool) *Literal {
	l := &Literal{T: edm.Of(edm.Boolean)}
	if v {
		l.Value.Int = 1
	}
	return l
}

// Null is null as a value of a type.
func Null(t edm.Type) *Literal { return &Literal{T: t, Value: Value{Null: true}} }

// Equal compares two expressions of one type.
func Equal(x, y Expr) Expr { return joined("eq", x, y) }

// Join joins conditions by "and" or "or", in a tree that is as flat as can be: databases limit how deep expressions nest. Nil
// is no condition, and so is the result where there is none.
func Join(op string, conditions ...Expr) Expr {
	conditions = slices.DeleteFunc(slices.Clone(conditions), func(e Expr) bool { return e == nil })
	switch len(conditions) {
	case 0:
		return nil
	case 1:
		return conditions[0]
	}
	half := len(conditions) / 2
	return joined(op, Join(op, conditions[:half]...), Join(op, conditions[half:]...))
}

func joined(op string, x, y Expr) Expr {
	return &Call{Name: op, Args: []Expr{x, y}, T: edm.Of(edm.Boolean)}
}

// Leaf is the primitive property at the end of a path, in the rows of the range.
func (r *Range) Leaf(path []*edm.Property) Expr {
	p := path[len(path)-1]
	if r.Derived != nil {
		if at, ok := r.Derived.At[p]; ok {
			return &Cell{Range: r, Column: at, T: p.Type}
		}
	}
	return &Ref{Range: r, Path: path, T: p.Type}
}

// KeyRef is the i-th property of the key, in the rows of a range over entities.
func (r *Range) KeyRef(i int) *Ref {
	p := r.Set.Type.Key[i]
	return &Ref{Range: r, Path: []*edm.Property{p}, T: p.Type}
}

// Behind adds the item to an order, unless an earlier one has decided already.
func (o Order) Behind(list []Order) []Order {
	if slices.ContainsFunc(list, func(before Order) bool { return Same(before.Expr, o.Expr) }) {
		return list
	}
	return append(list, o)
}
