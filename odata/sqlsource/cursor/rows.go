package cursor

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// rows is the cursor over a node at the top. Without expanded properties it streams; with them it goes from chunk to
// chunk of rows, each with its children.
type rows struct {
	ctx  context.Context
	gen  *sqltext.Generator
	tx   engine.Tx
	node *plan.Node

	reader  *Reader
	page    *sqltext.Page
	version string
	// stamps tells that version is what statements tell, and that it counts for what is remembered alone.
	stamps bool

	cursor engine.Cursor
	cells  []engine.Cell
	values []plan.Value
	dec    decoder
	// ahead reports whether the cursor stands on a row, which cells hold. decoded reports whether values hold it, too.
	ahead, decoded bool
	// ended tells that the page has been left behind.
	ended bool
	// writers write cells as JSON, by column; nil if the decoder must. asked reports whether AppendJSON was called.
	writers []cellWriter
	asked   bool
	given   int64
	more    bool
	count   int64
	err     error

	// unplaced is the error for a page with a next link, see decoder.unplaced.
	unplaced error
	// chunk holds the rows of the current chunk when there are expanded properties.
	chunk *buffer
	at    int
	// dense holds the nodes below other expanded ones whose children are read parent by parent.
	dense map[*plan.Node]bool
	// kept holds the children of single parents until the next chunk, or until Reader.Buffer bytes were read, which keptBytes
	// counts.
	kept      map[ofParent]*children
	keptBytes int
}

// decoder makes the values of a node.
func (r *rows) decoder(n *plan.Node) decoder {
	d := decoder{texts: r.gen.Texts(n)}
	if changed := r.reader.Changed; changed != nil {
		d.doubt = func() error { return changed(r.ctx, true) }
	}
	return d
}

// open runs the statements and reads the first row.
func (r *rows) open(p *plan.Plan) error {
	if q := r.node.Query; q.Range.Derived != nil && q.From != nil {
		if err := r.parentExists(); err != nil {
			return err
		}
	}
	if r.node.Count || p.Kind == plan.RawCount {
		n, err := r.counted()
		if err != nil {
			return err
		}
		r.count = n
	}
	if p.Kind != plan.RawCount {
		if err := r.query(); err != nil {
			return err
		}
	}
	if !r.ahead && r.count == 0 && r.node.Query.From != nil {
		return r.parentExists()
	}
	return nil
}

func (r *rows) query() error {
	if r.node.Many && r.node.Page.Read == 0 {
		return nil
	}
	after, skip, err := r.seek(r.node.Page.Skip + r.given)
	if err != nil {
		return err
	}
	s, width := r.page.Rows(r.read(), skip, after), max(r.page.Width, 1)
	stamped := r.stamps && r.version == "" && r.page.Key != nil
	if stamped {
		s, width = r.page.Stamped(r.read(), skip, after), width+1
	}
	err = r.run(s, width)
	switch {
	case stamped && r.ahead:
		r.version = string(r.cells[width-1].Bytes)
	case r.version == "" && !r.stamps:
		r.version = r.tx.Version()
	}
	return err
}

// run runs the statement of a page and reads its first row into width cells.
func (r *rows) run(s sqltext.Statement, width int) error {
	cur, err := r.ask(s)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	r.cursor, r.cells = cur, make([]engine.Cell, width)
	if r.values == nil {
		r.values = make([]plan.Value, len(r.node.Columns))
	}
	if err := r.step(); err != nil {
		return err
	}
	at := r.page.Misplaced
	switch {
	case at == 0:
	case r.ahead && r.cells[at-1].Kind == engine.Int:
		return errMisplaced
	case !r.ahead && r.node.Page.After != nil: // no row that says so, and the rows behind may have other places
		return errMisplaced
	}
	return nil
}

// errMisplaced is the error for a page if stored values that no answer shows have places in its order; see sqltext.Page.Misplaced.
var errMisplaced = errors.New("the order of the page is not that of the values that it shows")

// read is how many rows the next statement asks for: all of them, but where children are to be read in between and the
// connection can only do one thing at a time, no more than a chunk and the row behind it.
func (r *rows) read() int64 {
	left := r.node.Page.Read - r.given
	if len(r.node.Expand) > 0 && !r.tx.Interleaves() {
		return min(left, chunkRows+1)
	}
	return left
}

// step moves the cursor on.
func (r *rows) step() error {
	ok, err := r.cursor.Next()
	if err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	r.decoded = false
	if r.ahead = ok; !ok {
		return r.cursor.Close()
	}
	if err := r.cursor.Row(r.cells); err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	return nil
}

