package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// The result of a transformation of $apply is a derived table around what it is computed from, so that a sequence is one
// statement, whatever it has in it. Its columns hold values in the form that the dialect computes with.

// source is what a range goes over: a table, or a derived table.
func (g *Generator) source(r *plan.Range) frag {
	if g.row != nil && g.row.of == r {
		return g.row.rows
	}
	if r.Derived == nil {
		return text(g.table(g.m.Tables[r.Set].Name))
	}
	if together, ok := g.groupingSets(r.Derived); ok {
		return fill("($1)", together)
	}
	parts := make([]frag, len(r.Derived.Parts))
	for i, p := range r.Derived.Parts {
		parts[i] = g.rowsOf(r.Derived, p)
	}
	rows := join(" UNION ALL ", parts...)
	if full := g.fullRows(r.Derived); full.sql != "" {
		rows = fill("SELECT * FROM ($1) AS u WHERE $2", rows, full)
	}
	return fill("($1)", rows)
}

// cellName is the name of a column of a derived table. No column of a table is called so.
func (g *Generator) cellName(column int) string { return g.d.quote("~" + strconv.Itoa(column)) }

// rowsOf is the statement for the rows of a part.
func (g *Generator) rowsOf(d *plan.Derived, p *plan.Part) frag {
	q := sharesOfPart(p)
	var list, keys []frag
	rankKey, ranks := g.rankKey(d, p)
	if ranks {
		for i, k := range rankKey {
			list = append(list, fill("$1 AS "+g.keyName(i), k))
		}
	} else if d.Whole {
		list = g.storedColumns(q.Range)
	}
	shown := make([]frag, len(p.Keys))
	for i, k := range p.Keys {
		var key frag
		key, shown[i] = g.d.group(g, k)
		keys = append(keys, key)
	}
	for i, e := range p.Values {
		value := g.typedNull(e, d.Columns[i].T)
		if all, ok := ofAll(p, e); ok && d.Whole {
			value = fill("(SELECT $1 $2)", g.argument(all), g.from(q))
		}
		value = g.d.stored(value, e.Type())
		if at := slices.IndexFunc(p.Keys, func(k plan.Expr) bool { return p.Grouped && plan.Same(k, e) }); at >= 0 {
			value = shown[at]
		}
		list = append(list, fill("$1 AS "+g.cellName(i), value))
	}
	columns := join(", ", list...)
	f := fill("SELECT $1 $2", columns, g.fromUnder(q, strings.Contains(columns.sql, " OVER (")))
	if ranks {
		return g.withRanks(p, rankKey, f)
	}
	if len(keys) > 0 {
		f = fill("$1 GROUP BY $2", f, join(", ", keys...))
	}
	if full := g.fullSums(p); full.sql != "" {
		f = fill("$1 HAVING $2", f, full)
	}
	if p.Limit == nil {
		return f
	}
	if len(p.Order) > 0 {
		f = fill("$1 ORDER BY $2", f, g.ordersWithin(p.Order))
	}
	return fill("$1 $2", f, g.limit(*p.Limit, 0))
}

// typedNull is a value; a null has the type of its column, which the other parts of a union agree with.
func (g *Generator) typedNull(e plan.Expr, t edm.Type) frag {
	if isNull(e) {
		return g.d.null(t)
	}
	return g.argument(e)
}

// sharesOfPart is the query of a part with the shared expressions of $compute that it needs.
func sharesOfPart(p *plan.Part) *plan.Query {
	exprs := append(orderExprs(p.Order), p.Query.Filter)
	for _, e := range p.Values {
		plan.Walk(e, func(e plan.Expr) bool {
			exprs = append(exprs, e)
			return true
		})
	}
	return shares(p.Query, append(exprs, p.Keys...)...)
}

