package sqltext

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Page has the statements for the rows of a node, made once for a plan. It is safe for concurrent use.
type Page struct {
	// Key tells for each item of the order which column of the rows holds its value; nil when the rows cannot be
	// sought by it.
	Key []int
	// Width is the number of columns, Links those that expanded properties start from.
	Width int
	Links [][]int
	// Misplaced is the column, from 1, that is 1 where the rows may be in another order than the values that are shown; then
	// the Strict generator has the right one. 0 for none.
	Misplaced int
	// Stored are the items of the order that name a column as it is stored, although it may hold values of which answers show null.
	Stored []int
	// Shape names what decides on the rows and their order.
	Shape string
	// Steady tells that these depend on nothing but the state of the data that a stamp names.
	Steady bool
	// stamp names the state for which places are remembered; empty where the database has none.
	stamp       string
	g           *Generator
	list, from  frag
	order, keys frag
	items       []sortItem
	// total is the number of all rows, to be asked for with those of the page; empty where that takes a statement of its own.
	total frag
	// derived is the query whose shared expressions are computed for the rows of the page alone: they decide neither on
	// its rows nor on their order. nil where there are none, or where they do.
	derived *plan.Query
	// query is what is read; deep is how many rows are skipped at least where an index alone leads to the rows behind
	// them, 0 where none does.
	query *plan.Query
	deep  int64
	// span is how deep pages are found by an index that has only the first item of their order; nil for none.
	span *span
	// ready are the statements of Rows without a place, without skipped rows and with them.
	ready [2]atomic.Pointer[readyRows]
}

// readyRows is a statement without its last arguments: how many rows are read and skipped. read is the number of rows that
// the text may contain.
type readyRows struct {
	Statement
	read int64
}

// sortItem is one item of an order.
type sortItem struct {
	expr           plan.Expr
	value          frag
	desc, nullable bool
	// position makes a parameter of such a value.
	position string
}

// Page prepares the statements for a node at the top. With seek the rows carry the values that they are ordered by.
func (g *Generator) Page(n *plan.Node, seek bool) *Page {
	q := sharesOf(n)
	counted := n.Query.Range.Derived != nil && n.Count && g.d.remote()
	p := &Page{g: g, query: q, from: g.fromUnder(q, counted)}
	if len(q.Computed) > 0 && g.d.fence() != "" && !usesShared(append(orderExprs(q.Order), q.Filter)...) {
		p.derived, p.from = q, g.fromUnder(shares(q), counted)
	}
	if p.derived == nil {
		p.findDeep(n)
	}
	if g.d.stamp() != "" {
		p.Steady = g.steady(n.Query)
		seek = seek && p.Steady && g.soughtBy(n.Query.Order)
		p.stamp = g.stampOf(n.Query)
		if seek {
			p.stamp = g.whileRequired(n.Query, p.stamp)
		}
	}
	parts := g.list(n, nil)
	p.Links, p.Width = g.Links(n)
	var keys []frag
	for _, o := range n.Query.Order {
		x := g.pageKey(o.Expr)
		keys = append(keys, x)
		p.items = append(p.items, sortItem{o.Expr, x, o.Desc, g.sortsNull(o.Expr, x) && !g.unproven(o.Expr), g.position(o.Expr)})
		if !seek {
			continue
		}
		at := same(parts, x)
		if at < 0 {
			at, parts = len(parts), append(parts, x)
			p.Width = len(parts)
		}
		p.Key = append(p.Key, at)
	}
	p.Stored = g.storedItems(n.Query.Order)
	if misplaced := g.misplaced(n.Query.Order, p.Stored); misplaced.sql != "" {
		parts = append(parts, misplaced)
		p.Width = len(parts)
		p.Misplaced = p.Width
	}
	p.list, p.keys = plain(parts), join(", ", keys...)
	if len(n.Query.Order) > 0 {
		p.order = g.numbered(n.Query, g.orders(n.Query.Order))
	}
	if counted {
		p.total = text("COUNT(*) OVER ()") // for the rows are computed once
	} else if n.Count && len(n.Expand) == 0 && n.Page.Read > 0 && p.derived == nil && g.d.remote() {
		// MariaDB would carry out a subquery that sets a variable once for each row of the page.
		if total := g.count(n); !strings.Contains(total.sql, ":=") {
			p.total = fill("($1)", total)
		}
	}
	p.Shape = shape(p.from, p.order)
	return p
}

