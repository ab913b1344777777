package sqltext

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// SQLite stores in a column what it is given, whatever the type of the column. An answer shows null for a value that is none
// of the type, and in a column of texts the text of a blob or a number. Conditions, orders and computations read a cleaned expression that has the same value. They read the
// column itself where its table allows nothing else, or where a look at the data has found nothing else: no index helps to
// order by the cleaned expression.

// How SQLite stores what is given to a loose column, by the affinity of its declared type.
const (
	// LooseNumeric stores texts that look like numbers as numbers, and whole numbers as integers.
	LooseNumeric = "numeric"
	// LooseReal stores texts that look like numbers, and integers, as reals.
	LooseReal = "real"
	// LooseText stores numbers as texts, and blobs as they are.
	LooseText = "text"
	// LooseAny stores what it is given.
	LooseAny = "any"
)

// What columns of other databases hold beside the values of their types.
const (
	// LooseNaN is NaN, in a numeric column of PostgreSQL with a precision.
	LooseNaN = "NaN"
	// LooseInfinite are the infinities and, among numbers, NaN; among dates and times, what lies beyond the years 1 to 9999.
	LooseInfinite = "infinite"
	// LooseZero are days and months of the number 0, and spans of time that are no time of day, in MariaDB.
	LooseZero = "zero"
	// LooseBits are numbers beyond 63 bits, in a BIT(64) of MariaDB.
	LooseBits = "bits"
)

// bare reports whether each stored value of a column is known to be one of its type.
func (d sqlite) bare(c *Column) bool { return c.Loose == "" || d.clean[c] }

// ranged reports whether plain comparisons of a column find the misfits among its stored values: an index can answer
// these.
func (sqlite) ranged(c *Column, t edm.Type) bool {
	switch {
	case c.Rounds:
		return false
	case c.Loose == LooseNumeric:
		return t.Kind.Numeric() && (t.Kind != edm.Decimal || nativeColumn(c))
	case c.Loose == LooseReal:
		return t.Kind.Floating() || t.Kind == edm.Decimal && nativeColumn(c)
	}
	return false
}

// nativeColumn reports whether a column of decimals holds numbers and no texts.
func nativeColumn(c *Column) bool {
	return !c.Text && !strings.Contains(c.Type, "char") && !strings.Contains(c.Type, "text")
}

// cleaned returns the template of a column's value that is null for a stored value that is none of the type, and a text for a
// blob or a number in a column of texts.
func (d sqlite) cleaned(c *Column, t edm.Type) string {
	switch k := t.Kind; {
	case k == edm.String && c.Text: // for a function that reads it by its storage class
		return "$1 COLLATE BINARY"
	case k == edm.String && c.Loose == LooseText:
		return "(CASE WHEN typeof($1) = 'blob' THEN CAST($1 AS TEXT) ELSE $1 END) COLLATE BINARY"
	case k == edm.String:
		return "(CASE WHEN typeof($1) = 'text' THEN $1 ELSE ves_fit($1, 'String') END) COLLATE BINARY"
	case k == edm.Binary:
		return "(CASE WHEN typeof($1) IN ('blob', 'null') THEN $1 ELSE CAST(ves_fit($1, 'Binary') AS BLOB) END)"
	case k == edm.DateTimeOffset:
		return "ves_time($1)"
	case k == edm.TimeOfDay:
		return "ves_clock($1)"
	case k == edm.Duration:
		return "ves_micros($1)"
	case k == edm.Date:
		return "ves_day($1)"
	case k == edm.Guid:
		return "ves_guid($1)"
	case k == edm.Boolean:
		return "(CASE WHEN typeof($1) = 'integer' THEN $1 <> 0 ELSE ves_fit($1, 'Boolean') END)"
	case k.Floating() && c.Loose == LooseNumeric: // where integers are no reals
		return "(CASE WHEN $1 < '' THEN CAST($1 AS REAL) END)"
	case k.Numeric() && d.ranged(c, t):
		return "(CASE WHEN " + strings.Join(within(t), " AND ") + " THEN $1 END)"
	case k.Numeric():
		return "(CASE typeof($1) WHEN 'null' THEN NULL WHEN '" + usual(k) + "' THEN " + usualWithin(t) + " ELSE ves_fit($1, '" + k.String() + "') END)"
	case k == edm.Enum:
		return "(CASE typeof($1) WHEN 'null' THEN NULL WHEN 'integer' THEN $1 ELSE ves_fit($1, 'Int64') END)"
	}
	return "$1"
}

