package cursor

import (
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// chunkRows is how many rows are held at a time where rows have children: the children of a chunk are read with one
// statement for each expanded property.
const chunkRows = 1000

// Bounds of the children that are held at a time, for each level of $expand. Of a single parent partsOf times as many are
// held, because each further part is found by counting all rows before it.
const (
	maxChildren = 20_000
	usualBuffer = 8 << 20 // of Reader.Buffer
	partsOf     = 4
)

// maxPage is how many rows of one parent are read and passed over by a statement for it alone.
const maxPage = 4000

// fewPerParent bounds how many rows are read in the hope that no parent has too many children.
const fewPerParent = 20

// valueBytes is the memory of a value without its text.
const valueBytes = 48

// buffer holds rows and their children.
type buffer struct {
	node   *plan.Node
	values []plan.Value
	dec    decoder
	// children holds, for each expanded property, the rows of the parents that are read next.
	children []*children
	rows     int
	bytes    int
	// expect is how many rows there may well be.
	expect int
	// shared reports whether a row may be shown more than once: it is the target of a to-one navigation, or below one.
	shared bool
}

// group is the rows of one parent.
type group struct {
	rows []int
	more bool
	// count is how many there are in all, as far as that was asked; seen is how many were read.
	count, seen int64
	// rest tells that the rows are a part, which another one follows.
	rest bool
}

func (b *buffer) len() int { return b.rows }

func (b *buffer) row(i int) []plan.Value {
	n := len(b.node.Columns)
	return b.values[i*n : (i+1)*n]
}

func (b *buffer) expand(i, parent int) plan.Rows {
	c := b.children[i]
	if c.each {
		c, parent = c.only(parent), 0
	}
	g, err := c.group(parent)
	return &childRows{c: c, parent: parent, g: g, at: -1, err: err}
}

// add decodes a row into the buffer.
func (b *buffer) add(cells []engine.Cell) error {
	n := len(b.node.Columns)
	from := len(b.values)
	if from+n > cap(b.values) {
		b.values = append(make([]plan.Value, 0, max(2*(from+n), b.expect*n)), b.values...)
	}
	b.values = b.values[:from+n]
	if err := b.dec.row(b.values[from:], cells, b.node); err != nil {
		return err
	}
	b.bytes += b.dec.pin() + n*valueBytes
	b.rows++
	return nil
}

// fill reads the next chunk and the children of its rows.
func (r *rows) fill() error {
	b := &buffer{node: r.node, dec: r.dec.fresh(), expect: int(min(r.node.Page.Rows-r.given, chunkRows))}
	at := r.page.Links
	var links linkKeys
	if r.cursor == nil {
		if err := r.query(); err != nil {
			return err
		}
	}
	limit := r.node.Page.Rows - r.given
	for r.ahead && int64(b.rows) < min(limit, chunkRows) && b.bytes < r.reader.buffer() {
		if err := b.add(r.cells); err != nil {
			return err
		}
		links.add(r.cells, at)
		if r.given+int64(b.rows) == r.node.Page.Rows {
			r.mark()
			r.unplaced = b.dec.unplaced(r.node, r.page.Stored)
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	r.chunk, r.kept, r.keptBytes = b, map[ofParent]*children{}, 0
	if r.dense == nil {
		r.dense = map[*plan.Node]bool{}
	}
	if !r.tx.Interleaves() {
		// The next chunk is a statement of its own.
		if err := r.cursor.Close(); err != nil {
			return err
		}
		r.cursor = nil
	}
	r.expandLater(b, &links)
	return nil
}

// linkKeys are, for each expanded property, what each row's children are found by.
type linkKeys struct {
	// by holds the key of each row in text form; "" for a row without children. keys holds the keys themselves.
	by   [][]string
	keys [][][]any
}

func (l *linkKeys) add(cells []engine.Cell, at [][]int) {
	if l.by == nil {
		l.by, l.keys = make([][]string, len(at)), make([][][]any, len(at))
	}
	for i, positions := range at {
		name, key := keyOf(cells, positions)
		l.by[i], l.keys[i] = append(l.by[i], name), append(l.keys[i], key)
	}
}

// keyOf reads a key from cells; the name is empty when a part is null.
func keyOf(cells []engine.Cell, at []int) (name string, key []any) {
	b := appendName(nil, cells, at)
	if len(b) == 0 {
		return "", nil
	}
	for _, p := range at {
		switch c := cells[p]; c.Kind {
		case engine.Int:
			key = append(key, c.Int)
		case engine.Float:
			key = append(key, c.Float)
		case engine.Blob:
			key = append(key, append([]byte(nil), c.Bytes...))
		case engine.Text:
			key = append(key, string(c.Bytes))
		}
	}
	return string(b), key
}

// appendName appends a key in text form; nothing when a part is null.
func appendName(dst []byte, cells []engine.Cell, at []int) []byte {
	b := dst
	for _, p := range at {
		switch c := &cells[p]; c.Kind {
		case engine.Null:
			return dst
		case engine.Int:
			b = strconv.AppendInt(append(b, 'n'), c.Int, 10)
		case engine.Float:
			if c.Float == float64(int64(c.Float)) {
				b = strconv.AppendInt(append(b, 'n'), int64(c.Float), 10)
			} else {
				b = strconv.AppendFloat(append(b, 'f'), c.Float, 'g', -1, 64)
			}
		case engine.Blob:
			b = append(append(b, 'b'), c.Bytes...)
		case engine.Text:
			b = append(append(b, 't'), c.Bytes...)
		}
		b = append(b, 0)
	}
	return b
}
