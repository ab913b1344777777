package sqltext

import "slices"

// Witness is that of package odata, which this one does not import.
type Witness = struct {
	Table   string
	Columns []string
	Values  []any
}

// With is the page whose statements for rows have none unless a witness is there as well. Those that count tell the same as
// without it.
func (p *Page) With(w *Witness) *Page {
	return &Page{
		Key: p.Key, Width: p.Width, Links: p.Links, Shape: p.Shape, Steady: p.Steady, stamp: p.stamp, g: p.g, list: p.list, from: p.from,
		order: p.order, keys: p.keys, items: p.items, total: p.total, query: p.query, deep: p.deep, witness: w, without: p,
	}
}

// Witnessed tells whether the page is one of With.
func (p *Page) Witnessed() bool { return p.witness != nil }

// TakesWitness tells whether With can be asked.
func (p *Page) TakesWitness() bool { return p.derived == nil && p.g.d.remote() }

// beside is the condition that the witness is there, which begins with AND; empty where there is none.
func (p *Page) beside() frag {
	w := p.witness
	if w == nil {
		return frag{}
	}
	conds := make([]frag, len(w.Columns))
	for i, column := range w.Columns {
		conds[i] = fill("$1 = $2", text(p.g.d.quote(column)), param(w.Values[i]))
	}
	return fill(" AND EXISTS (SELECT 1 FROM "+p.g.d.quote(w.Table)+" WHERE $1)", joinFrags(conds))
}

// readyWith is a statement of a witnessed page: its text, and the arguments before and after the values of the witness, but
// for the last ones, what is read and skipped.
type readyWith struct {
	table         string
	columns       []string
	read          int64
	sql           string
	before, after []any
}

// plainWith is plainRows for a page with a witness.
func (p *Page) plainWith(read, skip int64) Statement {
	window, ready, literal := []any{read}, &p.without.with[0], p.literal(skip)
	if literal {
		window = nil
	}
	if skip > 0 {
		window, ready = append(window, skip), &p.without.with[1]
	}
	w, kept := p.witness, ready.Load()
	if kept == nil || kept.table != w.Table || !slices.Equal(kept.columns, w.Columns) || kept.read != read && literal {
		s := p.statement(p.list, frag{}, read, skip, nil)
		at := len(p.list.args) + len(p.from.args)
		kept = &readyWith{w.Table, w.Columns, read, s.SQL, s.Args[:at], s.Args[at+len(w.Values) : len(s.Args)-len(window)]}
		ready.Store(kept)
	}
	return Statement{SQL: kept.sql, Args: slices.Concat(kept.before, w.Values, kept.after, window)}
}