// aggregate is a value of a group, or of a window.
func (g *Generator) aggregate(a *plan.Aggregate) frag {
	if a.Op == "row" {
		return fill("ROW_NUMBER() OVER ($1)", g.window(a))
	}
	var arg frag
	switch {
	case a.Arg != nil && a.Op == "countdistinct":
		arg, _ = g.d.group(g, a.Arg)
	case a.Arg != nil:
		arg = g.argument(a.Arg)
	case a.When != nil:
		arg = text("1")
	default:
		arg = text("*")
	}
	if a.When != nil {
		arg = fill("CASE WHEN $1 THEN $2 END", g.condition(a.When, true), arg)
	}
	over := func(call string) frag {
		f := fill(call, arg)
		if a.Over != nil {
			f = fill("$1 OVER ($2)", f, g.window(a))
		}
		return f
	}
	if a.Op == "sum" && a.T.Kind == edm.Double {
		return g.d.sum(over)
	}
	call, result := g.d.aggregate(g, a)
	return fill(result, over(call))
}

// window is what stands in the parentheses behind OVER.
func (g *Generator) window(a *plan.Aggregate) frag {
	var parts []frag
	if len(a.Over.Partition) > 0 {
		keys := make([]frag, len(a.Over.Partition))
		for i, e := range a.Over.Partition {
			keys[i], _ = g.d.group(g, e)
		}
		parts = append(parts, text("PARTITION BY"), join(", ", keys...))
	}
	if len(a.Over.Order) > 0 {
		parts = append(parts, text("ORDER BY"), g.ordersWithin(a.Over.Order))
		if a.Op != "row" {
			parts = append(parts, text("ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"))
		}
	}
	return join(" ", parts...)
}

// cell is a column of a derived table.
func (g *Generator) cell(c *plan.Cell) frag {
	return g.d.cell(text(alias(c.Range)+"."+g.cellName(c.Column)), c.T)
}

// SQLite.

func (sqlite) cell(name frag, t edm.Type) frag {
	if t.Kind == edm.String {
		return fill("$1 COLLATE BINARY", name)
	}
	return name
}

func (sqlite) fetchCell(name frag, _ edm.Type) frag { return name }

func (d sqlite) group(g *Generator, e plan.Expr) (key, shown frag) {
	shown = g.argument(e)
	if e.Type().Kind == edm.Decimal && !d.native(g, e) {
		return fill("ves_sortkey($1)", shown), shown
	}
	return shown, shown
}

// aggregate adds exact numbers digit by digit: SQLite adds what is no integer as doubles, and has 64 bits for integers.
func (d sqlite) aggregate(g *Generator, a *plan.Aggregate) (call, result string) {
	exact := a.Arg != nil && a.Arg.Type().Kind == edm.Decimal
	switch {
	case a.Op == "sum" && a.T.Kind == edm.Decimal && !d.addsUp(g, a):
		return "ves_sum($1)", "$1"
	case a.Op == "sum":
		return "SUM($1)", "$1"
	case a.Op == "countdistinct":
		return "COUNT(DISTINCT $1)", "$1"
	case a.Op == "count":
		return "COUNT($1)", "$1"
	case exact && !d.native(g, a.Arg):
		return "ves_" + a.Op + "($1)", "$1"
	}
	return extreme(a.Op) + "($1)", "$1"
}

// addsUp tells whether SQLite itself adds a column of integers, which is faster, and fails beyond 64 bits: before the first
// row, since the number of groups is known by then. Where there are windows it may be later.
func (d sqlite) addsUp(g *Generator, a *plan.Aggregate) bool {
	ref, ok := a.Arg.(*plan.Ref)
	return ok && !d.wide && a.Over == nil && ref.T.Kind.Integer() && strings.Contains(g.columnOf(ref).Type, "int") && !g.columnOf(ref).Text
}

func (sqlite) sum(aggregate func(string) frag) frag {
	return fill("NULLIF(NULLIF($1, 9e999), -9e999)", aggregate("SUM($1)"))
}

// PostgreSQL.

// sum adds what is beyond 2^900 scaled down by 2^64, since PostgreSQL ends a statement where a sum overflows.
func (postgres) sum(aggregate func(string) frag) frag {
	const filter = " FILTER (WHERE abs($1) < 8.452712498170644e+270::float8)"
	small := aggregate("SUM(($1)::float8)" + filter)
	large := aggregate("SUM(($1)::float8 * 5.421010862427522e-20::float8)" + strings.Replace(filter, "<", ">=", 1))
	scaled := fill("($1 + COALESCE(trunc($2), 0) * 5.421010862427522e-20::float8)", large, small)
	return fill("(CASE WHEN $1 IS NULL THEN $2 WHEN abs($3) < 9.745314011399999e+288::float8 THEN $3 * 1.8446744073709552e+19::float8 END)", large, small, scaled)
}

