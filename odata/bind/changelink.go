package bind

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// links are the navigation properties whose foreign key the entity holds and the client gives values, none of them null: null names
// nothing.
func (c *change) links() []*edm.Navigation {
	var out []*edm.Navigation
	for _, nav := range slices.Concat(c.Set.Type.Navigation, c.Set.Type.Unlisted) {
		given, isNull := false, false
		for _, path := range nav.KeyPaths() {
			for _, v := range c.given {
				if slices.Equal(v.Path, path) {
					given, isNull = true, isNull || v.Value.Null
				}
			}
		}
		if nav.HeldByOwn() && given && !isNull {
			out = append(out, nav)
		}
	}
	return out
}

// linked is the condition that a navigation property to one names nothing, or a row that the caller may read: the guard and
// the row policy of its set hold. It is a subquery: a body may have more foreign keys than a database joins tables.
func (c *change) linked(b *binding, r *plan.Range, nav *edm.Navigation) plan.Expr {
	target, err := b.enter(nav.Target)
	if err != nil {
		return plan.Bool(false)
	}
	target.Outer, target.Nav = r, nav
	key := target.KeyRef(0)
	isNull := func(e plan.Expr, op string) plan.Expr {
		return &plan.Call{Name: op, Args: []plan.Expr{e, plan.Null(e.Type())}, T: edm.Of(edm.Boolean)}
	}
	there := isNull(&plan.Sub{Op: "value", Query: b.query(target), Value: key, T: key.T}, "ne")
	for _, path := range nav.KeyPaths() {
		if path[len(path)-1].Nullable && c.value(path) == nil { // a part of a key that stays as it is
			there = plan.Join("or", there, isNull(r.Leaf(path), "eq"))
		}
	}
	return there
}

// Linked returns the plan that reads the row that a navigation property of the change names by values of the change alone; nil
// where they do not name one. The guard and the row policy of the set hold.
func (r *Resource) Linked(c *write.Change, nav *edm.Navigation) *plan.Plan {
	b := newBinding(r.binder, r.opts)
	target, err := b.enter(nav.Target)
	if err != nil || !nav.Constrained {
		return nil
	}
	n := &plan.Node{Set: nav.Target, Query: b.query(target), Ref: true, Page: single()}
	for _, pair := range nav.Pairs {
		i := slices.IndexFunc(c.Values, func(a write.Assignment) bool { return slices.Equal(a.Path, pair.Own) })
		if i < 0 {
			return nil
		}
		value, ok := convert(&plan.Literal{T: pair.Own[0].Type, Value: c.Values[i].Value}, pair.Other[0].Type)
		if !ok {
			return nil
		}
		n.Query.Key = plan.Join("and", n.Query.Key, plan.Equal(target.Leaf(pair.Other), value))
	}
	keyColumns(n)
	b.plan.Kind, b.plan.Top = plan.Entity, n
	return b.plan
}

// never reports whether the values of the change alone keep a condition from being true.
func (c *change) never(e plan.Expr, row *plan.Range) bool {
	if call, ok := e.(*plan.Call); ok {
		is := func(a plan.Expr) bool { return c.never(a, row) }
		switch call.Name {
		case "and":
			return slices.ContainsFunc(call.Args, is)
		case "or":
			return !slices.ContainsFunc(call.Args, func(a plan.Expr) bool { return !is(a) })
		}
	}
	v, ok := c.settled(e, row)
	return ok && (v.Null || v.Int == 0)
}

// settled computes an expression over a row from the values of the change alone; false where it depends on more than they
// are.
func (c *change) settled(e plan.Expr, row *plan.Range) (plan.Value, bool) {
	switch e := e.(type) {
	case *plan.Literal:
		return e.Value, true
	case *plan.Ref:
		if e.Range == row {
			if v := c.value(e.Path); v != nil {
				return *v, c.known(e.Path)
			}
		}
	case *plan.Call:
		if e.Name == "and" || e.Name == "or" {
			return c.settledLogic(e, row)
		}
		return c.settledCall(e, row)
	}
	return plan.Value{}, false
}

// settledLogic is settled for and, or: one operand may decide alone.
func (c *change) settledLogic(e *plan.Call, row *plan.Range) (plan.Value, bool) {
	decides := plan.Value{} // false, of and
	if e.Name == "or" {
		decides.Int = 1
	}
	all, isNull := true, false
	for _, a := range e.Args {
		v, ok := c.settled(a, row)
		switch {
		case !ok:
			all = false
		case v.Null:
			isNull = true
		case v.Int == decides.Int:
			return decides, true
		}
	}
	return plan.Value{Int: 1 - decides.Int, Null: isNull}, all
}

func (c *change) settledCall(e *plan.Call, row *plan.Range) (plan.Value, bool) {
	args := make([]plan.Value, len(e.Args))
	for i, a := range e.Args {
		var ok bool
		if args[i], ok = c.settled(a, row); !ok {
			return plan.Value{}, false
		}
	}
	f := function.Lookup(e.Name)
	if f == nil || e.Name == "case" || slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return a.Type().Kind == edm.Complex }) {
		return plan.Value{}, false
	}
	eval, err := f.Compile(e)
	if err != nil {
		return plan.Value{}, false
	}
	v, err := eval(args)
	return v, err == nil
}
