package memory

import (
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// value computes an expression for the rows that the ranges stand on.
type value func(*env) plan.Value

// compiler makes functions of the expressions and queries of a plan, once for each request.
type compiler struct {
	source *Source
	// home is the range of the query that an expression of $compute belongs to.
	home map[*plan.Computed]int
	// computed are those that are compiled.
	computed map[*plan.Computed]value
	// results is where the aggregates of $apply have what they have come to.
	results map[*plan.Aggregate]*plan.Value
	// ranges is more than the largest number of a range.
	ranges int
	err    error
}

func (c *compiler) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func null(*env) plan.Value { return plan.Value{Null: true} }

// expr compiles an expression.
func (c *compiler) expr(e plan.Expr) value {
	switch e := e.(type) {
	case *plan.Literal:
		v := e.Value
		return func(*env) plan.Value { return v }
	case *plan.Ref:
		return c.ref(e)
	case *plan.Call:
		if e.Name == "case" {
			return c.choice(e)
		}
		return c.call(e)
	case *plan.Cell:
		return c.cell(e)
	case *plan.Aggregate:
		result := c.results[e]
		return func(*env) plan.Value { return *result }
	case *plan.Computed:
		return c.once(e)
	case *plan.Sub:
		return c.sub(e)
	}
	c.fail(fmt.Errorf("there is no expression %T", e))
	return null
}

// once computes an expression of $compute once for each row, however many others build on it.
func (c *compiler) once(e *plan.Computed) value {
	if v := c.computed[e]; v != nil {
		return v
	}
	v := c.expr(e.Expr)
	home, slot := c.home[e], len(c.computed)
	c.computed[e] = func(env *env) plan.Value {
		s := &env.slots[slot]
		if turn := env.turns[home]; s.turn != turn {
			s.turn, s.value = turn, v(env)
		}
		return s.value
	}
	return c.computed[e]
}

// ref is a property of the row that a range stands on; null where the row is missing.
func (c *compiler) ref(e *plan.Ref) value {
	id := e.Range.ID
	c.ranges = max(c.ranges, id+1)
	col := c.source.bySet[e.Range.Set].columns[e.Path[0]]
	for _, p := range e.Path[1:] {
		col = col.members[p]
	}
	at := col.at
	return func(env *env) plan.Value {
		r := env.rows[id]
		if r == nil {
			return plan.Value{Null: true}
		}
		return r[at]
	}
}

// cell is a column of a row that was computed.
func (c *compiler) cell(e *plan.Cell) value {
	id, at := e.Range.ID, e.Column
	c.ranges = max(c.ranges, id+1)
	if e.Range.Derived.Whole {
		at += len(c.source.bySet[e.Range.Set].cells)
	}
	return func(env *env) plan.Value {
		if r := env.rows[id]; r != nil {
			return r[at]
		}
		return plan.Value{Null: true}
	}
}

// call computes a function. What leaves its type's range is null; package bind has refused it among constants.
func (c *compiler) call(e *plan.Call) value {
	f := function.Lookup(e.Name)
	if f == nil {
		c.fail(fmt.Errorf("there is no function %q", e.Name))
		return null
	}
	eval, err := f.Compile(e)
	if err != nil {
		c.fail(err)
		return null
	}
	args := make([]value, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.expr(a)
	}
	return func(env *env) plan.Value {
		list := make([]plan.Value, len(args))
		for i, a := range args {
			list[i] = a(env)
		}
		v, err := eval(list)
		if err != nil {
			return plan.Value{Null: true}
		}
		return v
	}
}

// choice computes the result of the first condition that is true, and no other.
func (c *compiler) choice(e *plan.Call) value {
	parts := make([]value, len(e.Args))
	for i, a := range e.Args {
		parts[i] = c.expr(a)
	}
	return func(env *env) plan.Value {
		for i := 0; i < len(parts); i += 2 {
			if isTrue(parts[i](env)) {
				return parts[i+1](env)
			}
		}
		return plan.Value{Null: true}
	}
}

func isTrue(v plan.Value) bool { return !v.Null && v.Int != 0 }

// sub computes an expression over other rows: any, all, a count or one value. For all, the predicate must be true and
// not merely not false. OData-URL 5.1.1.13
func (c *compiler) sub(e *plan.Sub) value {
	q := *e.Query
	var pred value
	if e.Op == "all" {
		q.Filter = nil
		if e.Query.Filter != nil {
			pred = c.expr(e.Query.Filter)
		}
	}
	inner := c.query(&q)
	var result value
	if e.Op == "value" {
		result = c.expr(e.Value)
	}
	return func(env *env) plan.Value {
		var n int64
		out := plan.Value{Null: true}
		inner.each(env, func() bool {
			switch {
			case e.Op == "value":
				out = result(env)
				return false
			case e.Op == "all" && (pred == nil || isTrue(pred(env))):
				return true
			}
			n++
			return e.Op == "count"
		})
		switch e.Op {
		case "value":
			return out
		case "count":
			return plan.Value{Int: n}
		case "all":
			n = 1 - n
		}
		return plan.Value{Int: n}
	}
}
