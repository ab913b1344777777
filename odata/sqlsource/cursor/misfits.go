package cursor

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Misfit tells of stored values that the type of their column cannot hold.
type Misfit struct {
	// Rows is how many rows have such a value, Key the key of the first of them that was read.
	Rows int64
	Key  string
}

// Misfits reads all rows of a node once, whatever its page, and tells for each column that is a property which values do
// not fit, and how many rows there are. Nothing but the current row is kept.
func Misfits(ctx context.Context, db engine.DB, gen *sqltext.Generator, n *plan.Node) (found []Misfit, rows int64, err error) {
	tx, err := db.Begin(ctx, engine.Need{Rows: plan.NoLimit})
	if err != nil {
		return nil, 0, fmt.Errorf("begin: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	page := gen.Page(n, false)
	s := page.Rows(plan.NoLimit, 0, nil)
	d := decoder{texts: gen.Texts(n)}
	found = make([]Misfit, len(n.Columns))
	err = engine.Each(tx, max(page.Width, 1), func(cells []engine.Cell) bool {
		rows++
		d.reset()
		d.misfits(found, cells, n)
		return true
	}, s.SQL, s.Args...)
	return found, rows, err
}

// misfits counts the values of a row that do not fit.
func (d *decoder) misfits(found []Misfit, cells []engine.Cell, n *plan.Node) {
	for i := range n.Columns {
		var v plan.Value
		if cells[i].Kind == engine.Null || d.cell(&v, cells, n, i) {
			continue
		}
		if found[i].Rows++; found[i].Rows == 1 {
			found[i].Key = d.key(cells, n)
		}
	}
}