// usual is the storage class that most values of a numeric type have.
func usual(k edm.Kind) string {
	if k.Integer() {
		return "integer"
	}
	return "real"
}

// usualWithin is a value of that class; a real may be an infinity, which no decimal is.
func usualWithin(t edm.Type) string {
	switch {
	case t.Kind == edm.Decimal:
		return "NULLIF(NULLIF($1, 9e999), -9e999)"
	case t.Kind.Integer() && t.Kind != edm.Int64:
		return "(CASE WHEN " + between(t.Kind) + " THEN $1 END)"
	}
	return "$1"
}

func between(k edm.Kind) string {
	least, greatest := k.Bounds()
	return "$1 BETWEEN " + strconv.FormatInt(least, 10) + " AND " + strconv.FormatInt(greatest, 10)
}

// within are the conditions that a value of a ranged column is one of its type, all of them false for a misfit on one side:
// SQLite orders numbers before texts, and texts before blobs.
func within(t edm.Type) []string {
	switch {
	case t.Kind.Floating():
		return []string{"$1 < ''"}
	case t.Kind == edm.Decimal:
		return []string{"$1 > -9e999", "$1 < 9e999"}
	case t.Kind == edm.Int64:
		return []string{"typeof($1) = 'integer'"}
	}
	return []string{"typeof($1) = 'integer'", between(t.Kind)}
}

// dirt returns the template of a condition that is true of a stored value for which the column cannot stand for its cleaned
// expression; empty where it never can.
func (d sqlite) dirt(c *Column, t edm.Type) string {
	switch k := t.Kind; {
	case c.Text:
		return ""
	case k == edm.String && c.Loose == LooseText:
		return "$1 >= x''"
	case k == edm.String && c.Loose == LooseAny:
		return "($1 < '' OR $1 >= x'')"
	case k == edm.Binary:
		return "$1 < x''"
	case k.Floating() && c.Loose == LooseReal:
		return "$1 >= ''"
	case k.Floating(): // a large integer is compared otherwise than the real that it is shown as
		return "($1 >= '' OR typeof($1) = 'integer' AND $1 NOT BETWEEN -9007199254740992 AND 9007199254740992)"
	case k == edm.Decimal && nativeColumn(c):
		return "($1 >= 9e999 OR $1 <= -9e999)"
	case k == edm.Int64 || k == edm.Enum:
		return "typeof($1) NOT IN ('integer', 'null')"
	case k.Integer():
		return "(typeof($1) NOT IN ('integer', 'null') OR NOT $1 " + strings.TrimPrefix(between(k), "$1 ") + ")"
	case k == edm.Boolean:
		return "$1 NOT IN (0, 1)"
	case k == edm.Date && c.Layout == scalar.LayoutText:
		return "($1 IS NOT date($1) OR $1 < '0001')"
	case k == edm.Guid && c.Layout == scalar.LayoutText:
		digit := func(n int) string { return strings.Repeat("[0-9a-f]", n) }
		form := digit(8) + "-" + digit(4) + "-" + digit(4) + "-" + digit(4) + "-" + digit(12)
		return "(typeof($1) NOT IN ('text', 'null') OR $1 NOT GLOB '" + form + "')"
	case k == edm.DateTimeOffset:
		return instantDirt(c.Layout)
	}
	return ""
}

// instantDirt is dirt for instants: a text that SQLite writes otherwise than it is stored.
func instantDirt(layout string) string {
	form := ""
	switch layout {
	case scalar.LayoutSpace:
		form = "%Y-%m-%d %H:%M:%S"
	case scalar.LayoutT:
		form = "%Y-%m-%dT%H:%M:%S"
	case scalar.LayoutZ:
		form = "%Y-%m-%dT%H:%M:%SZ"
	case scalar.LayoutUnix:
		return "(typeof($1) NOT IN ('integer', 'null') OR NOT $1 BETWEEN " + strconv.Itoa(scalar.FirstSecond) + " AND " + strconv.Itoa(scalar.LastSecond) + ")"
	default:
		return ""
	}
	return "($1 IS NOT strftime('" + form + "', $1) OR $1 < '0001')"
}

// compared returns the column behind a loose Ref that a comparison with a constant may name itself, beside the condition that
// numeric gives; nil for any other expression.
func (d sqlite) compared(g *Generator, e, beside plan.Expr) *Column {
	ref, isRef := e.(*plan.Ref)
	l, isLit := beside.(*plan.Literal)
	if !isRef || !isLit {
		return nil
	}
	c := g.columnOf(ref)
	switch {
	case d.bare(c), c.Text, !d.ranged(c, ref.T):
		return nil
	case ref.T.Kind.Floating() && c.Loose == LooseNumeric && !(math.Abs(l.Value.Float) < 1<<53):
		return nil
	}
	return c
}

