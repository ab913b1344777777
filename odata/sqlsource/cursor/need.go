package cursor

import (
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// need is what a plan needs of its transaction.
func (o *Reader) need(p *plan.Plan) engine.Need {
	named, alone := o.Marks != nil && !o.Stamps, isAlone(p)
	return engine.Need{
		Snapshot: p.Top.Count || len(p.Top.Expand) > 0 || named && !alone,
		Version:  named && alone,
		Rows:     rowsRead(p.Top),
	}
}

// isAlone tells whether a plan is carried out by one statement.
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
