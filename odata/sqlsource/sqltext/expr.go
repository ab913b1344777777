package sqltext

import (
	"math"
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// nullable tells whether an expression can be null.
func (g *Generator) nullable(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Literal:
		return e.Value.Null
	case *plan.Ref:
		for r := e.Range; r != nil; r = r.Outer {
			if r.Nav != nil && !r.Nav.Collection {
				return true // the entity may be missing altogether
			}
		}
		c := g.columnOf(e)
		return c.Nullable || c.Text
	case *plan.Cell, *plan.Aggregate:
		return true
	case *plan.Computed:
		return true // or null, as far as anybody looks: what others build on is not looked at again for each of them
	case *plan.Sub:
		return e.Op == "value"
	case *plan.Call:
		return function.MayLeave(e) || slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return !g.finite(a) }) ||
			function.Lookup(e.Name).Null.Nullable(func() bool { return slices.ContainsFunc(e.Args, g.nullable) })
	}
	return false
}

// finite reports whether a value is neither INF nor NaN: only columns hold these, and what passes a column's values on.
func (g *Generator) finite(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Literal:
		return !math.IsInf(e.Value.Float, 0) && !math.IsNaN(e.Value.Float)
	case *plan.Ref:
		return !floating(e) || g.columnOf(e).Text
	case *plan.Aggregate:
		return !floating(e) || e.Op == "sum"
	case *plan.Call:
		return !floating(e) || e.Name != "case"
	case *plan.Computed:
		return g.finite(e.Expr)
	}
	return !floating(e)
}

func alias(r *plan.Range) string { return "t" + strconv.Itoa(r.ID) }

func (g *Generator) columnOf(r *plan.Ref) *Column {
	c := g.m.Tables[r.Range.Set].Columns[r.Path[0]]
	for _, p := range r.Path[1:] {
		c = c.Sub[p]
	}
	return c
}

// raw is a column as it is stored.
func (g *Generator) raw(r *plan.Ref) frag {
	return text(alias(r.Range) + "." + g.d.quote(g.columnOf(r).Name))
}

// value is an expression's value; a condition keeps its three values.
func (g *Generator) value(e plan.Expr) frag {
	switch e := e.(type) {
	case *plan.Literal:
		if e.Value.Null {
			return g.d.null(e.T)
		}
		return g.d.literal(e.T, e.Value)
	case *plan.Ref:
		return g.column(e)
	case *plan.Cell:
		return g.cell(e)
	case *plan.Aggregate:
		return g.aggregate(e)
	case *plan.Computed:
		if e.Shared {
			return text(g.sharedName(e))
		}
		return g.value(e.Expr)
	case *plan.Sub:
		if e.Op == "value" || e.Op == "count" {
			return g.scalar(e)
		}
	case *plan.Call:
		switch e.Name {
		case "case":
			return g.choice(e)
		case "eq", "ne", "gt", "ge", "lt", "le", "in", "and", "or", "not":
		default:
			return g.call(e)
		}
	}
	return fill("($1)", g.condition(e, false))
}

// column is the value of a property. A text that holds a value of another type is cast.
func (g *Generator) column(r *plan.Ref) frag {
	c := g.columnOf(r)
	if !c.Text {
		return g.d.column(g.raw(r), c, r.T)
	}
	text := &plan.Ref{T: edm.Of(edm.String)}
	return fill(g.d.call(g, &plan.Call{Name: "cast", Args: []plan.Expr{text}, T: r.T}), g.d.column(g.raw(r), c, text.T))
}

// ReadsText tells whether a column of texts can be read as values of a type; see Column.Text.
func ReadsText(k edm.Kind) bool { return function.Lookup("cast").Gives(k, edm.String) }

// Texts tells which columns of a node are fetched as texts of values of another type, for the reader to read; nil where
// none is.
func (g *Generator) Texts(n *plan.Node) []bool {
	var out []bool
	for i, c := range n.Columns {
		if ref, ok := c.Expr.(*plan.Ref); ok && g.columnOf(ref).Text {
			if out == nil {
				out = make([]bool, len(n.Columns))
			}
			out[i] = true
		}
	}
	return out
}

func (g *Generator) values(list []plan.Expr) []frag {
	out := make([]frag, len(list))
	for i, e := range list {
		if out[i] = g.argument(e); !g.finite(e) {
			out[i] = g.d.finite(out[i])
		}
	}
	return out
}

// call spells a function or an operator. The test over the catalogue holds that every one has SQL for every database.
func (g *Generator) call(e *plan.Call) frag { return fill(g.d.call(g, e), g.values(e.Args)...) }

func (g *Generator) choice(e *plan.Call) frag {
	f := text("CASE")
	for i := 0; i < len(e.Args); i += 2 {
		f = fill("$1 WHEN $2 THEN $3", f, g.condition(e.Args[i], true), g.argument(e.Args[i+1]))
	}
	return fill("$1 END", f)
}

