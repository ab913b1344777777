package cursor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Reader opens the rows of plans. It is safe for concurrent use.
type Reader struct {
	DB  engine.DB
	Gen *sqltext.Generator
	// Marks is what is remembered about the rows of queries; nil for nothing. Without it statements are all there is.
	Marks *seekcache.Cache
	// Seekable tells whether the order of a set's rows is total, whatever it is that they are ordered by, because the
	// key is unique. nil is never.
	Seekable func(*edm.EntitySet) bool
	// Changed looks whether the tables are still those that the model was made of: an engine.ErrChanged tells what is not.
	// It is asked where a statement failed for no reason that a client may be told, and, with mild, where a stored value
	// does not fit its type and null takes its place. nil is never.
	Changed func(ctx context.Context, mild bool) error
	// Seeks reports whether a request makes the looks that an index answers at once although nothing is remembered.
	Seeks bool
	// Stamps tells that statements name the state of the data that they see, and transactions do not.
	Stamps bool
	// Buffer is how many bytes of rows with children, or of children, are held at a time, for each level of $expand; 8 MiB
	// when zero.
	Buffer int

	mu     sync.Mutex
	proofs proofs
	// walks tells for a shape whether an index has its rows in their order.
	walks map[string]bool
	// cells are the memory of Single.
	cells []engine.Cell
}

// buffer returns Buffer, or what it usually is.
func (o *Reader) buffer() int { return cmp.Or(o.Buffer, usualBuffer) }

// prepared is a page in the plan's slot. Another generator makes another page. The doubts are those of the plan.
type prepared struct {
	gen    *sqltext.Generator
	page   *sqltext.Page
	doubts []sqltext.Doubt
}

// maxShapes bounds Reader.walks.
const maxShapes = 1024

// Open runs the statements of a plan up to the first row, without remembering anything. Faults are *plan.Error where a
// client may know them.
func Open(ctx context.Context, db engine.DB, gen *sqltext.Generator, p *plan.Plan) (plan.Rows, error) {
	return (&Reader{DB: db, Gen: gen}).Open(ctx, p)
}

// Open is like the function, and uses what is remembered. Where a sum has left the range that the database adds up
// itself, or an order is not that of the values that are shown, the statements are others.
func (o *Reader) Open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	r, err := o.open(ctx, p)
	var other *sqltext.Generator
	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, errMisplaced):
		other = o.Gen.Strict()
	case engine.IsOverflow(err):
		other = o.Gen.Wide()
	}
	if other == nil {
		return r, err
	}
	return (&Reader{DB: o.DB, Gen: other, Changed: o.Changed, Buffer: o.Buffer}).open(ctx, p)
}

