package sqltext

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// atOnce is how many numbers of rows there are that one statement adds: the powers of two from 1 on, and the number in the middle
// between two of them. A server prepares few statements then.
const atOnce = 15

// sizeOf returns the greatest of these numbers that is not above n, which is at least 1, and its place among them.
func sizeOf(n int) (size, place int) {
	power := min(bits.Len(uint(n))-1, atOnce/2)
	size, place = 1<<power, 2*power
	if middle := size + size/2; middle <= n && middle > size && place+1 < atOnce {
		return middle, place + 1
	}
	return size, place
}

// AtOnce returns how many of the first of some creations with one After one statement can make, and return as ReturnRow does, with the
// same result as one after the other: 1 where it cannot. The number is one of sizeOf.
func (g *Generator) AtOnce(list []*write.Change) int {
	c := list[0]
	rules := g.m.Tables[c.Set].Rules
	if len(list) == 1 || c.Kind != write.Create || len(c.Values) == 0 || rules.Own || !g.Returns(c) {
		return 1
	}
	n, _ := sizeOf(max(min(len(list), g.MaxParameters()/(8*len(c.Values))), 1))
	if _, tells := g.d.(sqlite); !tells && g.mayTry(c) && slices.ContainsFunc(list[:n], func(c *write.Change) bool { return len(g.Trials(c)) > 0 }) {
		return 1
	}
	return n
}

// Insert is the statement that adds the rows of creations with one After, whose number is one of sizeOf; empty if a value does not fit.
func (g *Generator) Insert(list []*write.Change, what Returning) Statement {
	c := list[0]
	_, size := sizeOf(len(list))
	kept := g.prepared(c, 0)
	if kept != nil && (kept.what != what || len(kept.changing) != len(c.Values)) {
		kept = nil
	}
	known := kept != nil && kept.inserts[size] != ""
	var args []any
	if known {
		args = make([]any, 0, len(list)*len(c.Values)+len(kept.after))
	}
	for _, of := range list {
		if !known {
			break
		}
		values, ok := g.storedAll(c.After.Range(), of)
		if !ok {
			return Statement{}
		}
		for i, f := range values {
			known = known && kept.changing[i] == f.sql
			args = append(args, f.args...)
		}
	}
	if known {
		return Statement{SQL: kept.inserts[size], Args: append(args, kept.after...)}
	}
	rows := make([]frag, 0, len(c.Values)*len(list))
	for _, of := range list {
		values, ok := g.storedAll(c.After.Range(), of)
		if !ok {
			return Statement{}
		}
		rows = append(rows, values...)
	}
	return g.keepInsert(list, kept, rows, what)
}

// keepInsert makes an INSERT of values, and keeps it beside those of other numbers of rows with the same texts.
func (g *Generator) keepInsert(list []*write.Change, kept *shaped, values []frag, what Returning) Statement {
	c, width, alike := list[0], len(list[0].Values), true
	rows := make([]frag, len(list))
	for i := range rows {
		row := values[width*i : width*(i+1)]
		rows[i] = join(", ", row...)
		alike = alike && rows[i].sql == rows[0].sql
	}
	f := g.insert(c, rows)
	before := len(f.args)
	s := g.finish(g.returning(f, c, what))
	if c.Prepared == nil || !alike {
		return s
	}
	next := &shaped{gen: g, what: what, after: s.Args[before:]}
	for _, f := range values[:width] {
		next.changing = append(next.changing, f.sql)
	}
	if kept != nil && slices.Equal(kept.changing, next.changing) {
		next.inserts = kept.inserts
	}
	_, size := sizeOf(len(list))
	next.inserts[size] = s.SQL
	c.Prepared[0].Store(next)
	return s
}

// readsOthers reports whether an expression over the row of a table reads no further row of it: its subqueries read other tables.
func (g *Generator) readsOthers(t *Table, e plan.Expr) bool {
	others := true
	if e != nil {
		plan.WalkInto(func(e plan.Expr) bool {
			if sub, ok := e.(*plan.Sub); ok && others {
				others = g.isOfOthers(t, sub.Query)
			}
			return others
		}, e)
	}
	return others
}

// isOfOthers reports whether a query reads no row of a table. Nobody knows what a view reads.
func (g *Generator) isOfOthers(t *Table, q *plan.Query) bool {
	if q.Search != nil || q.Range.Derived != nil || q.From != nil && !g.isOfOthers(t, q.From) {
		return false
	}
	for _, r := range append([]*plan.Range{q.Range}, q.Joins...) {
		of := g.m.Tables[r.Set]
		if of.View || slices.Equal(of.Name, t.Name) || !g.readsOthers(t, r.Policy) {
			return false
		}
		if r.Nav == nil {
			continue
		}
		if l := g.m.Links[r.Nav]; l != nil && (l.ViaView || slices.Equal(l.Via, t.Name)) {
			return false
		}
	}
	return !slices.ContainsFunc(q.Counts, func(s *plan.Sub) bool { return !g.readsOthers(t, s) }) &&
		!slices.ContainsFunc(q.Computed, func(c *plan.Computed) bool { return !g.readsOthers(t, c) })
}

// isAlias reports whether a table has the name of an alias of a subquery, which would hide it there.
func isAlias(table string) bool {
	before := strings.TrimRight(table, "0123456789")
	return before != table && len(before) <= 2
}
