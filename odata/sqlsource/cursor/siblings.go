package cursor

import (
	"bytes"
	"errors"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// fewPerParent bounds how many rows are read in the hope that no parent has too many children.
const fewPerParent = 20

// readSiblings reads all children of all parents, which costs less than numbering them in the database as long as they
// are few. It is false when they are not; then what it read is of no use.
func (r *rows) readSiblings(c *children, keys [][]any) (done bool, err error) {
	n := c.node
	limit := min(int64(chunkRows+fewPerParent*len(keys)), maxChildren)
	s := r.gen.Siblings(n, keys, limit+1)
	cur, err := r.ask(s)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	at, width := r.gen.Links(n)
	var parent []int
	for range keys[0] {
		parent = append(parent, width)
		width++
	}
	cells := make([]engine.Cell, width)
	var links linkKeys
	var name, next []byte
	var g *group
	for total := int64(0); ; total++ {
		ok, err := cur.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		if total == limit || c.bytes > maxBuffered {
			return false, nil
		}
		if err := cur.Row(cells); err != nil {
			return false, err
		}
		if next = appendName(next[:0], cells, parent); g == nil || !bytes.Equal(next, name) {
			if !c.asked[string(next)] {
				continue
			}
			name = append(name[:0], next...)
			if g = c.groups[string(name)]; g == nil {
				g = &group{}
				c.groups[string(name)] = g
			}
		}
		if g.count++; g.count <= n.Page.Skip {
			continue
		}
		if int64(len(g.rows)) == n.Page.Rows {
			g.more = n.Page.Next
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