// findDeep finds out how deep pages are found, and from where on they are.
func (p *Page) findDeep(n *plan.Node) {
	deferrable := p.g.deferrable(n)
	if !deferrable {
		p.span = p.g.spanOf(n)
	}
	switch {
	case !deferrable && p.span == nil:
	case p.g.m.Deep == 0:
		p.deep = deep
	default:
		p.deep = max(p.g.m.Deep, 1)
	}
}

// position is how a value that rows were ordered by comes back as a parameter.
func (g *Generator) position(e plan.Expr) string {
	if ref, ok := e.(*plan.Ref); ok {
		return g.d.position(g.columnOf(ref))
	}
	return g.d.position(nil)
}

// same finds a value among columns: a collation changes how it compares, not what it is.
func same(parts []frag, x frag) int {
	want := withoutCollation(x)
	for i, p := range parts {
		if len(x.args) == 0 && p.sql == want {
			return i
		}
	}
	return -1
}

// shape writes down fragments with the values and types of their arguments.
func shape(list ...frag) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(f.sql)
		for _, a := range f.args {
			switch a := a.(type) {
			case int64:
				b.WriteString("\x00i" + strconv.FormatInt(a, 36))
			case string:
				b.WriteString("\x00s" + strconv.Itoa(len(a)) + ":" + a)
			default:
				_, _ = fmt.Fprintf(&b, "\x00%T:%q", a, fmt.Sprint(a))
			}
		}
		b.WriteByte(1)
	}
	return b.String()
}

// Rows reads at most read rows behind skip ones. After, when not nil, is the key of the row that these count from.
func (p *Page) Rows(read, skip int64, after []any) Statement {
	if p.deep > 0 && skip >= p.deep && after == nil {
		return p.deferred(p.list, frag{}, read, skip)
	}
	if p.derived == nil && after == nil {
		return p.plainRows(read, skip)
	}
	if p.derived == nil {
		return p.statement(p.list, frag{}, read, skip, after)
	}
	var tail []frag
	if after != nil {
		tail = append(tail, text("AND"), p.behind(after))
	}
	if p.order.sql != "" {
		tail = append(tail, text("ORDER BY"), p.order)
	}
	from := p.g.derivedPage(p.derived, join(" ", append(tail, p.g.limit(read, skip))...))
	return p.g.finish(join(" ", p.ended(from)...))
}

// plainRows returns the statement of a page that neither seeks nor reads a derived table. Its text is kept in p.ready: 0
// without skipped rows, 1 with them. A text that has read as a literal is replaced if read differs.
func (p *Page) plainRows(read, skip int64) Statement {
	ready, window, literal := &p.ready[0], []any(nil), !p.g.d.remote() || p.literal(skip)
	if !literal {
		window = append(window, read)
	}
	if skip > 0 {
		ready, window = &p.ready[1], append(window, skip)
	}
	kept := ready.Load()
	if kept == nil || kept.read != read && literal {
		s := p.statement(p.list, frag{}, read, skip, nil)
		kept = &readyRows{Statement{SQL: s.SQL, Args: slices.Clip(s.Args[:len(s.Args)-len(window)])}, read}
		ready.Store(kept)
	}
	return Statement{SQL: kept.SQL, Args: append(kept.Args, window...)}
}

// Together tells whether Counted can be asked for the rows and the number of all.
func (p *Page) Together() bool { return p.total.sql != "" }

// Counted is like Rows, with the number of all rows as a further column, and the stamp as the last if it is asked for: one
// statement sees one state of the data, and needs no transaction for that. It tells no number where the page has no row.
func (p *Page) Counted(read, skip int64, stamped bool) Statement {
	list := join(", ", p.list, p.total)
	if stamped {
		list = join(", ", list, text(p.stamp))
	}
	if p.deep > 0 && skip >= p.deep {
		return p.deferred(list, frag{}, read, skip)
	}
	return p.statement(list, frag{}, read, skip, nil)
}

// Step reads only the key of the row behind skip ones.
func (p *Page) Step(skip int64, after []any) Statement {
	return p.statement(p.keys, frag{}, 1, skip, after)
}

// ended is the statement over the rows of a page, in their order once more: a derived table has none.
func (p *Page) ended(from frag) []frag {
	parts := []frag{text("SELECT"), p.list, from}
	if p.order.sql != "" {
		parts = append(parts, text("ORDER BY"), p.order)
	}
	return parts
}

