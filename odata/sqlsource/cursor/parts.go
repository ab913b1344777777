package cursor

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// maxMany is how many texts a Reader knows that many rows have, and again how often it relies on that before it asks again.
const maxMany, relied = 1024, 100

// manyHave tells whether a probe has lately found many rows.
func (o *Reader) manyHave(p *sqltext.Probe) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := o.many[p.Name]
	if left > 0 {
		o.many[p.Name] = left - 1
	}
	return left > 0
}

func (o *Reader) foundMany(p *sqltext.Probe) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.many == nil || len(o.many) >= maxMany {
		o.many = map[string]int{}
	}
	o.many[p.Name] = relied
}

// narrowed opens a plan by an index of trigrams; nil where that does not pay or fails: it can be opened without.
func (o *Reader) narrowed(ctx context.Context, p *plan.Plan) plan.Rows {
	if p.Top == nil {
		return nil
	}
	probe := o.Gen.Probe(p.Top)
	if probe == nil || o.manyHave(probe) {
		return nil
	}
	r, err := o.few(ctx, p, probe)
	if err != nil {
		return nil
	}
	return r
}

// few opens a plan over the rows that an index of trigrams leaves, if these are few; nil where they are not, or where the
// index is no longer what it was. One snapshot has both answers.
func (o *Reader) few(ctx context.Context, p *plan.Plan, probe *sqltext.Probe) (plan.Rows, error) {
	tx, err := o.DB.Begin(ctx, engine.Need{Snapshot: true, Rows: probe.Few})
	if err != nil {
		return nil, o.fault(ctx, fmt.Errorf("begin: %w", err))
	}
	if o.Same != nil && !o.Same() {
		return nil, tx.Close()
	}
	narrow := &Reader{DB: o.DB, Gen: probe.Generator, Changed: o.Changed}
	r := &rows{ctx: ctx, gen: probe.Generator, tx: tx, node: p.Top, reader: narrow, version: tx.Version()}
	few, err := r.probed(probe)
	if err != nil {
		return nil, errors.Join(o.fault(ctx, err), r.Close())
	}
	if !few {
		o.foundMany(probe)
		return nil, r.Close()
	}
	r.page, r.dec = narrow.page(p), r.decoder(p.Top)
	if err := r.open(p); err != nil {
		return nil, errors.Join(o.fault(ctx, err), r.Close())
	}
	return r, nil
}

// probed tells whether there are few rows.
func (r *rows) probed(p *sqltext.Probe) (few bool, err error) {
	cur, err := r.ask(p.Statement)
	if err != nil {
		return false, fmt.Errorf("ask the index of parts: %w", err)
	}
	cells := make([]engine.Cell, 2)
	ok, err := cur.Next()
	if err == nil && ok {
		err = cur.Row(cells)
	}
	return ok && cells[0].Int <= p.Few && cells[1].Int == p.Schema, errors.Join(err, cur.Close())
}
