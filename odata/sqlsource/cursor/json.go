package cursor

import (
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// AppendJSON implements plan.JSONRows.
func (r *rows) AppendJSON(dst []byte, members []plan.Member) ([]byte, bool) {
	if !r.asked {
		r.asked = true
		if c, ok := r.cursor.(engine.JSONCursor); ok && r.writesAll(c, members) {
			r.json = c
		}
	}
	if r.json == nil {
		return dst, false
	}
	out, ok := r.json.AppendJSON(dst, members)
	if !ok {
		_ = r.fail(r.decode())
	}
	return out, ok
}

// writesAll tells whether a cursor can write all members: stored values of the types that their columns are declared with.
func (r *rows) writesAll(c engine.JSONCursor, members []plan.Member) bool {
	if len(r.node.Expand) > 0 {
		return false
	}
	for _, m := range members {
		column := &r.node.Columns[m.Column]
		_, stored := column.Expr.(*plan.Ref)
		if !stored || r.dec.texts != nil && r.dec.texts[m.Column] || !c.WritesJSON(m.Column, &column.T) {
			return false
		}
	}
	return true
}
