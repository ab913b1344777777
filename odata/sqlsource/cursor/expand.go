package cursor

import (
	"fmt"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// chunkRows is how many rows are held at a time where rows have children: the children of a chunk are read with one
// statement for each expanded property.
const chunkRows = 1000

// buffer holds rows and their children.
type buffer struct {
	node   *plan.Node
	values []plan.Value
	dec    decoder
	// children holds, for each expanded property, the rows of all parents.
	children []*children
	rows     int
	// expect is how many rows there may well be.
	expect int
}

// children are the rows of one expanded property for all parents of a buffer.
type children struct {
	buffer
	// of tells for each parent which rows are its own.
	of     []group
	groups map[string]*group
}

// group is the rows of one parent.
type group struct {
	rows  []int
	more  bool
	count int64
}

func (b *buffer) len() int { return b.rows }

func (b *buffer) row(i int) []plan.Value {
	n := len(b.node.Columns)
	return b.values[i*n : (i+1)*n]
}

func (b *buffer) expand(i, parent int) plan.Rows {
	c := b.children[i]
	return &childRows{c: c, g: c.of[parent], at: -1}
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
	b.dec.pin()
	b.rows++
	return nil
}

// fill reads the next chunk and the children of its rows.
func (r *rows) fill() error {
	b := &buffer{node: r.node, expect: int(min(r.node.Page.Rows-r.given, chunkRows))}
	at := r.page.Links
	var links linkKeys
	if r.cursor == nil {
		if err := r.query(); err != nil {
			return err
		}
	}
	limit := r.node.Page.Rows - r.given
	for r.ahead && int64(b.rows) < min(limit, chunkRows) {
		if err := b.add(r.cells); err != nil {
			return err
		}
		links.add(r.cells, at)
		if r.given+int64(b.rows) == r.node.Page.Rows {
			r.mark()
		}
		if err := r.step(); err != nil {
			return err
		}
	}
	r.chunk = b
	if !r.tx.Interleaves() {
		// The next chunk is a statement of its own.
		if err := r.cursor.Close(); err != nil {
			return err
		}
		r.cursor = nil
	}
	return r.expandAll(b, &links)
}

// linkKeys are, for each expanded property, what each row's children are found by.
type linkKeys struct {
	// by holds the key of each row in text form; "" for a row without children.
	by [][]string
	// keys holds each key once.
	keys [][][]any
	seen []map[string]bool
}

func (l *linkKeys) add(cells []engine.Cell, at [][]int) {
	if l.by == nil {
		l.by, l.keys = make([][]string, len(at)), make([][][]any, len(at))
		for range at {
			l.seen = append(l.seen, map[string]bool{})
		}
	}
	for i, positions := range at {
		name, key := keyOf(cells, positions)
		l.by[i] = append(l.by[i], name)
		if name != "" && !l.seen[i][name] {
			l.seen[i][name] = true
			l.keys[i] = append(l.keys[i], key)
		}
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

// expandAll reads the children of a buffer's rows, level by level.
func (r *rows) expandAll(b *buffer, links *linkKeys) error {
	for i, n := range b.node.Expand {
		c := &children{buffer: buffer{node: n, expect: b.rows}, groups: map[string]*group{}}
		b.children = append(b.children, c)
		if b.rows > 0 && len(links.keys[i]) > 0 {
			if err := r.readChildren(c, links.keys[i]); err != nil {
				return fmt.Errorf("expand %s: %w", n.Nav.Name, err)
			}
		}
		for row := range b.rows {
			if g := c.groups[links.by[i][row]]; g != nil {
				c.of = append(c.of, *g)
			} else {
				c.of = append(c.of, group{})
			}
		}
	}
	return nil
}

func (r *rows) readChildren(c *children, keys [][]any) error {
	n := c.node
	if n.Many && !n.CountOnly && r.tx.Interleaves() {
		if done, err := r.readSiblings(c, keys); done || err != nil {
			return err
		}
	}
	s := r.gen.Children(n, keys)
	cur, err := r.tx.Query(s.SQL, s.Args)
	if err != nil {
		return err
	}
	defer func() { _ = cur.Close() }()
	at, width := r.gen.Links(n)
	if n.CountOnly {
		width = 0
	}
	parent := make([]int, len(keys[0]))
	for i := range parent {
		parent[i] = width + i
	}
	width += len(parent)
	rank, total := width, width
	if n.CountOnly {
		width++
	} else if n.Many {
		width++
		total = width
		if n.Count {
			width++
		}
	}
	cells := make([]engine.Cell, width)
	var links linkKeys
	for {
		ok, err := cur.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := cur.Row(cells); err != nil {
			return err
		}
		name, _ := keyOf(cells, parent)
		g := c.groups[name]
		if g == nil {
			g = &group{}
			c.groups[name] = g
		}
		if n.Count {
			g.count = cells[total].Int
		}
		if n.CountOnly || n.Many && cells[rank].Int <= n.Page.Skip {
			continue
		}
		if int64(len(g.rows)) == n.Page.Rows {
			g.more = n.Page.Next
			continue
		}
		g.rows = append(g.rows, c.rows)
		if err := c.add(cells); err != nil {
			return err
		}
		links.add(cells, at)
	}
	return r.expandAll(&c.buffer, &links)
}

// childRows is the cursor over one parent's children.
type childRows struct {
	c  *children
	g  group
	at int
}

func (r *childRows) Next() bool {
	if r.at+1 >= len(r.g.rows) {
		return false
	}
	r.at++
	return true
}

func (r *childRows) Row() []plan.Value      { return r.c.row(r.g.rows[r.at]) }
func (r *childRows) Expand(i int) plan.Rows { return r.c.expand(i, r.g.rows[r.at]) }
func (r *childRows) More() bool             { return r.g.more }
func (r *childRows) Count() int64           { return r.g.count }
func (r *childRows) Version() string        { return "" }
func (r *childRows) Err() error             { return nil }
func (r *childRows) Close() error           { return nil }