// operand is the value of one side of a comparison of numbers.
func (d sqlite) operand(g *Generator, e, beside plan.Expr) frag {
	if ref, ok := e.(*plan.Ref); ok && d.compared(g, e, beside) != nil {
		return g.raw(ref)
	}
	return g.value(e)
}

// numeric takes misfits out of what a loose column is compared to: they are greater than all numbers, or infinities. A
// constant is equal to no misfit but a real in a column of integers.
func (d sqlite) numeric(g *Generator, op string, x, y plan.Expr) frag {
	c, e, less := d.compared(g, x, y), x, op == "lt" || op == "le"
	if c == nil {
		if c, e, less = d.compared(g, y, x), y, op == "gt" || op == "ge"; c == nil {
			return d.near(g, op, x, y)
		}
	}
	ref, _ := e.(*plan.Ref)
	var conds []string
	switch conds = within(ref.T); {
	case ref.T.Kind.Integer():
	case op == "eq":
		return frag{}
	case ref.T.Kind.Floating() && less:
		return frag{}
	case ref.T.Kind == edm.Decimal && less:
		conds = conds[:1]
	case ref.T.Kind == edm.Decimal:
		conds = conds[1:]
	}
	return fill(strings.Join(conds, " AND "), g.raw(ref))
}

// pageKey is the value that the rows of a page are ordered by. A number in the key of a set of SQLite is ordered as it is
// stored: a misfit there ends every answer that has the row, since each page reads the keys of its rows. So is a column of
// PostgreSQL or MariaDB with an index; see misplaced.
func (g *Generator) pageKey(e plan.Expr) frag {
	ref, ok := e.(*plan.Ref)
	if !ok || ref.Range.Derived != nil || throughOne(ref) {
		return g.d.sortKey(g, e)
	}
	c := g.columnOf(ref)
	switch d := g.d.(type) {
	case sqlite:
		if len(ref.Path) == 1 && ref.Range.Set.Type.IsKey(ref.Path[0]) && d.ranged(c, ref.T) {
			return g.raw(ref)
		}
	case postgres:
		if _, high := postgresBounds(c, ref.T); high != "" && !d.strict && (!c.Nullable || g.indexed(ref)) {
			return g.raw(ref)
		}
	case mysql:
		if mysqlZero(c, ref.T) != "" && !d.strict && (!c.Nullable || g.indexed(ref)) {
			return g.raw(ref)
		}
	}
	return g.d.sortKey(g, e)
}

// Doubt is a column that a plan compares, orders or computes with, and that may hold values that are none of its type.
type Doubt struct {
	Column *Column
	// Look is a statement that has a row if statements must read the cleaned expression. Empty where they always must.
	Look string
	// Seek reports whether an index answers the look at once.
	Seek bool
	// Table and Type are for people; quoted is the table in SQL.
	Table  string
	Type   edm.Type
	quoted string
}

// Cleaned lists the loose columns that a node reads otherwise than to show them, with how and why.
func (g *Generator) Cleaned(n *plan.Node) []Hint {
	var out []Hint
	references(n, func(ref *plan.Ref) {
		if h, ok := g.boundHint(ref); ok && !slices.Contains(out, h) {
			out = append(out, h)
		}
	})
	for _, d := range g.Doubts(n) {
		name, typ := d.Table+"."+d.Column.Name, "Edm."+d.Type.Kind.String()
		value, find := "which is null here and everywhere", " vestibule check --data finds them;"
		if bytesOrText(d.Type) {
			value, find = "which is read as one", ""
		}
		h := Hint{Text: name + " is cleaned: SQLite lets the column hold what is no " + typ + ", " + value + "; no index answers that"}
		switch {
		case d.Look != "" && g.bare(d.Column):
			h.Text = name + " is read as it is stored: a look found nothing that is no " + typ + "; it is repeated when the data have changed"
		case d.Look != "":
			_, misfit, _ := strings.Cut(strings.TrimSuffix(d.Look, " LIMIT 1"), " WHERE ")
			h.Text = name + " is cleaned, which no index answers: SQLite lets the column hold what is no " + typ +
				", and a look found some or took too long." + find + " a STRICT table allows none, and this index makes the look short: CREATE INDEX " +
				g.d.quote(strings.ReplaceAll(d.Table, ".", "_")+"_"+d.Column.Name+"_misfits") + " ON " + d.quoted + " (" + g.d.quote(d.Column.Name) + ") WHERE " + misfit
		}
		h.Text = strings.ReplaceAll(h.Text, dollar, "$")
		out = append(out, h)
	}
	return out
}