func (o *Reader) open(ctx context.Context, p *plan.Plan) (plan.Rows, error) {
	if p.Top == nil {
		return nil, errors.New("the plan has no rows")
	}
	if err := o.affordable(ctx, p); err != nil {
		return nil, err
	}
	var r *rows
	var err error
	if o.looks() {
		r, err = o.openWhole(ctx, p, nil, false)
	} else {
		r, err = o.openPage(ctx, p, o.page(p, o.Gen))
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (o *Reader) openPage(ctx context.Context, p *plan.Plan, page *sqltext.Page) (*rows, error) {
	after := p.Top.Page.After != nil
	stamps := o.Stamps && o.Marks != nil && page.Steady && !p.Volatile && !after
	if stamps {
		if r, err := o.resume(ctx, p, page); r != nil || err != nil {
			return r, err
		}
	}
	// A place that is known leads to the page faster than a statement that counts as well.
	placed := stamps && p.Top.Page.Skip > 0 && page.Key != nil && o.Marks.Version(page.Shape) != ""
	if page.Together() && p.Kind == plan.Collection && !placed && !after {
		if r, err := o.counted(ctx, p, page, stamps); r != nil || err != nil {
			return r, err
		}
	}
	return o.openWhole(ctx, p, page, stamps)
}

// openWhole carries out all statements of a plan.
func (o *Reader) openWhole(ctx context.Context, p *plan.Plan, page *sqltext.Page, stamps bool) (*rows, error) {
	return o.begin(ctx, p, page, o.need(p), func(r *rows) (bool, error) {
		r.version, r.stamps = r.tx.Version(), stamps
		return true, r.open(p)
	})
}

// begin opens rows in a transaction and runs the first statements. It returns nil rows if first reports false. Without a
// page, the statements are those for what is known of the data that the transaction reads.
func (o *Reader) begin(ctx context.Context, p *plan.Plan, page *sqltext.Page, need engine.Need, first func(*rows) (bool, error)) (*rows, error) {
	tx, err := o.DB.Begin(ctx, need)
	if err != nil {
		return nil, o.fault(ctx, fmt.Errorf("begin: %w", err))
	}
	gen := o.Gen
	if page == nil {
		if tx, gen, err = o.proved(ctx, p, tx, need); err != nil {
			return nil, o.fault(ctx, fmt.Errorf("look at the data: %w", err))
		}
		page = o.page(p, gen)
	}
	r := &rows{ctx: ctx, gen: gen, tx: tx, node: p.Top, reader: o, page: page}
	r.dec = r.decoder(p.Top)
	ok, err := first(r)
	switch {
	case err != nil:
		return nil, errors.Join(o.fault(ctx, err), r.Close())
	case !ok:
		return nil, r.Close()
	}
	return r, nil
}

// page returns the statements of a plan, and keeps them in p.Prepared: in slot 1 if they can seek to the end of the page
// before, else in slot 0. A seek needs a total order and Marks; with Stamps the first page cannot use one.
func (o *Reader) page(p *plan.Plan, gen *sqltext.Generator) *sqltext.Page {
	if p.Volatile {
		return gen.Page(p.Top, false)
	}
	n := p.Top
	seek := n.Page.After == nil && n.Query.Range.Derived == nil && o.Marks != nil && o.Seekable != nil && n.Many && len(n.Query.Order) > 0 && len(n.Query.Joins) == 0 &&
		(!o.Stamps || n.Page.Skip > 0) && o.Seekable(n.Set)
	if p.Prepared == nil {
		return gen.Page(n, seek)
	}
	slot := 0
	if seek {
		slot = 1
	}
	if was, ok := p.Prepared[slot].Load().(prepared); ok && was.gen == gen {
		return was.page
	}
	page := gen.Page(n, seek)
	p.Prepared[slot].Store(prepared{gen, page, gen.Doubts(n)})
	return page
}

// counted gives the number of rows of a node.
func (r *rows) counted() (int64, error) {
	shape := totalOf(r.page)
	if r.stamps {
		return r.countStamped(shape)
	}
	if n, ok := r.reader.Marks.Count(shape, r.version); ok {
		return n, nil
	}
	n, err := r.one(r.gen.Count(r.node))
	if err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	r.reader.Marks.SetCount(shape, r.version, n)
	return n, nil
}

// stride is how far the places are apart that are noted on the way to a deep one.
const stride = 1000

// seek finds a place from which the rows at skip can be reached soon: the key to go on behind, and how many rows to pass
// over from there. A plan may name that place itself. The rows are those of plain OFFSET, as nothing is committed between the places of one version.
func (r *rows) seek(skip int64) (after []any, rest int64, err error) {
	if values := r.node.Page.After; values != nil {
		return r.page.After(values), skip, nil
	}
	if r.version == "" || r.page.Key == nil || skip == 0 {
		return nil, skip, nil
	}
	marks := r.reader.Marks
	at, _ := marks.Before(r.page.Shape, r.version, skip)
	if r.stamps || skip-at.Skip <= stride {
		return at.Key, skip - at.Skip, nil
	}
	if walk, err := r.walks(); err != nil || !walk {
		return at.Key, skip - at.Skip, err
	}
	for skip-at.Skip > stride {
		key, err := r.keyBehind(stride-1, at.Key)
		if err != nil || key == nil { // there are no so many rows, or none that can be told apart
			return at.Key, skip - at.Skip, err
		}
		at.Skip, at.Key = at.Skip+stride, key
		marks.Add(r.page.Shape, r.version, at)
	}
	return at.Key, skip - at.Skip, nil
}

// keyBehind reads the key of the row that comes n rows after the one behind a key; nil when there is no such row.
func (r *rows) keyBehind(n int64, after []any) ([]any, error) {
	var key []any
	err := r.first(r.page.Step(n, after), len(r.page.Key), func(cells []engine.Cell) { key = r.keyOf(cells, nil) })
	if err != nil {
		return nil, fmt.Errorf("look for a place: %w", err)
	}
	return key, nil
}

// keyOf copies the order key out of a row; at says where it is. It is nil when a part of the set's key is null, which no
// row can be found behind: SQLite lets several rows have it.
func (r *rows) keyOf(cells []engine.Cell, at []int) []any {
	key := make([]any, len(r.page.Key))
	for i := range key {
		from := i
		if at != nil {
			from = at[i]
		}
		c := &cells[from]
		switch c.Kind {
		case engine.Int:
			key[i] = c.Int
		case engine.Float:
			key[i] = c.Float
		case engine.Text:
			key[i] = string(c.Bytes)
		case engine.Blob:
			key[i] = append([]byte{}, c.Bytes...)
		case engine.Null:
			if r.ofKey(i) {
				return nil
			}
		}
	}
	return key
}

// ofKey tells whether an item of the order is a property of the set's key.
func (r *rows) ofKey(i int) bool {
	ref, ok := r.node.Query.Order[i].Expr.(*plan.Ref)
	if !ok || ref.Range != r.node.Query.Range || len(ref.Path) != 1 {
		return false
	}
	for _, p := range r.node.Set.Type.Key {
		if p == ref.Path[0] {
			return true
		}
	}
	return false
}

// mark notes the place behind the last row of a page, which the cursor stands on.
func (r *rows) mark() {
	if r.version == "" || r.page.Key == nil {
		return
	}
	if key := r.keyOf(r.cells, r.page.Key); key != nil && (!r.stamps || r.plainTimes(key)) {
		r.reader.Marks.Add(r.page.Shape, r.version, seekcache.Mark{Skip: r.node.Page.Skip + r.node.Page.Rows, Key: key})
	}
}

// walks tells whether the rows come in their order without being sorted, so that each step to a deep place costs no more
// than its rows.
func (r *rows) walks() (bool, error) {
	o := r.reader
	o.mu.Lock()
	walk, asked := o.walks[r.page.Shape]
	o.mu.Unlock()
	if asked {
		return walk, nil
	}
	s := r.page.Step(stride, nil)
	walk = true
	err := engine.Each(r.tx, 4, func(cells []engine.Cell) bool {
		walk = !strings.Contains(string(cells[3].Bytes), "TEMP B-TREE")
		return walk
	}, "EXPLAIN QUERY PLAN "+s.SQL, s.Args...)
	if err != nil {
		return false, fmt.Errorf("ask for the query plan: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.walks == nil || len(o.walks) >= maxShapes {
		o.walks = map[string]bool{}
	}
	o.walks[r.page.Shape] = walk
	return walk, nil
}

// need returns the demands of a plan on its transaction.
func (o *Reader) need(p *plan.Plan) engine.Need {
	named, alone := o.Marks != nil && !o.Stamps, isAlone(p)
	return engine.Need{
		Snapshot: p.Top.Count || len(p.Top.Expand) > 0 || named && !alone,
		Version:  named && alone,
		Rows:     rowsRead(p.Top),
	}
}

// isAlone reports whether a plan is carried out by one statement.
func isAlone(p *plan.Plan) bool {
	n := p.Top
	return p.Kind == plan.Collection && !n.Count && len(n.Expand) == 0 && n.Page.Skip == 0 && n.Page.Read > 0 && n.Query.From == nil && n.Query.Range.Derived == nil
}

// rowsRead is how many rows a statement looks at, as far as the plan tells: $apply may look at all that there are, however
// few it makes of them. SQLite sorts many rows sooner with a small cache.
func rowsRead(n *plan.Node) int64 {
	if n.Query.Range.Derived != nil {
		return plan.NoLimit
	}
	return n.Page.Read
}
