package plan

import (
	"bytes"
	"math"
	"slices"
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
