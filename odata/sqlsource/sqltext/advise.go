package sqltext

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Advise lists the indexes that a plan would use and that are not there: for each level the columns that are compared
// for equality, and behind them those of the order or the first one that is compared otherwise.
func (g *Generator) Advise(n *plan.Node) []string {
	var out []string
	if n.Query.Range.Derived != nil {
		return nil
	}
	columns, ordered := g.wanted(n)
	t := g.m.Tables[n.Set]
	clean := g.Assuming(everyColumn(t))
	if len(columns) > 0 && !t.View && !slices.ContainsFunc(t.Indexes, func(ix []string) bool { return covers(ix, columns) }) {
		items := make([]string, len(columns))
		for i, c := range columns {
			items[i] = g.d.quote(c)
			if o := ordered[c]; o != nil {
				// The way in which the order is written is the way in which an index can serve it.
				x := clean.d.sortKey(clean, o.Expr)
				sql := g.d.order(x, o.Desc, g.ordersNull(o.Expr, x)).sql
				if !strings.Contains(sql, "(") { // MySQL has no index on an expression
					items[i] = strings.ReplaceAll(sql, alias(n.Query.Range)+".", "")
				}
			}
		}
		advice := "CREATE INDEX " + g.d.quote(strings.Join(append(t.Name[len(t.Name)-1:], columns...), "_")) + " ON " + g.table(t.Name) + " (" + strings.Join(items, ", ") + ")"
		out = append(out, strings.ReplaceAll(advice, dollar, "$"))
	}
	for _, x := range n.Expand {
		out = append(out, g.Advise(x)...)
	}
	return out
}

// everyColumn returns the columns of a table as Assuming takes them.
func everyColumn(t *Table) map[*Column]bool {
	all := map[*Column]bool{}
	for _, c := range t.Columns {
		all[c] = true
		for _, member := range c.Sub {
			all[member] = true
		}
	}
	return all
}

// covers tells whether an index begins with the columns.
func covers(index, columns []string) bool {
	return len(index) >= len(columns) && slices.Equal(index[:len(columns)], columns)
}

// wanted are the columns of the index that fits a node, and the items of the order that some of them serve. The key at the end of an order is left out where it stands
// behind others: indexes hold it anyway, or it hardly matters.
func (g *Generator) wanted(n *plan.Node) (columns []string, ordered map[string]*plan.Order) {
	ordered = map[string]*plan.Order{}
	var equal, other []string
	if n.Nav != nil || n.Query.From != nil {
		if link := g.m.Links[n.Query.Range.Nav]; link.Via == nil {
			for _, c := range link.To {
				equal = append(equal, c.Name)
			}
		}
	}
	for _, cond := range []plan.Expr{n.Query.Key, n.Query.Range.Policy, n.Query.Filter} {
		g.compared(n, cond, &equal, &other)
	}
	columns = equal
	for i := range n.Query.Order {
		o := &n.Query.Order[i]
		ref, ok := o.Expr.(*plan.Ref)
		if !ok || ref.Range != n.Query.Range || o.Desc != n.Query.Order[0].Desc && !n.Set.Type.IsKey(ref.Path[0]) {
			break
		}
		if name := g.columnOf(ref).Name; !slices.Contains(columns, name) && !n.Set.Type.IsKey(ref.Path[0]) {
			columns = append(columns, name)
			ordered[name] = o
		}
	}
	if len(columns) == len(equal) && len(other) > 0 {
		columns = append(columns, other[0])
	}
	return columns, ordered
}

// compared collects the columns of a conjunction that are compared with constants.
func (g *Generator) compared(n *plan.Node, e plan.Expr, equal, other *[]string) {
	plan.Walk(e, func(e plan.Expr) bool {
		call, ok := e.(*plan.Call)
		if !ok || call.Name == "and" {
			return ok
		}
		into := other
		switch call.Name {
		case "eq", "in":
			into = equal
		case "gt", "ge", "lt", "le", "startswith":
		default:
			return false
		}
		ref, ok := call.Args[0].(*plan.Ref)
		if !ok || len(ref.Path) == 0 || ref.Range != n.Query.Range || len(call.Args) > 1 && !isLiteral(call.Args[1]) {
			return false
		}
		if call.Name == "startswith" && g.d.hint(g, g.m.Tables[n.Set], g.columnOf(ref), call.Name, "abc").Advice != "" {
			return false // an index of another kind helps
		}
		if name := g.columnOf(ref).Name; !slices.Contains(*into, name) {
			*into = append(*into, name)
		}
		return false
	})
}

