package sqltext

import (
	"math"
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Children is the statement for the rows of an expanded property, for all parents at once. Keys holds the values of
// the columns that the property starts from, one slice for each parent, without nulls and repetitions. The columns are
// those of Rows; behind them those that tell the parent, in the order of Link.From; and behind them, when the node
// has its total counted, that total. The rows of a parent come in their order, from Page.Skip on, at most Page.Read of
// them and limit of them all, 0 being no limit; with a total there is also the first row of a parent whose page begins later, see Outside.
func (g *Generator) Children(n *plan.Node, keys [][]any, limit int64) Statement {
	from, parent, each := g.childrenFrom(n, keys)
	by := join(", ", each...)
	if n.CountOnly {
		return g.finish(fill("SELECT $1, COUNT(*) $2 GROUP BY $3", join(", ", parent...), from, by))
	}
	if !n.Many {
		return g.finish(fill("SELECT $1 $2", plain(g.list(n, parent)), from))
	}
	extra := append(append([]frag(nil), parent...),
		fill("ROW_NUMBER() OVER (PARTITION BY $1 ORDER BY $2)", by, g.numbered(n.Query, g.ordersWithin(n.Query.Order))))
	if n.Count {
		extra = append(extra, fill("COUNT(*) OVER (PARTITION BY $1)", by))
	}
	inner := fill("SELECT $1 $2", named(g.list(n, extra)), from)
	_, width := g.Links(n)
	width += len(extra)
	rank := "c" + strconv.Itoa(width-1)
	if n.Count {
		rank = "c" + strconv.Itoa(width-2)
	}
	last := n.Page.Read
	if last > math.MaxInt64-n.Page.Skip {
		last = math.MaxInt64 - n.Page.Skip
	}
	window := fill(rank+" > $1 AND "+rank+" <= $2", g.d.number(n.Page.Skip), g.d.number(n.Page.Skip+last))
	if n.Count {
		window = fill("$1 OR "+rank+" = 1", window)
	}
	f := fill("SELECT * FROM ($1) AS q WHERE $2 ORDER BY "+rank, inner, window)
	if limit > 0 {
		f = fill("$1 $2", f, g.limit(limit, 0))
	}
	return g.finish(f)
}

// childrenFrom ties the range to the parents' keys. It gives the columns that say whose child a row is, and those to group by,
// which also tell parents apart whose keys the database takes for equal. Rows of further such parents may be among the rest.
func (g *Generator) childrenFrom(n *plan.Node, keys [][]any) (from frag, parent, each []frag) {
	q, link := sharesOf(n), g.m.Links[n.Nav]
	r := q.Range
	if link.Via == nil {
		for _, c := range link.To {
			parent = append(parent, text(g.col(r, c)))
		}
		return g.fromWhere(q, source{conds: []frag{g.oneOf(parent, link.To, keys)}, windows: n.Many}), parent, g.apart(parent, link.To, link.To)
	}
	v := "v" + alias(r)
	var inner []frag
	for _, c := range link.ViaFrom {
		parent = append(parent, text(v+"."+g.d.quote(c.Name)))
		inner = append(inner, text(g.d.quote(c.Name)))
	}
	s := g.viaOnce(r, link, g.oneOf(inner, link.From, keys))
	s.windows = n.Many
	if len(q.Computed) > 0 {
		s.within = g.within(r, link, g.oneOf(inner, link.From, keys))
	}
	return g.fromWhere(q, s), parent, g.apart(parent, link.ViaFrom, link.From)
}

// apart adds to what is selected of columns what tells values of theirs apart that the database takes for equal; with are those
// that they are compared with.
func (g *Generator) apart(selected []frag, columns, with []*Column) []frag {
	out := slices.Clone(selected)
	for i, c := range selected {
		if exact := g.exactPair(columns[i], with[i]); exact != "" {
			out = append(out, fill(exact, c))
		}
	}
	return out
}

// distinct is a column, which is compared with another, for a list after DISTINCT. What tells its values apart that the
// database takes for equal is beside it, under the name further.
func (g *Generator) distinct(c *Column, further string, with *Column) []frag {
	column := g.d.quote(c.Name)
	if exact := g.exactPair(c, with); exact != "" {
		return []frag{text(column), fill(exact+" AS "+g.d.quote(further), text(column))}
	}
	return []frag{text(column)}
}

// oneOf compares columns, which are of the types of others, with many keys.
func (g *Generator) oneOf(columns []frag, as []*Column, keys [][]any) frag {
	if len(columns) == 1 {
		values := make([]any, len(keys))
		for i, k := range keys {
			values[i] = k[0]
		}
		return g.d.among(columns[0], as[0], values)
	}
	return g.d.amongRows(columns, as, keys)
}

// Bounds of the keys of one statement, which may hold them twice: SQLite takes 32,766 parameters, and the time that MariaDB
// needs for conditions on several columns grows with their square.
const (
	maxKeys   = 10_000
	maxValues = 4_000
)

// MaxKeys is how many keys of parents Children and Siblings may get at a time.
func (g *Generator) MaxKeys(n *plan.Node) int {
	if columns := len(g.m.Links[n.Nav].From); columns > 1 {
		return maxValues / columns
	}
	return maxKeys
}
