package cursor

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

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
	// shared reports whether parents are asked for in any order, alone whether neighbours are not asked for one after the other.
	shared, alone bool
	// each reports whether a statement reads the page of one parent, which needs no rank. below reports whether the parents are
	// children, too.
	each, below bool
	// run is how many parents are read at a time; 0 as long as all of them are tried.
	run int
	// part is how many rows of a parent are read at a time, where those of one may be too many; 0 for all. before is how
	// many of them come before the part.
	part, before int64
}

// expandLater notes what the children of a buffer's rows are found by.
func (r *rows) expandLater(b *buffer, links *linkKeys) {
	for i, n := range b.node.Expand {
		c := &children{
			buffer: buffer{node: n, dec: r.decoder(n), expect: b.rows}, reader: r,
			shared: b.shared, alone: b.shared && !b.node.Many, below: b.node != r.node,
		}
		if b.rows > 0 {
			c.by, c.keys = links.by[i], links.keys[i]
		}
		b.children = append(b.children, c)
	}
}

// group gives the children of a parent. Parents are asked for in order, each as often as one likes, unless they are shared.
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
	if _, err := c.reader.readChildren(c, c.start(parent, parent+1), 0, false); err != nil {
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
	first := parent
	if c.shared && len(c.by) <= r.gen.MaxKeys(n) {
		first = 0
	}
	if c.run == 0 && r.dense[n] {
		c.run, c.each = 1, true
	}
	if c.run == 0 && n.Many && !n.CountOnly && r.tx.Interleaves() {
		keys := c.start(first, len(c.by))
		if done, err := r.readChildren(c, keys, min(int64(chunkRows+fewPerParent*len(keys)), maxChildren), true); done || err != nil {
			return err
		}
		if c.fitsEach() {
			c.run, c.each = 1, true
			if c.below { // there is one of these for each run above
				r.dense[n] = true
			}
		}
	}
	if c.run == 0 {
		if done, err := r.readChildren(c, c.start(first, len(c.by)), maxChildren, false); done || err != nil {
			return err
		}
		c.shrink()
	}
	_, err := r.readChildren(c, c.start(parent, min(parent+c.run, len(c.by))), 0, c.each && integers(c.keys[parent]))
	return err
}

// fitsEach reports whether a statement for each parent is better, after one for all of them read more than few rows. Then a
// rank would be computed for all rows of all parents, which takes longer than a statement for each page that is written.
func (c *children) fitsEach() bool {
	p := c.node.Page
	if c.node.Count || p.Skip > maxPage || p.Read > maxPage {
		return false
	}
	return c.rows == 0 || int64(c.bytes/c.rows)*p.Read <= partsOf*int64(c.reader.reader.buffer())
}

// ofParent names the children of a node that rows with a key have, on whatever path the rows are.
type ofParent struct {
	node *plan.Node
	key  string
}

// only returns the children of one parent.
func (c *children) only(parent int) *children {
	r, name := c.reader, ofParent{c.node, c.by[parent]}
	if r.keptBytes > r.reader.buffer() {
		clear(r.kept)
		r.keptBytes = 0
	}
	if s := r.kept[name]; s != nil {
		return s
	}
	s := &children{
		buffer: buffer{node: c.node, dec: c.buffer.dec.fresh()}, reader: r, by: c.by[parent : parent+1], keys: c.keys[parent : parent+1],
		shared: true, below: c.below, run: 1, each: true,
	}
	r.kept[name] = s
	return s
}

// integers reports whether no other keys are equal to a key.
func integers(key []any) bool {
	return !slices.ContainsFunc(key, func(v any) bool { _, ok := v.(int64); return !ok })
}

// shrink decides how many parents are read at a time, when their children may be too many. What was read of them so far
// tells how large they are.
func (c *children) shrink() {
	rows := int64(maxChildren)
	if c.rows > 0 {
		rows = min(rows, int64(c.reader.reader.buffer())/max(int64(c.bytes/c.rows), 1))
	}
	c.run = len(c.by)
	if c.node.Many && !c.node.CountOnly {
		c.run = int(max(rows/max(c.node.Page.Rows, 1), 1))
		if c.alone {
			c.run = 1
		}
		if c.run == 1 {
			c.part = partsOf * rows
		}
	}
}

// start begins a run and gives the keys of its parents, each once: of no more than one statement takes.
func (c *children) start(from, to int) [][]any {
	expect, most := c.expect, c.reader.gen.MaxKeys(c.node)
	c.buffer = buffer{node: c.node, dec: c.buffer.dec.fresh(), expect: expect, shared: c.shared || !c.node.Many}
	c.from, c.to, c.groups = from, to, map[string]*group{}
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

// childColumns are the places of what is read of children.
type childColumns struct {
	// links are those of their own children, parent those of the parent's key.
	links  [][]int
	parent []int
	// rank and total are those of the child's number among its siblings and of how many these are; -1 where they are not read.
	rank, total int
	width       int
}

func (r *rows) childColumns(n *plan.Node, keys [][]any, numbered bool) childColumns {
	c := childColumns{rank: -1, total: -1}
	if c.links, c.width = r.gen.Links(n); n.CountOnly {
		c.width = 0
	}
	column := func() int {
		c.width++
		return c.width - 1
	}
	for range keys[0] {
		c.parent = append(c.parent, column())
	}
	if !numbered {
		return c
	}
	if n.Many && !n.CountOnly {
		c.rank = column()
	}
	if n.Count || n.CountOnly {
		c.total = column()
	}
	return c
}

// readChildren reads the pages of all parents. With a limit it is false, and what it read is of no use, when there are more
// rows than that, or more bytes than fit. Siblings are not numbered by the database: all of them are read and counted here,
// which costs less as long as they are few; without a limit only those of one parent up to the end of its page.
func (r *rows) readChildren(c *children, keys [][]any, limit int64, siblings bool) (done bool, err error) {
	part := *c.node
	part.Page = c.page()
	n, page := &part, part.Page
	most := int64(0)
	limited := limit > 0 && n.Many && !n.CountOnly
	if limited {
		most = limit + 1
	} else if siblings {
		most = page.Skip + page.Read
	}
	s := r.gen.Children
	if siblings {
		s = r.gen.Siblings
	}
	cur, err := r.ask(s(n, keys, most))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	at := r.childColumns(n, keys, !siblings)
	cells := make([]engine.Cell, at.width)
	var links linkKeys
	var name, next []byte
	var g *group
	for read := int64(0); ; read++ {
		ok, err := cur.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		if limited && (read == limit || c.bytes > r.reader.buffer()) {
			return false, nil
		}
		if err := cur.Row(cells); err != nil {
			return false, err
		}
		if next = appendName(next[:0], cells, at.parent); g == nil || !bytes.Equal(next, name) {
			if !c.asked[string(next)] {
				continue
			}
			name = append(name[:0], next...)
			if g = c.groups[string(name)]; g == nil {
				g = &group{}
				c.groups[string(name)] = g
			}
		}
		g.seen++
		rank := g.seen
		if at.rank >= 0 {
			rank = cells[at.rank].Int
		}
		switch {
		case siblings:
			g.count = g.seen
		case at.total >= 0:
			g.count = cells[at.total].Int
		}
		if n.CountOnly || n.Many && rank <= page.Skip {
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
		links.add(cells, at.links)
	}
	r.keptBytes += c.bytes
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