// decode makes the values of the row that the cursor stands on.
func (r *rows) decode() error {
	if r.decoded {
		return nil
	}
	r.dec.reset()
	if err := r.dec.row(r.values, r.cells, r.node); err != nil {
		return err
	}
	r.decoded = true
	return nil
}

// parentExists tells an empty collection from one whose owner is not there.
func (r *rows) parentExists() error {
	n, err := r.one(r.gen.Exists(r.node.Query.From))
	if err != nil {
		return fmt.Errorf("look for the parent: %w", err)
	}
	if n == 0 {
		return &plan.Error{Kind: plan.NotFound, Pos: -1, Message: "there is no such resource"}
	}
	return nil
}

// one reads a single number; 0 when there is no row.
func (r *rows) one(s sqltext.Statement) (n int64, err error) {
	err = r.first(s, 1, func(cells []engine.Cell) { n = cells[0].Int })
	return n, err
}

// first runs a statement beside that of the page and passes its first row to read, if there is one. The cells are valid
// until read returns.
func (r *rows) first(s sqltext.Statement, width int, read func([]engine.Cell)) error {
	if err := r.fits(s); err != nil {
		return err
	}
	return engine.Each(r.tx, width, func(cells []engine.Cell) bool {
		read(cells)
		return false
	}, s.SQL, s.Args...)
}

// Next goes to the next row.
func (r *rows) Next() bool {
	if r.err != nil || r.tx == nil {
		return false
	}
	if r.given == r.node.Page.Rows {
		if !r.fail(r.leave()) {
			r.more = r.ahead && r.node.Page.Next
		}
		if r.more {
			r.more = !r.fail(r.unplaced)
		}
		return false
	}
	if len(r.node.Expand) > 0 {
		return r.nextBuffered()
	}
	if r.given > 0 && r.ahead && r.fail(r.step()) || !r.ahead {
		return false
	}
	if r.writers == nil && r.fail(r.decode()) {
		return false
	}
	r.given++
	return true
}

// leave notes the place behind the last row of the page and, where there may be one, looks for the row behind it.
func (r *rows) leave() error {
	if r.ended || r.given == 0 || len(r.node.Expand) > 0 {
		return nil
	}
	r.ended = true
	if r.version != "" && r.page.Key != nil {
		r.mark()
	}
	if len(r.page.Stored) > 0 && r.node.Cursor != nil {
		if err := r.decode(); err != nil {
			return err
		}
		r.unplaced = r.dec.unplaced(r.node, r.page.Stored)
	}
	if r.node.Page.Read > r.node.Page.Rows {
		return r.step()
	}
	return nil
}

// fail remembers a fault.
func (r *rows) fail(err error) bool {
	if err != nil && r.err == nil {
		r.err = r.reader.fault(r.ctx, err)
	}
	return err != nil
}

// nextBuffered hands out the rows of the chunk and fetches the next chunk behind them.
func (r *rows) nextBuffered() bool {
	if r.chunk == nil || r.at+1 >= r.chunk.len() {
		if !r.ahead || r.fail(r.fill()) {
			return false
		}
		r.at = -1
	}
	r.at++
	r.given++
	return true
}

// Row is the current row.
func (r *rows) Row() []plan.Value {
	if r.chunk != nil {
		return r.chunk.row(r.at)
	}
	if r.writers != nil && !r.ended {
		_ = r.fail(r.decode())
	}
	return r.values
}

// Expand gives the rows of an expanded property.
func (r *rows) Expand(i int) plan.Rows { return r.chunk.expand(i, r.at) }

// More tells whether the collection goes on.
func (r *rows) More() bool { return r.more }

// Count is the total.
func (r *rows) Count() int64 { return r.count }

// Version names the state of the data, where the database tells it without reading any.
func (r *rows) Version() string {
	if r.stamps {
		return ""
	}
	return r.version
}

// Err is the fault that ended the rows.
func (r *rows) Err() error { return r.err }

// Close ends the read transaction.
func (r *rows) Close() error {
	if r.tx == nil {
		return nil
	}
	tx := r.tx
	r.tx = nil
	var err error
	if r.cursor != nil {
		err = r.cursor.Close()
	}
	return errors.Join(err, tx.Close())
}

// ask runs a statement that fits.
func (r *rows) ask(s sqltext.Statement) (engine.Cursor, error) {
	if err := r.fits(s); err != nil {
		return nil, err
	}
	return r.tx.Query(s.SQL, s.Args)
}

// fits returns an error for a statement with more parameters than the database takes.
func (r *rows) fits(s sqltext.Statement) error {
	if most := r.gen.MaxParameters(); len(s.Args) > most {
		return plan.Errorf(plan.TooLarge, -1, "the request becomes a statement with %d parameters, and the database takes %d", len(s.Args), most)
	}
	return nil
}

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