func (postgres) cell(name frag, _ edm.Type) frag { return name }

func (postgres) fetchCell(name frag, t edm.Type) frag {
	if t.Kind == edm.Guid {
		return fill("$1::text", name)
	}
	return name
}

func (postgres) group(g *Generator, e plan.Expr) (key, shown frag) {
	shown = g.argument(e)
	if e.Type().Kind == edm.String {
		shown = fill(`($1 COLLATE "C")`, shown)
	}
	return shown, shown
}

func (postgres) aggregate(_ *Generator, a *plan.Aggregate) (call, result string) {
	switch k := a.T.Kind; {
	case a.Op == "count" && k == edm.Decimal:
		return "COUNT($1)", "($1)::numeric"
	case a.Op == "count":
		return "COUNT($1)", "$1"
	case a.Op == "countdistinct":
		return "COUNT(DISTINCT $1)", "($1)::numeric"
	case a.Op == "sum" && k == edm.Decimal:
		return "SUM($1)", "($1)::numeric"
	case a.Op == "sum":
		return "SUM($1)", "($1)::bigint"
	case k == edm.String:
		return extreme(a.Op) + `(($1) COLLATE "C")`, "$1"
	}
	return extreme(a.Op) + "($1)", "$1"
}

func extreme(op string) string {
	if op == "min" {
		return "MIN"
	}
	return "MAX"
}

// MariaDB.

// sum looks at the result: an overflow makes it infinite, and where a table or a window keeps it the greatest double. The sum
// that is scaled down by 2^64 decides whether a result is that double indeed.
func (mysql) sum(aggregate func(string) frag) frag {
	const most, scaled = "1.7976931348623157e308", "9.745314011399998e288"
	return fill("(CASE WHEN ABS($1) < "+most+" OR ABS($1) = "+most+" AND ABS($2) = "+scaled+" THEN $1 END)",
		aggregate("SUM($1 + 0e0)"), aggregate("SUM($1 * 5.421010862427522e-20)"))
}

func (mysql) cell(name frag, t edm.Type) frag {
	if t.Kind == edm.String || t.Kind == edm.Guid {
		return fill("$1 COLLATE utf8mb4_bin", name)
	}
	return name
}

func (mysql) fetchCell(name frag, t edm.Type) frag {
	switch t.Kind {
	case edm.Single: // as text it has six digits
		return fill("CAST($1 AS DOUBLE)", name)
	case edm.DateTimeOffset, edm.Date, edm.TimeOfDay:
		return fill("CAST($1 AS CHAR)", name)
	}
	return name
}

// group looks at the bytes of a text: MariaDB takes texts for equal that differ by blanks at their end.
func (mysql) group(g *Generator, e plan.Expr) (key, shown frag) {
	shown = g.argument(e)
	if e.Type().Kind == edm.String {
		return bytesOf(shown), fill("MIN($1)", shown)
	}
	return shown, shown
}

func (mysql) aggregate(_ *Generator, a *plan.Aggregate) (call, result string) {
	switch k := a.T.Kind; {
	case a.Op == "count" && k == edm.Decimal:
		return "COUNT($1)", "CAST($1 AS DECIMAL(20, 0))"
	case a.Op == "count":
		return "COUNT($1)", "$1"
	case a.Op == "countdistinct":
		return "COUNT(DISTINCT $1)", "CAST($1 AS DECIMAL(20, 0))"
	case a.Op == "sum" && k == edm.Decimal:
		return "SUM($1)", "$1"
	case a.Op == "sum":
		return "SUM($1)", "CAST($1 AS SIGNED)"
	case k == edm.String:
		return extreme(a.Op) + "(CAST($1 AS BINARY))", "CONVERT($1 USING utf8mb4) COLLATE utf8mb4_bin"
	}
	return extreme(a.Op) + "($1)", "$1"
}

// isAverage reports whether a call is the quotient of two aggregates. The one of package function names them in a subquery of
// PostgreSQL, which computes an aggregate of constants there and not over the rows.
func isAverage(e *plan.Call) bool {
	if e.Name != "divby" {
		return false
	}
	_, ok := e.Args[0].(*plan.Aggregate)
	return ok
}