func isLiteral(e plan.Expr) bool {
	_, ok := e.(*plan.Literal)
	return ok
}

// Hint describes how a condition on a part of a text is answered.
type Hint struct {
	// Text is the condition and what is to be said of it, such as "contains(name) …".
	Text string
	// Index is the index that the statement asks; empty where there is none. Whether the database uses it, its query plan
	// tells.
	Index string
	// Advice creates an index that would help; empty where none would.
	Advice string
}

// Hints tell how each condition of a plan on a part of a text is answered.
func (g *Generator) Hints(n *plan.Node) []Hint {
	var out []Hint
	add := func(set *plan.Range, name string, c *Column, op, s string) {
		h := g.d.hint(g, g.m.Tables[set.Set], c, op, s)
		h.Text = strings.ReplaceAll(name+"("+c.Name+") "+h.Text, dollar, "$")
		h.Advice = strings.ReplaceAll(h.Advice, dollar, "$")
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	see := func(e plan.Expr) bool {
		call, ok := e.(*plan.Call)
		if ok && slices.Contains([]string{"contains", "startswith", "endswith", "matchespattern"}, call.Name) {
			if ref, op, s := g.sought(call); ref != nil {
				add(ref.Range, call.Name, g.columnOf(ref), op, s)
			}
		}
		return true
	}
	plan.Walk(n.Query.Filter, see)
	plan.Walk(n.Query.Range.Policy, see)
	if t := g.m.Tables[n.Set]; n.Query.Search != nil && t.FullText == nil {
		for _, c := range t.Search {
			add(n.Query.Range, "search", c, "tolower", longestTerm(n.Query.Search))
		}
	}
	for _, x := range n.Expand {
		out = append(out, g.Hints(x)...)
	}
	return out
}

// longestTerm is the longest word of a search.
func longestTerm(s *plan.Search) string {
	longest := s.Term
	for _, a := range s.Args {
		if term := longestTerm(a); len(term) > len(longest) {
			longest = term
		}
	}
	return longest
}

const shortPart = "reads every row: no three letters or digits of the constant stand in a row, as an index of parts needs them"

func (d postgres) hint(g *Generator, t *Table, c *Column, op, s string) Hint {
	column := d.quote(c.Name)
	narrowed := d.narrow(op, text(column), c, s).sql != ""
	trigram := c.Trigram != nil
	switch {
	case narrowed && trigram && (op != "startswith" || c.Prefix == "" && c.Collation != "C"):
		return Hint{Text: "asks the index " + c.Trigram.Name + ", and then looks at what it finds", Index: c.Trigram.Name}
	case narrowed:
		return Hint{Text: "asks for a range of texts, which an index in the order of code points has in one place"}
	case c.Type != "text" && c.Type != "character varying":
		return Hint{Text: "reads every row: the column is " + c.Type + ", and only text and character varying have an index of parts"}
	case op == "startswith" && !t.View:
		return Hint{Text: "reads every row", Advice: "CREATE INDEX ON " + g.table(t.Name) + " (" + column + codePoints + ")"}
	case (&Trigram{Letters: true}).part(s) == "":
		return Hint{Text: shortPart}
	case trigram && op == "tolower":
		return Hint{Text: "reads every row: the index " + c.Trigram.Name + " finds small letters only where the locale of the database and of the column is one of libc"}
	case trigram:
		return Hint{Text: "reads every row: in this locale the index " + c.Trigram.Name + " finds three letters or digits of ASCII in a row, without I"}
	case t.View:
		return Hint{Text: "reads every row of the view, which has no index of its own"}
	}
	collation := ""
	if c.Collation == "nondeterministic" {
		collation = codePoints
	}
	return Hint{Text: "reads every row", Advice: "CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE INDEX ON " + g.table(t.Name) + " USING gin (" + column + collation + " gin_trgm_ops)"}
}

func (mysql) hint(_ *Generator, _ *Table, _ *Column, op, _ string) Hint {
	if op == "startswith" {
		return Hint{Text: "asks for a range of texts, which an index that begins with the column has in one place"}
	}
	return Hint{Text: "reads every row: MariaDB has no index of parts of texts; FULLTEXT finds words"}
}

func (sqlite) hint(_ *Generator, _ *Table, _ *Column, op, _ string) Hint {
	if op == "startswith" {
		return Hint{Text: "asks for a range of texts, which an index that begins with the column has in one place"}
	}
	return Hint{Text: "reads every row: SQLite has no index of parts of texts; PostgreSQL has pg_trgm"}
}
