package cursor

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// counted opens a page together with the number of all rows, by one statement. The result is nil where the page has no
// row, which would tell that number: then the plan is carried out in a transaction.
func (o *Reader) counted(ctx context.Context, p *plan.Plan, page *sqltext.Page, stamps bool) (*rows, error) {
	return o.begin(ctx, p, page, engine.Need{Rows: rowsRead(p.Top)}, func(r *rows) (bool, error) {
		r.stamps = stamps
		err := r.together()
		return r.ahead, err
	})
}

// together reads up to the first row, and with it the number of all rows.
func (r *rows) together() error {
	width := max(r.page.Width, 1)
	more := 1
	if r.stamps {
		more = 2
	}
	if err := r.run(r.page.Counted(r.read(), r.node.Page.Skip, r.stamps), width+more); err != nil || !r.ahead {
		return err
	}
	r.count = r.cells[width].Int
	if r.stamps {
		r.version = string(r.cells[width+1].Bytes)
		r.reader.Marks.SetCount(totalOf(r.page), r.version, r.count)
	}
	return nil
}
