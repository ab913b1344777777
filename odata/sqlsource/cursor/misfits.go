package cursor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Misfit tells of stored values that the type of their column cannot hold.
type Misfit struct {
	// Rows is how many rows have such a value, Key the key of the first of them that was read.
	Rows int64
	Key  string
	// Shown and ShownKey are the same for values that answers show all the same: texts that are no UTF-8, and decimals with more digits
	// than their type.
	Shown    int64
	ShownKey string
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
		switch {
		case cells[i].Kind == engine.Null:
		case !d.cell(&v, cells, n, i):
			if found[i].Rows++; found[i].Rows == 1 {
				found[i].Key = d.key(cells, n)
			}
		case !holds(&n.Columns[i].T, v.Bytes):
			if found[i].Shown++; found[i].Shown == 1 {
				found[i].ShownKey = d.key(cells, n)
			}
		}
	}
}

// holds reports whether a text is UTF-8, and whether a decimal has no more digits than its type.
func holds(t *edm.Type, value []byte) bool {
	switch t.Kind {
	case edm.String:
		return utf8.Valid(value)
	case edm.Decimal:
		whole, fraction, _ := bytes.Cut(bytes.TrimLeft(value, "-0"), []byte("."))
		return (t.Scale == edm.VariableScale || len(fraction) <= t.Scale) && (t.Precision == 0 || t.Scale == edm.VariableScale || len(whole) <= t.Precision-t.Scale)
	}
	return true
}
