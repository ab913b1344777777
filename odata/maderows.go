package odata

import (
	"cmp"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// madeRows are rows of an answer that is made of what a request has written, one after the other in values. It implements plan.Rows.
type madeRows struct {
	seq    *bind.Sequence
	node   *plan.Node
	values []plan.Value
	// texts is the block that the texts of the rows go to, until one does not fit.
	texts []byte
	// at is the row that Next has gone to, from 1 on.
	at int
	// below are the rows of the one expanded property, which all belong to the one row here; nil for none.
	below *madeRows
}

// newMadeRows returns the rows of the expanded property of an answer, of which there are none yet.
func newMadeRows(seq *bind.Sequence) *madeRows {
	n := seq.Answer.Top.Expand[0]
	return &madeRows{seq: seq, node: n, values: make([]plan.Value, 0, len(n.Columns)*(len(seq.Steps)-1))}
}

// add adds a row as its change has returned it.
func (r *madeRows) add(row []plan.Value) { r.take(row, r.seq.Made.Below) }

// take adds columns of a row, whose texts it copies.
func (r *madeRows) take(row []plan.Value, columns []int) {
	for _, i := range columns {
		v := row[i]
		if v.Bytes != nil {
			if len(v.Bytes) > cap(r.texts)-len(r.texts) {
				r.texts = make([]byte, 0, max(len(v.Bytes), min(2*cap(r.texts), 16<<10), 256))
			}
			from := len(r.texts)
			r.texts = append(r.texts, v.Bytes...)
			v.Bytes = r.texts[from:len(r.texts):len(r.texts)]
		}
		r.values = append(r.values, v)
	}
}

// under returns the one row of the answer, with the others below it in the order of their keys.
func (r *madeRows) under(row []plan.Value) *madeRows {
	out := &madeRows{node: r.seq.Answer.Top, at: 1, below: r}
	out.take(row, r.seq.Made.Top)
	r.sort()
	return out
}

// sort puts the rows in the order of their keys, which are integers. Mostly they are.
func (r *madeRows) sort() {
	compare := func(a, b []plan.Value) int {
		for _, k := range r.node.Key {
			if c := cmp.Compare(a[k].Int, b[k].Int); c != 0 {
				return c
			}
		}
		return 0
	}
	width, sorted := len(r.node.Columns), true
	for at := width; at < len(r.values) && sorted; at += width {
		sorted = compare(r.values[at-width:at], r.values[at:at+width]) <= 0
	}
	if !sorted {
		r.values = slices.Concat(slices.SortedFunc(slices.Chunk(r.values, width), compare)...)
	}
}

// Next implements plan.Rows.
func (r *madeRows) Next() bool {
	if r.at*len(r.node.Columns) >= len(r.values) {
		return false
	}
	r.at++
	return true
}

// Row implements plan.Rows.
func (r *madeRows) Row() []plan.Value {
	width := len(r.node.Columns)
	return r.values[(r.at-1)*width : r.at*width]
}

// Expand implements plan.Rows.
func (r *madeRows) Expand(int) plan.Rows {
	below := *r.below
	below.at = 0
	return &below
}

// More implements plan.Rows.
func (*madeRows) More() bool { return false }

// Count implements plan.Rows.
func (*madeRows) Count() int64 { return 0 }

// Version implements plan.Rows: the state of the data has no name before it is committed.
func (*madeRows) Version() string { return "" }

// Err implements plan.Rows.
func (*madeRows) Err() error { return nil }

// Close implements plan.Rows.
func (*madeRows) Close() error { return nil }
