package bind

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Made holds, for each column of the rows of an answer, the column of the row that a change has written: Top for Answer.Top, of
// Main, and Below for its one expanded property, of the other steps.
type Made struct{ Top, Below []int }

// shows reports whether the answer to a creation may be made of the rows that its changes have written: of the entity and of those
// that the body has for one navigation property, whose rows nothing else can have, change or hide.
func (s *sequence) shows(r *Resource, e *Entity, o WriteOptions) bool {
	if r.Kind != OfSet || o.Minimal || len(r.query.Expand) > 0 || len(e.Related) != 1 || !r.Set.Write.Final {
		return false
	}
	rel := &e.Related[0]
	below := rel.Nav.Target.Write
	return rel.Inline && rel.Nav.Collection && rel.Nav.Enforced && len(rel.References) == 0 && len(rel.Entities) > 0 && below != nil && below.Final &&
		!slices.ContainsFunc(rel.Entities, func(e *Entity) bool { return len(e.Related) > 0 })
}

// madeOf returns how the answer to a creation is made of the rows of its steps, which create the entity and so many for its one
// expanded property; nil where it has to be read. Nobody can have named the entity before, since the source gives it its key.
func madeOf(s *Sequence, entities int) *Made {
	n := s.Answer.Top
	if KeyOf(s.Main.Change) != nil || len(n.Expand) != 1 || len(s.Steps) != entities+1 || s.Steps[0] != s.Main {
		return nil
	}
	child := n.Expand[0]
	if child.Page.Skip > 0 || int64(entities) > child.Page.Rows || !inOrderOfKey(child) {
		return nil
	}
	out := &Made{}
	for i, of := range []struct {
		node *plan.Node
		to   *[]int
	}{{n, &out.Top}, {child, &out.Below}} {
		after := s.Steps[i].Change.After
		for _, w := range s.Steps[i+1:] {
			if i > 0 && w.Change.After != after {
				return nil
			}
		}
		if *of.to = columnsOf(of.node, after, i == 0); *of.to == nil {
			return nil
		}
	}
	return out
}

// inOrderOfKey reports whether rows are in the order of their key, which consists of integers.
func inOrderOfKey(n *plan.Node) bool {
	key := n.Set.Type.Key
	return len(n.Query.Order) == len(key) && !slices.ContainsFunc(n.Query.Order, func(o plan.Order) bool { return o.Desc }) &&
		!slices.ContainsFunc(key, func(p *edm.Property) bool { return !p.Type.Kind.Integer() }) &&
		slices.EqualFunc(n.Query.Order, n.Key, func(o plan.Order, column int) bool { return plan.Same(o.Expr, n.Columns[column].Expr) })
}

// columnsOf returns, for each column of a node, the one of a check that has the same property; nil where one has none, or where
// the row policy looks at other rows. With add the check gets those that it lacks.
func columnsOf(n *plan.Node, c *write.Check, add bool) []int {
	q, row := n.Query, c.Plan.Top
	if len(q.Joins)+len(q.Counts)+len(q.Computed) > 0 || q.Filter != nil || q.Search != nil || q.Range.Derived != nil || looksElsewhere(q.Range.Policy) {
		return nil
	}
	out := make([]int, len(n.Columns))
	for i := range n.Columns {
		ref, ok := n.Columns[i].Expr.(*plan.Ref)
		if !ok || ref.Range != q.Range {
			return nil
		}
		if add {
			out[i] = leafColumn(row, ref.Path)
		} else if out[i] = findLeaf(row, ref.Path); out[i] < 0 {
			return nil
		}
	}
	return out
}

// looksElsewhere reports whether a condition looks at other rows than its own.
func looksElsewhere(e plan.Expr) bool {
	elsewhere := false
	if e != nil {
		plan.WalkInto(func(e plan.Expr) bool {
			_, sub := e.(*plan.Sub)
			elsewhere = elsewhere || sub
			return !elsewhere
		}, e)
	}
	return elsewhere
}