// condition is a Boolean expression. Where only truth counts (loose), unknown may stand for false, which lets
// databases use their indexes.
func (g *Generator) condition(e plan.Expr, loose bool) frag {
	switch e := e.(type) {
	case *plan.Sub:
		if e.Op == "any" || e.Op == "all" {
			return g.exists(e)
		}
	case *plan.Literal:
		if e.Value.Null {
			return fill("($1 = $2)", g.d.null(edm.Of(edm.Boolean)), g.d.literal(edm.Of(edm.Boolean), plan.Value{Int: 1}))
		}
		if e.Value.Int != 0 {
			return text("1 = 1")
		}
		return text("1 = 0")
	case *plan.Call:
		switch e.Name {
		case "and":
			return fill("($1 AND $2)", g.condition(e.Args[0], loose), g.condition(e.Args[1], loose))
		case "or":
			return fill("($1 OR $2)", g.condition(e.Args[0], loose), g.condition(e.Args[1], loose))
		case "not":
			return fill("(NOT ($1))", g.condition(e.Args[0], false))
		case "eq", "ne", "gt", "ge", "lt", "le":
			return g.compare(e.Name, e.Args[0], e.Args[1], loose)
		case "in":
			return g.in(e, loose)
		case "case":
			return g.choice(e)
		case "startswith", "endswith", "contains", "matchespattern":
			if loose {
				return g.finds(e, g.call(e))
			}
		}
		return g.call(e)
	}
	return g.value(e)
}

// narrowed puts a condition that an index can answer before one that none can.
func (g *Generator) narrowed(op string, x, y plan.Expr, f frag) frag {
	ref, isRef := x.(*plan.Ref)
	l, isLit := y.(*plan.Literal)
	if !isRef || !isLit || l.T.Kind != edm.String || len(l.Value.Bytes) == 0 {
		return f
	}
	if n := g.d.narrow(op, g.raw(ref), g.columnOf(ref), string(l.Value.Bytes)); n.sql != "" {
		return fill("($1 AND $2)", n, f)
	}
	return f
}

func isNull(e plan.Expr) bool {
	l, ok := e.(*plan.Literal)
	return ok && l.Value.Null
}

// compare has two values, true and false, unless loose. OData-URL 5.1.1.1.1 to 5.1.1.1.6
func (g *Generator) compare(op string, x, y plan.Expr, loose bool) frag {
	equality := op == "eq" || op == "ne"
	nx, ny := isNull(x), isNull(y)
	if (nx || ny) && (nx && ny || !equality) {
		return truth(nx && ny && op == "eq")
	}
	if nx || ny {
		if nx {
			x = y
		}
		if op == "eq" {
			return fill("$1 IS NULL", g.value(x))
		}
		return fill("$1 IS NOT NULL", g.value(x))
	}
	op, x, y, decided, holds := g.rounded(op, x, y)
	if decided {
		return truth(holds)
	}
	a, b, ok := g.d.comparands(g, op, x, y)
	if !ok {
		a, b = g.value(x), g.value(y)
	}
	nx, ny = g.nullable(x), g.nullable(y)
	if !equality && !(g.finite(x) && g.finite(y)) {
		nx, ny = true, true // NaN, which is neither less nor greater
	}
	switch {
	case op == "eq" && nx && ny:
		return g.d.same(a, b)
	case op == "ne" && (nx || ny):
		return g.d.distinct(a, b)
	}
	f := fill("$1 "+operator(op)+" $2", a, b)
	if n := g.d.numeric(g, op, x, y); n.sql != "" {
		f = fill("($1 AND $2)", f, n)
	}
	if loose && op == "eq" {
		f = g.narrowed(op, x, y, f)
	}
	if (nx || ny) && !loose {
		return fill("COALESCE($1, $2)", f, g.d.literal(edm.Of(edm.Boolean), plan.Value{}))
	}
	return f
}

func truth(v bool) frag {
	if v {
		return text("1 = 1")
	}
	return text("1 = 0")
}

func operator(op string) string {
	switch op {
	case "eq":
		return "="
	case "ne":
		return "<>"
	case "gt":
		return ">"
	case "ge":
		return ">="
	case "lt":
		return "<"
	}
	return "<="
}

// in is a chain of eq; an index can be used when all items are constants of one type.
func (g *Generator) in(e *plan.Call, loose bool) frag {
	if len(e.Args) == 1 {
		return truth(false)
	}
	parts := make([]frag, 0, len(e.Args)-1)
	for _, item := range e.Args[1:] {
		parts = append(parts, g.compare("eq", e.Args[0], item, loose))
	}
	return fill("($1)", join(" OR ", parts...))
}

// scalar is a subquery with one value.
func (g *Generator) scalar(e *plan.Sub) frag {
	if e.Op == "count" {
		return fill("(SELECT COUNT(*) $1)", g.from(e.Query))
	}
	return fill("(SELECT $1 $2 LIMIT 1)", g.value(e.Value), g.from(e.Query))
}

// exists is any or all. For all, the predicate must be true and not merely not false. OData-URL 5.1.1.13.2
func (g *Generator) exists(e *plan.Sub) frag {
	q := *e.Query
	if e.Op == "any" {
		return fill("EXISTS (SELECT 1 $1)", g.from(&q))
	}
	pred := q.Filter
	q.Filter = nil
	return fill("NOT EXISTS (SELECT 1 $1 AND ($2) IS NOT TRUE)", g.from(&q), g.condition(pred, true))
}