// statement reads a page under a further condition, which begins with AND where there is one.
func (p *Page) statement(list, guard frag, read, skip int64, after []any) Statement {
	parts := []frag{text("SELECT"), list, fill("$1$2", p.from, guard)}
	if after != nil {
		parts = append(parts, text("AND"), p.behind(after))
	}
	if p.order.sql != "" {
		parts = append(parts, text("ORDER BY"), p.order)
	}
	limit := p.g.limit(read, skip)
	if after == nil && guard.sql == "" && p.literal(skip) && len(list.args) == 0 {
		limit = text("LIMIT " + strconv.FormatInt(read, 10))
	}
	return p.g.finish(join(" ", append(parts, limit)...))
}

// literal tells whether the text of a statement says how many rows are read, and no parameter does. A parameter makes
// PostgreSQL plan the statement anew each time. That is right where there are other parameters, since a plan for some of
// their values may not suit the next ones.
func (p *Page) literal(skip int64) bool {
	return p.g.d.remote() && skip == 0 && len(p.list.args)+len(p.from.args)+len(p.order.args) == 0
}

// After makes keys for Rows of the values, in the form of answers, that a row is ordered by.
func (p *Page) After(values []plan.Value) []any {
	keys := make([]any, len(p.items))
	for i, it := range p.items {
		if v := values[i]; !v.Null {
			if it.expr.Type().Kind == edm.String && p.g.d.remote() { // servers refuse what they cannot store
				v.Bytes = bytes.ToValidUTF8(v.Bytes, []byte("\uFFFD"))
			}
			keys[i] = p.g.d.sortConstant(p.g, it.expr, &plan.Literal{T: it.expr.Type(), Value: v})
		}
	}
	return keys
}

// behind is the condition that a row comes after the one with these keys; nulls are the smallest values. Where it is
// equivalent, a comparison of row values is used, which lets an index seek to the place: it is null, and so not true,
// for rows with a null, which come first in ascending order.
func (p *Page) behind(after []any) frag {
	plainAsc, plainDesc := true, true
	values, args := make([]frag, len(after)), make([]frag, len(after))
	for i, it := range p.items {
		plainAsc = plainAsc && !it.desc && after[i] != nil
		plainDesc = plainDesc && it.desc && !it.nullable && after[i] != nil
		values[i], args[i] = it.value, it.param(after[i])
	}
	if (plainAsc || plainDesc) && p.g.d.seeksRows() {
		op := " > "
		if plainDesc {
			op = " < "
		}
		if len(values) == 1 {
			return join(op, values[0], args[0])
		}
		return join(op, fill("($1)", join(", ", values...)), fill("($1)", join(", ", args...)))
	}
	f := truth(false)
	for i := len(after) - 1; i >= 0; i-- {
		f = p.items[i].behind(after[i], f)
	}
	return fill("($1)", f)
}

func (it sortItem) param(key any) frag {
	if f, ok := key.(frag); ok { // of After
		return f
	}
	return fill(it.position, param(key))
}

// behind compares one item; rest decides where the values are the same.
func (it sortItem) behind(key any, rest frag) frag {
	x := it.value
	switch {
	case key == nil && it.desc:
		return fill("$1 IS NULL AND ($2)", x, rest)
	case key == nil:
		return fill("($1 IS NOT NULL OR ($2))", x, rest)
	case !it.desc:
		return fill("$1 >= $2 AND ($1 > $2 OR ($3))", x, it.param(key), rest)
	case it.nullable:
		return fill("($1 < $2 OR $1 IS NULL OR $1 = $2 AND ($3))", x, it.param(key), rest)
	default:
		return fill("$1 <= $2 AND ($1 < $2 OR ($3))", x, it.param(key), rest)
	}
}

// Siblings is like Children for parents with few children: it pages nothing, so it needs no rank. It selects all children
// of each parent, sorted by parent and then as the request orders them, and stops after limit rows in all. The columns
// are those of Children without the rank and the total.
func (g *Generator) Siblings(n *plan.Node, keys [][]any, limit int64) Statement {
	from, parent, _ := g.childrenFrom(n, keys)
	order := append(append([]frag(nil), parent...), g.numbered(n.Query, g.ordersWithin(n.Query.Order)))
	if len(n.Query.Order) == 0 {
		order = parent
	}
	f := fill("SELECT $1 $2 ORDER BY $3", plain(g.list(n, parent)), from, join(", ", order...))
	return g.finish(fill("$1 $2", f, g.limit(limit, 0)))
}
