package cursor

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Within returns a Reader whose statements run in a transaction, which stays open when its rows are closed. It remembers nothing:
// what the transaction has written is not committed.
func (o *Reader) Within(tx engine.Tx) *Reader {
	return &Reader{DB: within{tx}, Gen: o.Gen, Changed: o.Changed, Seeks: o.Seeks}
}

// within hands out one transaction again and again.
type within struct{ tx engine.Tx }

func (w within) Begin(context.Context, engine.Need) (engine.Tx, error) { return open{w.tx}, nil }

func (within) Close() error { return nil }

// open is a transaction that somebody else closes.
type open struct{ engine.Tx }

func (open) Version() string { return "" }

func (open) Close() error { return nil }

// ForKey is For for the plan of the row that a key names.
func (o *Reader) ForKey(ctx context.Context, p *plan.Plan, key []plan.Value) (*sqltext.Generator, error) {
	if !o.looks() {
		return o.Gen, nil
	}
	return o.For(ctx, p.At(key))
}

// For returns the Generator for a plan, whose row a key names: it uses the indexes of columns that hold nothing but values of their
// types. The Reader must be one of Within.
func (o *Reader) For(ctx context.Context, p *plan.Plan) (*sqltext.Generator, error) {
	if !o.looks() {
		return o.Gen, nil
	}
	tx, err := o.DB.Begin(ctx, engine.Need{})
	if err != nil {
		return nil, err
	}
	_, gen, err := o.proved(ctx, p, tx, engine.Need{})
	return gen, err
}

// Fault makes of an error the one that a client may know; see Open.
func (o *Reader) Fault(ctx context.Context, err error) error { return o.fault(ctx, err) }

// Single is one row, and the cells of further columns behind it.
type Single struct {
	values []plan.Value
	// Further are the cells of the further columns, until Single is called again. Their texts are gone.
	Further []engine.Cell
}

// Single runs a statement to its end and keeps the first row of it: the columns of a node, and more columns behind them. It is nil
// where there is no row. Expanded properties are not read. The Reader must be one of Within.
func (o *Reader) Single(ctx context.Context, tx engine.Tx, n *plan.Node, s sqltext.Statement, more int) (_ *Single, err error) {
	if most := o.Gen.MaxParameters(); len(s.Args) > most {
		return nil, plan.Errorf(plan.TooLarge, -1, "the request becomes a statement with %d parameters, and the database takes %d", len(s.Args), most)
	}
	cur, err := tx.Query(s.SQL, s.Args)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	ok, err := cur.Next()
	if err != nil || !ok {
		return nil, err
	}
	cells := append(o.cells[:0], make([]engine.Cell, max(len(n.Columns)+more, 1))...)
	o.cells = cells
	if err := cur.Row(cells); err != nil {
		return nil, fmt.Errorf("read a row: %w", err)
	}
	d := decoder{texts: o.Gen.Texts(n)}
	if o.Changed != nil {
		d.doubt = func() error { return o.Changed(ctx, true) }
	}
	out := &Single{values: make([]plan.Value, len(n.Columns)), Further: cells[len(n.Columns):]}
	if err := d.row(out.values, cells, n); err != nil {
		return nil, err
	}
	d.own = make([]byte, 0, size(out.values))
	d.pin()
	for ok { // what a constraint says comes last
		if ok, err = cur.Next(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// size is how many bytes the texts of a row have.
func size(row []plan.Value) (n int) {
	for i := range row {
		n += len(row[i].Bytes)
	}
	return n
}

// Row returns the row.
func (s *Single) Row() []plan.Value { return s.values }

// Next is false: the row is there at once.
func (*Single) Next() bool { return false }

// Expand returns nil: there are no expanded properties.
func (*Single) Expand(int) plan.Rows { return nil }

// More is false.
func (*Single) More() bool { return false }

// Count is 0: nobody has counted.
func (*Single) Count() int64 { return 0 }

// Version is empty: the state of the data has no name before it is committed.
func (*Single) Version() string { return "" }

// Err is nil.
func (*Single) Err() error { return nil }

// Close does nothing.
func (*Single) Close() error { return nil }
