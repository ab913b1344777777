package memory

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// node is a plan.Node that is ready to run.
type node struct {
	plan    *plan.Node
	query   *query
	order   []order
	columns []value
	expand  []*node
}

func (c *compiler) node(n *plan.Node) *node {
	out := &node{plan: n, query: c.query(n.Query), order: c.orders(n.Query.Order)}
	for _, col := range n.Columns {
		out.columns = append(out.columns, c.shown(col.Expr, written(c.expr(col.Expr), col.T)))
	}
	for _, x := range n.Expand {
		out.expand = append(out.expand, c.node(x))
	}
	return out
}

// shown ends the answer at a stored value that its type cannot hold, and says where it is.
func (c *compiler) shown(e plan.Expr, v value) value {
	ref, ok := e.(*plan.Ref)
	if !ok {
		return v
	}
	set, id := c.source.bySet[ref.Range.Set], ref.Range.ID
	return func(e *env) plan.Value {
		out := v(e)
		if isMisfit(out) && e.err == nil {
			var path, key []string
			for _, p := range ref.Path {
				path = append(path, p.Name)
			}
			for _, at := range set.key() {
				k, cell := e.rows[id][at], set.cells[at]
				key = append(key, strings.TrimPrefix(string(appendKey(nil, k, cell.typ.Kind)), strconv.Itoa(len(k.Bytes))+":"))
			}
			e.err = fmt.Errorf("%s(%s)/%s: the value is no Edm.%s, and the property does not allow null", set.edm.Name, strings.Join(key, ","), strings.Join(path, "/"), ref.T.Kind)
		}
		return out
	}
}

// written gives a Decimal as many digits behind the point as its type has.
func written(v value, t edm.Type) value {
	if t.Kind != edm.Decimal || t.Scale <= 0 {
		return v
	}
	return func(e *env) plan.Value {
		out := v(e)
		if out.Null {
			return out
		}
		whole, frac, _ := bytes.Cut(out.Bytes, []byte("."))
		text := append(append(append([]byte{}, whole...), '.'), frac...)
		for n := len(frac); n < t.Scale; n++ {
			text = append(text, '0')
		}
		out.Bytes = text
		return out
	}
}

// rows is the cursor over a node. Which rows there are, and their order, is found when it is opened; their columns are
// computed one row after the other.
type rows struct {
	env   *env
	node  *node
	page  []sorted
	at    int
	more  bool
	count int64
	row   []plan.Value
}

// open finds the rows of the page. With counted only their number is wanted.
func (r *rows) open(counted bool) error {
	n, p := r.node, r.node.plan.Page
	if n.query.derived != nil && n.query.from != nil && !n.query.from.first(r.env) {
		return &plan.Error{Kind: plan.NotFound, Pos: -1, Message: "there is no such resource"}
	}
	var all []sorted
	r.node.query.each(r.env, func() bool {
		r.count++
		if !counted && !n.plan.CountOnly {
			all = append(all, sorted{row: r.env.rows[n.query.id], keys: keys(r.env, n.order)})
		}
		return n.plan.Many || n.plan.Count
	})
	if r.env.err != nil {
		return r.env.err
	}
	if r.count == 0 && n.query.from != nil && !n.query.from.first(r.env) {
		return &plan.Error{Kind: plan.NotFound, Pos: -1, Message: "there is no such resource"}
	}
	sortRows(all, n.order)
	if p.After != nil {
		all = all[sort.Search(len(all), func(i int) bool { return compare(all[i].keys, p.After, n.order) > 0 }):]
	}
	all = all[min(max(p.Skip, 0), int64(len(all))):]
	if int64(len(all)) > p.Rows {
		r.more = p.Next
		all = all[:p.Rows]
	}
	r.page, r.at = all, -1
	return nil
}

// Next goes to the next row.
func (r *rows) Next() bool {
	if r.env.err != nil || r.at+1 >= len(r.page) {
		return false
	}
	r.at++
	if r.env.stopped() {
		return false
	}
	r.node.query.stand(r.env, r.page[r.at].row)
	r.row = r.row[:0]
	for _, c := range r.node.columns {
		r.row = append(r.row, c(r.env))
	}
	return r.env.err == nil
}

// Row is the current row.
func (r *rows) Row() []plan.Value { return r.row }

// Expand finds the rows of an expanded property.
func (r *rows) Expand(i int) plan.Rows {
	child := &rows{env: r.env, node: r.node.expand[i]}
	_ = child.open(false) // the fault is in env, for Err
	return child
}

// More tells whether the collection goes on.
func (r *rows) More() bool { return r.more }

// Count is the total.
func (r *rows) Count() int64 { return r.count }

// Version names the state of the data.
func (r *rows) Version() string { return r.env.state.version }

// Err is the fault that ended the rows.
func (r *rows) Err() error { return r.env.err }

// Close lets go of the rows.
func (r *rows) Close() error {
	r.page = nil
	return nil
}

// order is an item of an order.
type order struct {
	value value
	kind  edm.Kind
	desc  bool
}

func (c *compiler) orders(list []plan.Order) []order {
	out := make([]order, len(list))
	for i, o := range list {
		out[i] = order{c.expr(o.Expr), o.Expr.Type().Kind, o.Desc}
	}
	return out
}

// sorted is a row with the values that it is ordered by.
type sorted struct {
	row  row
	keys []plan.Value
}

// keys are the values that the current row is ordered by.
func keys(e *env, list []order) []plan.Value {
	out := make([]plan.Value, len(list))
	for i, o := range list {
		out[i] = o.value(e)
	}
	return out
}

// sortRows orders rows: null is the smallest value. Rows with the same values stay as they were.
func sortRows(rows []sorted, list []order) {
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b sorted) int { return compare(a.keys, b.keys, list) })
}

// compare tells the order of two rows from the values that they are ordered by.
func compare(a, b []plan.Value, list []order) int {
	for i, o := range list {
		n := function.Compare(o.kind, o.kind, a[i], b[i])
		if o.desc {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return 0
}
