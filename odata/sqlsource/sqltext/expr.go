package sqltext

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

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
		return g.absent(e) || !g.bare(g.columnOf(e))
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

// absent reports whether a column may be null as it is stored.
func (g *Generator) absent(e *plan.Ref) bool {
	if throughOne(e) {
		return true // the entity may be missing altogether
	}
	c := g.columnOf(e)
	return c.Nullable || c.Text || c.Rounds
}

// throughOne reports whether a property is that of the target of a to-one navigation.
func throughOne(e *plan.Ref) bool {
	for r := e.Range; r != nil; r = r.Outer {
		if r.Nav != nil && !r.Nav.Collection {
			return true
		}
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
	return text(g.col(r.Range, g.columnOf(r)))
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

// column is the value of a property. A text that holds a value of another type is cast, and so is a number with more digits
// than a single. INF and NaN are no results of a cast, but they are singles.
func (g *Generator) column(r *plan.Ref) frag {
	c := g.columnOf(r)
	switch {
	case c.Text:
		return g.castOf(r, edm.Of(edm.String))
	case c.Rounds:
		stored := g.d.column(g.raw(r), c, edm.Of(edm.Double))
		return fill("COALESCE($1, CASE WHEN $2 IS NULL THEN $3 END)", g.castOf(r, edm.Of(edm.Double)), g.d.finite(stored), stored)
	}
	return g.d.column(g.raw(r), c, r.T)
}

// castOf casts a column of values of another type to that of its property.
func (g *Generator) castOf(r *plan.Ref, stored edm.Type) frag {
	cast := &plan.Call{Name: "cast", Args: []plan.Expr{&plan.Ref{T: stored}}, T: r.T}
	return fill(g.d.call(g, cast), g.d.column(g.raw(r), g.columnOf(r), stored))
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
	shown := slices.ContainsFunc(list, replacement)
	for i, e := range list {
		if out[i] = g.argument(e); !g.finite(e) {
			out[i] = g.d.finite(out[i])
		}
		if shown && e.Type().Kind == edm.String {
			out[i] = g.d.shown(out[i])
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
			return g.exists(e, loose)
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
		return g.countOf(e)
	}
	return fill("(SELECT $1 $2 LIMIT 1)", g.value(e.Value), g.from(e.Query))
}

// exists is any or all. For all, the predicate must be true and not merely not false. OData-URL 5.1.1.13.2
func (g *Generator) exists(e *plan.Sub, loose bool) frag {
	if f, ok := g.semijoin(e, loose); ok {
		return f
	}
	if f, ok := g.extreme(e); ok {
		return f
	}
	q := *e.Query
	if e.Op == "any" {
		return fill("EXISTS (SELECT 1 $1)", g.existing(e, &q))
	}
	pred := q.Filter
	q.Filter = nil
	return fill("NOT EXISTS (SELECT 1 $1 AND ($2) IS NOT TRUE)", g.existing(e, &q), g.condition(pred, true))
}

// existing is from for EXISTS. MariaDB joins that of any by itself if a row of the request is around it.
func (g *Generator) existing(e *plan.Sub, q *plan.Query) frag {
	if s, ok := g.straight(q); ok && (e.Op == "all" || q.Range.Outer.Element || !independent(e.Query)) {
		return g.fromWhere(q, s)
	}
	return g.from(q)
}

// argument is the value of an expression for a function to compute with: that of a property is null where a date or time
// is stored that its type cannot hold, as in an answer. Databases fail on some of these, such as infinity, and make
// something of others. A text of PostgreSQL has the collation that comparisons use.
func (g *Generator) argument(e plan.Expr) frag {
	ref, ok := e.(*plan.Ref)
	if !ok || g.columnOf(ref).Text {
		return g.value(e)
	}
	return g.d.held(g.value(e), g.columnOf(ref), ref.T)
}

// held has nothing to do: where not all stored values have one form, a function has looked at each of them already.
func (sqlite) held(x frag, _ *Column, _ edm.Type) frag { return x }

// held names a value once: LEAST and GREATEST pass over nulls.
func (postgres) held(x frag, c *Column, t edm.Type) frag {
	if _, high := postgresBounds(c, t); high != "" {
		return x // null already
	}
	const within = "NULLIF(GREATEST(NULLIF(LEAST($1, BEHIND), BEHIND), BEFORE), BEFORE)"
	before, behind := "date '0001-12-31 BC'", "date '10000-01-01'"
	switch t.Kind {
	case edm.String:
		if c.ownCollation() && c.Collation != "C" {
			return fill("$1"+codePoints, x)
		}
		return x
	case edm.Date:
	case edm.DateTimeOffset:
		before, behind = "timestamptz '0001-12-31 23:59:59.999999+00 BC'", "timestamptz '10000-01-01 00:00:00+00'"
	case edm.TimeOfDay:
		return fill("NULLIF($1, time '24:00:00')", x)
	default:
		return x
	}
	return fill(strings.NewReplacer("BEFORE", before, "BEHIND", behind).Replace(within), x)
}

// held lets a sum tell days that are none, such as the zeroth.
func (mysql) held(x frag, c *Column, t edm.Type) frag {
	if mysqlZero(c, t) != "" {
		return x // null already
	}
	switch t.Kind {
	case edm.Date, edm.DateTimeOffset:
		return fill("($1 + INTERVAL 0 DAY)", x)
	case edm.TimeOfDay:
		return fill("(CASE WHEN $1 BETWEEN '00:00:00' AND '23:59:59.999999' THEN $1 END)", x)
	}
	return x
}

// rounded changes a comparison with a constant of more digits of a second than the database keeps to a constant that it
// keeps, between which and the other there is no value; decided reports whether no value decides on it, and truth how it is decided. Nothing
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

// tooFine reports whether a constant has more digits of a second than the database computes with.
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