// Assuming returns a Generator for a state of the data in which the columns hold nothing but values of their types.
func (g *Generator) Assuming(clean map[*Column]bool) *Generator {
	if d, ok := g.d.(sqlite); ok {
		return &Generator{d: sqlite{wide: d.wide, clean: clean}, m: g.m}
	}
	return g
}

// Doubts lists the loose columns that a node and its expanded ones read otherwise than to show them.
func (g *Generator) Doubts(n *plan.Node) []Doubt {
	d, ok := g.d.(sqlite)
	if !ok {
		return nil
	}
	var out []Doubt
	references(n, func(ref *plan.Ref) {
		c, t := g.columnOf(ref), g.m.Tables[ref.Range.Set]
		first, held := g.inIndexes(ref)
		if bytesOrText(ref.T) && !held && !t.View { // an expression takes no longer than the column
			return
		}
		if c.Loose == "" || slices.ContainsFunc(out, func(d Doubt) bool { return d.Column == c }) {
			return
		}
		doubt := Doubt{Column: c, Table: strings.Join(t.Name, "."), Type: ref.T, quoted: g.table(t.Name)}
		if dirt := d.dirt(c, ref.T); dirt != "" {
			doubt.Seek = first && bytesOrText(ref.T)
			doubt.Look = g.finish(fill("SELECT 1 FROM "+g.table(t.Name)+" WHERE "+dirt+" LIMIT 1", text(d.quote(c.Name)))).SQL
		}
		out = append(out, doubt)
	})
	return out
}

// bytesOrText reports whether values of all storage classes are values of a type.
func bytesOrText(t edm.Type) bool { return t.Kind == edm.String || t.Kind == edm.Binary }

// inIndexes reports whether an index begins with the column of a Ref, and whether one has it at all.
func (g *Generator) inIndexes(ref *plan.Ref) (first, held bool) {
	name := g.columnOf(ref).Name
	for _, ix := range g.m.Tables[ref.Range.Set].Indexes {
		at := slices.Index(ix, name)
		first, held = first || at == 0, held || at >= 0
	}
	return first, held
}

// references visits the properties that a node reads in conditions, orders and computations, those of its columns left out
// that are shown as they are.
func references(n *plan.Node, visit func(*plan.Ref)) {
	w := &referenceWalk{visit: visit, seen: map[any]bool{}}
	w.node(n)
}

type referenceWalk struct {
	visit func(*plan.Ref)
	seen  map[any]bool
}

func (w *referenceWalk) node(n *plan.Node) {
	for _, c := range n.Columns {
		if _, shown := c.Expr.(*plan.Ref); !shown {
			w.expr(c.Expr)
		}
	}
	w.query(n.Query)
	for _, x := range n.Expand {
		w.node(x)
	}
}

func (w *referenceWalk) query(q *plan.Query) {
	if q == nil || w.seen[q] {
		return
	}
	w.seen[q] = true
	w.span(q.Range)
	w.query(q.From)
	for _, j := range q.Joins {
		w.span(j)
	}
	for _, c := range q.Computed {
		w.expr(c)
	}
	w.expr(q.Key)
	w.expr(q.Filter)
	for _, o := range q.Order {
		w.expr(o.Expr)
	}
}

// span looks at the policy of a range, and at what its rows are computed from.
func (w *referenceWalk) span(r *plan.Range) {
	for ; r != nil && !w.seen[r]; r = r.Outer {
		w.seen[r] = true
		w.expr(r.Policy)
		if r.Derived == nil {
			continue
		}
		for _, p := range r.Derived.Parts {
			w.query(p.Query)
			for _, list := range [][]plan.Expr{p.Keys, p.Values, orderExprs(p.Order)} {
				for _, e := range list {
					w.expr(e)
				}
			}
		}
	}
}

func (w *referenceWalk) expr(e plan.Expr) {
	plan.Walk(e, func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Ref:
			w.span(e.Range)
			w.visit(e)
		case *plan.Cell:
			w.span(e.Range)
		case *plan.Computed:
			if !w.seen[e] {
				w.seen[e] = true
				w.expr(e.Expr)
			}
		case *plan.Sub:
			w.query(e.Query)
		}
		return true
	})
}
