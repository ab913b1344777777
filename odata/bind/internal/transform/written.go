package transform

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// maxWritten bounds the parts of the statement that $apply becomes: values, paths, operators and columns, each as often as SQL
// has to repeat it. Transformations copy what stands before them, which no count of the request sees. SQLite takes 32,766
// parameters, PostgreSQL and MariaDB take 65,535. maxColumns bounds those of a derived table: PostgreSQL takes 1,664.
const (
	maxWritten = 30_000
	maxColumns = 1_500
)

// writing adds up the parts of a statement. A derived table that stands in several places counts in each, and is looked at
// once.
type writing struct {
	*Builder
	of   map[*plan.Derived]int64
	wide bool
}

// Bounded refuses a node whose statement would have too many parts.
func (b *Builder) Bounded(n *plan.Node, pos int) error {
	w := &writing{Builder: b, of: map[*plan.Derived]int64{}}
	parts := w.query(n.Query)
	for _, c := range n.Columns {
		parts = add(parts, w.expr(c.Expr))
	}
	switch {
	case w.wide || len(n.Columns) > maxColumns:
		return plan.Errorf(plan.TooLarge, pos, "the rows of $apply have more than %d values; this limit is fixed", maxColumns)
	case parts > maxWritten:
		return plan.Errorf(plan.TooLarge, pos, "the statement that $apply becomes has more than %d parts, since concat, rollup and other transformations repeat what stands before them; this limit is fixed", maxWritten)
	}
	return nil
}

func (w *writing) query(q *plan.Query) int64 {
	if q == nil {
		return 0
	}
	n := add(w.source(q.Range), w.query(q.From))
	n = add(n, w.expr(q.Range.Policy))
	for _, j := range q.Joins {
		n = add(n, 1+w.expr(j.Policy))
	}
	n = add(n, add(w.expr(q.Key), w.expr(q.Filter)))
	for _, c := range q.Computed {
		n = add(n, w.expr(c.Expr))
	}
	for _, o := range q.Order {
		n = add(n, w.expr(o.Expr))
	}
	return add(n, words(q.Search)*textsOf(q.Range.Set.Type))
}

// source counts what a range goes over.
func (w *writing) source(r *plan.Range) int64 {
	d := r.Derived
	if d == nil {
		return 1
	}
	if n, known := w.of[d]; known {
		return n
	}
	w.wide = w.wide || len(d.Columns) > maxColumns
	n := int64(0)
	for _, p := range d.Parts {
		n = add(n, w.query(p.Query))
		for _, e := range p.Keys {
			n = add(n, w.expr(e))
		}
		for _, e := range p.Values {
			n = add(n, w.expr(e))
		}
		for _, o := range p.Order {
			n = add(n, w.expr(o.Expr))
		}
	}
	w.of[d] = n
	return n
}

func (w *writing) expr(e plan.Expr) int64 {
	if e == nil {
		return 0
	}
	return w.Steps(e)
}

// add stays far from the end of int64: beyond maxWritten it does not matter by how much.
func add(x, y int64) int64 { return min(x, maxWritten+1) + min(y, maxWritten+1) }

// words are those of a search.
func words(s *plan.Search) int64 {
	if s == nil {
		return 0
	}
	n := int64(1)
	for _, a := range s.Args {
		n += words(a)
	}
	return n
}

// textsOf is how many columns of a type a search may look into.
func textsOf(t *edm.EntityType) int64 {
	n := int64(1)
	for _, p := range t.Properties {
		if p.Type.Kind == edm.String {
			n++
		}
	}
	return n
}
