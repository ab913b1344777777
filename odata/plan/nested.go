package plan

// Bounds of the rows below the top of one answer.
const (
	// nestedRows is how many rows nested pages and all below them may have, and nestedPerRow how many more for each row at
	// the top and for each row of a nested collection that has a $top.
	nestedRows   = 10_000
	nestedPerRow = 100
	// deepRows is how many of these rows may be below two nested pages.
	deepRows = 10_000
)

// Nested decides where the pages of expanded collections end. It counts the rows of one answer in the order in which they
// are written, so that the pages of all sources are the same. It ends pages whose size the service chose. Rows at the top,
// rows of a nested $top, and the rows that to-one navigation names are counted and always written.
type Nested struct {
	limits Limits
	// rows are all rows so far, own those that nestedPerRow counts for, nested those of nested pages and below, deep those
	// below two nested pages.
	rows, own, nested, deep int64
}

// Nested returns the counter of one answer.
func (p *Plan) Nested() *Nested { return &Nested{limits: p.Limits.WithDefaults()} }

// Take counts a row of a node.
func (c *Nested) Take(n *Node) {
	c.rows++
	switch {
	case n.Pages > 1:
		c.deep++
		c.nested++
	case n.Pages == 1:
		c.nested++
	case n.Many || n.Nav == nil:
		c.own++
	}
}

// Ended reports whether the page of a nested collection has to end where it is. Written is the number of bytes of the answer
// so far. Half of the limits is left to the rows that are always written.
func (c *Nested) Ended(n *Node, written int64) bool {
	if n.Pages == 0 || !n.Many || n.Page.Size == 0 {
		return false
	}
	return c.nested >= nestedRows+c.own*nestedPerRow || n.Pages > 1 && c.deep >= deepRows ||
		c.rows >= c.limits.Rows/2 || written >= c.limits.Bytes/2
}
