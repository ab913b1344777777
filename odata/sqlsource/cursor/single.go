package cursor

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// Single is one row, or several that come one after the other.
type Single struct {
	values []plan.Value
	behind []Single
	// allowed reports that the first further column of the row is not 0.
	allowed bool
}

// Single runs a statement to its end and keeps the first row of it: the columns of a node, and more columns behind them. It is nil
// where there is no row. Expanded properties are not read. The Reader must be one of Within.
func (o *Reader) Single(ctx context.Context, tx engine.Tx, n *plan.Node, s sqltext.Statement, more int) (*Single, error) {
	list, err := o.Several(ctx, tx, n, s, more, 1)
	if len(list) == 0 || err != nil {
		return nil, err
	}
	return &list[0], nil
}

// Several is Single for the first rows of a statement, up to most of them.
func (o *Reader) Several(ctx context.Context, tx engine.Tx, n *plan.Node, s sqltext.Statement, more, most int) (list []Single, err error) {
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
	columns := len(n.Columns)
	width := max(columns+more, 1)
	o.cells = slices.Grow(o.cells[:0], width)[:width]
	list, values := make([]Single, 0, most), make([]plan.Value, columns*most)
	d := decoder{texts: o.Gen.Texts(n)}
	if o.Changed != nil {
		d.doubt = func() error { return o.Changed(ctx, true) }
	}
	for ; ok && len(list) < most; ok, err = cur.Next() {
		if err != nil {
			return nil, err
		}
		i := len(list)
		cells, row := o.cells, values[columns*i:columns*(i+1):columns*(i+1)]
		if err := cur.Row(cells); err != nil {
			return nil, fmt.Errorf("read a row: %w", err)
		}
		if err := d.row(row, cells, n); err != nil {
			return nil, err
		}
		if n := size(row); n > cap(d.own)-len(d.own) {
			d.own = make([]byte, 0, max(n, min(2*cap(d.own), ownBlock)))
		}
		d.pin()
		list = append(list, Single{values: row, allowed: more > 0 && cells[columns].Int != 0})
	}
	for ok && err == nil { // what a constraint says comes last
		ok, err = cur.Next()
	}
	if err != nil {
		return nil, err
	}
	list[0].behind = list[1:]
	return list, nil
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

// Allowed returns the row if its first further column is not 0, which is that of the row policy; else nil.
func (s *Single) Allowed() []plan.Value {
	if !s.allowed {
		return nil
	}
	return s.values
}

// Next goes to the next of several rows. The first is there at once.
func (s *Single) Next() bool {
	if len(s.behind) == 0 {
		return false
	}
	behind := s.behind[1:]
	*s = s.behind[0]
	s.behind = behind
	return true
}

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
