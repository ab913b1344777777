package cursor

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// counted opens a page together with the number of all rows, by one statement. The result is nil where the page has no
// row, which would tell that number: then the plan is carried out in a transaction.
func (o *Reader) counted(ctx context.Context, p *plan.Plan, page *sqltext.Page, stamps bool) (*rows, error) {
	tx, err := o.DB.Begin(ctx, engine.Need{Rows: rowsRead(p.Top)})
	if err != nil {
		return nil, o.fault(ctx, fmt.Errorf("begin: %w", err))
	}
	r := &rows{ctx: ctx, gen: o.Gen, tx: tx, node: p.Top, reader: o, page: page, stamps: stamps}
	r.dec = r.decoder(p.Top)
	if err := r.together(); err != nil {
		return nil, errors.Join(o.fault(ctx, err), r.Close())
	}
	switch {
	case r.ahead:
		return r, nil
	case page.Witnessed():
		return nil, errors.Join(errUnseen, r.Close())
	}
	return nil, r.Close()
}

// together reads up to the first row, and with it the number of all rows.
func (r *rows) together() error {
	s, width := r.page.Counted(r.read(), r.node.Page.Skip, r.stamps), max(r.page.Width, 1)
	cur, err := r.ask(s)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	r.cursor, r.values = cur, make([]plan.Value, len(r.node.Columns))
	r.cells = make([]engine.Cell, width+1)
	if r.stamps {
		r.cells = make([]engine.Cell, width+2)
	}
	if err := r.step(); err != nil || !r.ahead {
		return err
	}
	r.count = r.cells[width].Int
	if r.stamps {
		r.version = string(r.cells[width+1].Bytes)
		r.reader.Marks.SetCount(totalOf(r.page), r.version, r.count)
	}
	return nil
}