// mysqlAverage is the SQL of such a quotient. The one of package function keeps its result in a variable, which a
// statement that groups sets at some other time.
func mysqlAverage(e *plan.Call) string {
	if !isAverage(e) {
		return ""
	}
	if e.T.Kind == edm.Double {
		return "($1 / NULLIF($2 + 0e0, 0))"
	}
	// MariaDB makes what is beyond the range the end of it, and a sum of so many digits is out of range.
	const end, beyond = "99999999999999999999999999999999999.999999999999999999999999999999", "100000000000000000000000000000000000"
	sum := "NULLIF(NULLIF(CAST($1 AS DECIMAL(65, 30)), " + end + "), -" + end + ")"
	return "NULLIF(NULLIF(CAST(" + sum + " / NULLIF($2, 0) AS DECIMAL(65, 10)), " + beyond + "), -" + beyond + ")"
}

// setName is the column that holds the grouping that a row belongs to, as GROUPING returns it.
const setName = `"~g"`

// maxGrouping is how many keys GROUPING takes: its result is an integer of PostgreSQL.
const maxGrouping = 31

// groupingSets is the statement for the groupings of a rollup. PostgreSQL makes all of them in one pass over the rows, where
// UNION ALL takes one for each. It is false for all else.
func (g *Generator) groupingSets(d *plan.Derived) (frag, bool) {
	if _, ok := g.d.(postgres); !ok || d.Sets == nil || len(d.Parts[0].Query.Range.Derived.Parts[0].Keys) > maxGrouping {
		return frag{}, false
	}
	rows := alias(d.Parts[0].Query.Range)
	set := text(rows + "." + setName)
	list := make([]frag, len(d.Columns))
	for i, e := range d.Parts[0].Values {
		var value frag
		switch e := e.(type) {
		case *plan.Literal: // a constant of each grouping
			cases := make([]frag, len(d.Parts))
			for n, p := range d.Parts {
				cases[n] = fill("WHEN "+strconv.Itoa(d.Sets[n])+" THEN $1", g.typedNull(p.Values[i], d.Columns[i].T))
			}
			value = fill("CASE $1 $2 END", set, join(" ", cases...))
		case *plan.Aggregate: // the number of the row in its grouping
			value = fill("ROW_NUMBER() OVER (PARTITION BY $1 ORDER BY $2)", set, g.ordersWithin(e.Over.Order))
		default:
			value = g.argument(e)
		}
		list[i] = fill("$1 AS "+g.cellName(i), value)
	}
	return fill("SELECT $1 FROM ($2) AS "+rows, join(", ", list...), g.madeTogether(d)), true
}

// madeTogether is the statement that makes the groups of all groupings, with the columns of the finest: a key that a
// grouping does not have is null.
func (g *Generator) madeTogether(d *plan.Derived) frag {
	finest := d.Parts[0].Query.Range.Derived.Parts[0]
	sets := make([]frag, len(d.Parts))
	var keys []frag
	for i, p := range d.Parts {
		var of []frag
		for _, k := range p.Query.Range.Derived.Parts[0].Keys {
			key, _ := g.d.group(g, k)
			of = append(of, key)
		}
		if sets[i] = fill("($1)", join(", ", of...)); i == 0 {
			keys = of
		}
	}
	which := fill("GROUPING($1)", join(", ", keys...))
	list := make([]frag, len(finest.Values))
	for i, e := range finest.Values {
		value := g.argument(e)
		if at := slices.IndexFunc(finest.Keys, func(k plan.Expr) bool { return plan.Same(k, e) }); at >= 0 {
			value = keys[at]
		} else if a, ok := e.(*plan.Aggregate); ok && a.Over != nil { // the number of groups
			value = fill("COUNT(*) OVER (PARTITION BY $1)", which)
		}
		list[i] = fill("$1 AS "+g.cellName(i), value)
	}
	return fill("SELECT $1, $2 AS "+setName+" $3 GROUP BY GROUPING SETS ($4)", join(", ", list...), which, g.from(sharesOfPart(finest)), join(", ", sets...))
}
