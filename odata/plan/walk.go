package plan

import (
	"bytes"
	"math"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Walk calls visit for an expression and, where visit returns true, for what is directly below it: the arguments of a
// Call; the parts of an Aggregate; the key, filter, order and value of a Sub. Row policies and joins of ranges are not below an expression, nor is
// what a Computed stands for.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	switch e := e.(type) {
	case *Call:
		for _, a := range e.Args {
			Walk(a, visit)
		}
	case *Aggregate:
		e.walk(visit)
	case *Sub:
		Walk(e.Query.Key, visit)
		Walk(e.Query.Filter, visit)
		for _, o := range e.Query.Order {
			Walk(o.Expr, visit)
		}
		Walk(e.Value, visit)
	}
}

// WalkInto walks several expressions, and also enters the expression of each Computed. It enters a Computed once, because a chain
// in which each uses the one before twice has 2^n paths.
func WalkInto(visit func(Expr) bool, list ...Expr) {
	seen := map[*Computed]bool{}
	var into func(Expr) bool
	into = func(e Expr) bool {
		c, ok := e.(*Computed)
		if ok && seen[c] || !visit(e) {
			return false
		}
		if ok {
			seen[c] = true
			Walk(c.Expr, into)
		}
		return true
	}
	for _, e := range list {
		Walk(e, into)
	}
}

// Same tells whether two expressions are the same calculation on the same rows. Two Subs never are, unless they are one,
// and neither are two of Computed.
func Same(a, b Expr) bool {
	if a == b {
		return true
	}
	ca, isA := a.(*Computed)
	cb, isB := b.(*Computed)
	switch {
	case isA && isB:
		return false
	case isA:
		return Same(ca.Expr, b)
	case isB:
		return Same(a, cb.Expr)
	}
	switch a := a.(type) {
	case *Literal:
		b, ok := b.(*Literal)
		return ok && a.T.Kind == b.T.Kind && a.T.Enum == b.T.Enum && a.Value.same(b.Value)
	case *Ref:
		b, ok := b.(*Ref)
		return ok && a.Range == b.Range && slices.Equal(a.Path, b.Path)
	case *Cell:
		b, ok := b.(*Cell)
		return ok && a.Range == b.Range && a.Column == b.Column
	case *Call:
		b, ok := b.(*Call)
		return ok && a.Name == b.Name && a.T.Kind == b.T.Kind && slices.EqualFunc(a.Args, b.Args, Same)
	}
	return false
}

func (v Value) same(w Value) bool {
	return v.Null == w.Null && v.Int == w.Int && math.Float64bits(v.Float) == math.Float64bits(w.Float) && bytes.Equal(v.Bytes, w.Bytes)
}

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
	if slices.Contains(conditions, nil) {
		conditions = slices.DeleteFunc(slices.Clone(conditions), func(e Expr) bool { return e == nil })
	}
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
