package cursor

import (
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// children are the rows of one expanded property for a run of the parents in a buffer: of all of them where they are
// few, else of as many as fit into memory. The next run is read when its first parent is asked for.
type children struct {
	buffer
	reader *rows
	// by and keys are those of linkKeys, by parent.
	by   []string
	keys [][]any
	// from and to are the parents of the run.
	from, to int
	groups   map[string]*group
	// asked are the names of the keys whose rows are read. Others may come along, which the database takes for equal.
	asked map[string]bool
	// run is how many parents are read at a time; 0 as long as all of them are tried.
	run int
	// part is how many rows of a parent are read at a time, where those of one may be too many; 0 for all. before is how
	// many of them come before the part.
	part, before int64
}

// expandLater notes what the children of a buffer's rows are found by.
func (r *rows) expandLater(b *buffer, links *linkKeys) {
	for i, n := range b.node.Expand {
		c := &children{buffer: buffer{node: n, dec: r.decoder(n), expect: b.rows}, reader: r}
		if b.rows > 0 {
			c.by, c.keys = links.by[i], links.keys[i]
		}
		b.children = append(b.children, c)
	}
}

// group gives the children of a parent. Parents are asked for in order, each as often as one likes.
func (c *children) group(parent int) (group, error) {
	if c.by[parent] == "" {
		return group{}, nil
	}
	if parent < c.from || parent >= c.to || c.before > 0 {
		c.before = 0
		if err := c.read(parent); err != nil {
			return group{}, c.fault(err)
		}
	}
	if g := c.groups[c.by[parent]]; g != nil {
		return *g, nil
	}
	return group{}, nil
}

// next gives the part of a parent's children that comes after those of g.
func (c *children) next(parent int, g group) (group, error) {
	c.before += int64(len(g.rows))
	if _, err := c.reader.readChildren(c, c.start(parent, parent+1), 0); err != nil {
		return group{}, c.fault(err)
	}
	if g := c.groups[c.by[parent]]; g != nil {
		return *g, nil
	}
	return group{}, nil
}

func (c *children) fault(err error) error {
	return c.reader.reader.fault(c.reader.ctx, fmt.Errorf("expand %s: %w", c.node.Nav.Name, err))
}

// page is the page of each parent, or the part of it that is read.
func (c *children) page() plan.Page {
	p := c.node.Page
	if c.part == 0 {
		return p
	}
	left := p.Rows - c.before
	p.Skip, p.Read, p.Rows = p.Skip+c.before, p.Read-c.before, min(left, c.part)
	if p.Rows < left { // the row behind the part tells whether there is another
		p.Read = p.Rows + 1
	}
	return p
}

// read reads the children of a parent and of those behind it.
func (c *children) read(parent int) error {
	n, r := c.node, c.reader
	if c.run == 0 && n.Many && !n.CountOnly && r.tx.Interleaves() {
		if done, err := r.readSiblings(c, c.start(parent, len(c.by))); done || err != nil {
			return err
		}
	}
	if c.run == 0 {
		if done, err := r.readChildren(c, c.start(parent, len(c.by)), maxChildren); done || err != nil {
			return err
		}
		c.shrink()
	}
	_, err := r.readChildren(c, c.start(parent, min(parent+c.run, len(c.by))), 0)
	return err
}

// shrink decides how many parents are read at a time, when their children may be too many. What was read of them so far
// tells how large they are.
func (c *children) shrink() {
	rows := int64(maxChildren)
	if c.rows > 0 {
		rows = min(rows, maxBuffered/max(int64(c.bytes/c.rows), 1))
	}
	c.run = len(c.by)
	if c.node.Many && !c.node.CountOnly {
		c.run = int(max(rows/max(c.node.Page.Rows, 1), 1))
		if c.run == 1 {
			c.part = partsOf * rows
		}
	}
}

// start begins a run and gives the keys of its parents, each once: of no more than one statement takes.
func (c *children) start(from, to int) [][]any {
	expect, most := c.expect, c.reader.gen.MaxKeys(c.node)
	c.buffer, c.from, c.to, c.groups = buffer{node: c.node, dec: c.buffer.dec.fresh(), expect: expect}, from, to, map[string]*group{}
	c.asked = make(map[string]bool, to-from)
	keys := make([][]any, 0, to-from)
	for i := from; i < to; i++ {
		name := c.by[i]
		if name == "" || c.asked[name] {
			continue
		}
		if len(keys) == most {
			c.to = i
			break
		}
		c.asked[name] = true
		keys = append(keys, c.keys[i])
	}
	return keys
}

// readChildren reads the pages of all parents. With a limit it is false, and what it read is of no use, when there are more
// rows than that, or more bytes than fit.
func (r *rows) readChildren(c *children, keys [][]any, limit int64) (done bool, err error) {
	part := *c.node
	part.Page = c.page()
	n, page := &part, part.Page
	most := int64(0)
	if limit > 0 && n.Many && !n.CountOnly {
		most = limit + 1
	}
	s := r.gen.Children(n, keys, most)
	cur, err := r.ask(s)
	if err != nil {
		return false, err
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
	for read := int64(0); ; read++ {
		ok, err := cur.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		if most > 0 && (read == limit || c.bytes > maxBuffered) {
			return false, nil
		}
		if err := cur.Row(cells); err != nil {
			return false, err
		}
		name, _ := keyOf(cells, parent)
		if !c.asked[name] {
			continue
		}
		g := c.groups[name]
		if g == nil {
			g = &group{}
			c.groups[name] = g
		}
		if n.Count {
			g.count = cells[total].Int
		}
		if n.CountOnly || n.Many && cells[rank].Int <= page.Skip {
			continue
		}
		if int64(len(g.rows)) == page.Rows {
			g.rest = c.before+page.Rows < c.node.Page.Rows
			g.more = !g.rest && page.Next
			continue
		}
		g.rows = append(g.rows, c.rows)
		if err := c.add(cells); err != nil {
			return false, err
		}
		links.add(cells, at)
	}
	r.expandLater(&c.buffer, &links)
	return true, nil
}

// childRows is the cursor over one parent's children.
type childRows struct {
	c      *children
	parent int
	g      group
	at     int
	err    error
}

func (r *childRows) Next() bool {
	if r.at+1 >= len(r.g.rows) {
		if !r.g.rest || r.err != nil {
			return false
		}
		if r.g, r.err = r.c.next(r.parent, r.g); len(r.g.rows) == 0 {
			return false
		}
		r.at = -1
	}
	r.at++
	return true
}

func (r *childRows) Row() []plan.Value      { return r.c.row(r.g.rows[r.at]) }
func (r *childRows) Expand(i int) plan.Rows { return r.c.expand(i, r.g.rows[r.at]) }
func (r *childRows) More() bool             { return r.g.more }
func (r *childRows) Count() int64           { return r.g.count }
func (r *childRows) Version() string        { return "" }
func (r *childRows) Err() error             { return r.err }
func (r *childRows) Close() error           { return nil }
