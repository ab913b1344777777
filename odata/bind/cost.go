package bind

import (
	"math"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// cost is an upper bound of what an expression takes for one row.
type cost struct {
	// steps are the nodes that are evaluated, an argument as often as SQL has to repeat it.
	steps int64
	// pieces are the texts that a text is put together from; a constant counts for each KiB.
	pieces int64
	// depth is how deep the nodes nest.
	depth int
	// level is that of plan.Computed.
	level int
}

const (
	// cheap is how many steps are computed wherever a name of $compute stands. A derived table costs more.
	cheap = 16
	// maxDepth and maxLevels bound what databases nest: conditions inside of each other, and derived tables.
	maxDepth         = 50
	maxComputeLevels = 24
	// stepsPerNode and nodesPerPiece turn odata.limits.filter_nodes into limits of steps and pieces.
	stepsPerNode  = 4
	nodesPerPiece = 16
)

// compute makes what the name of an item stands for.
func (l *level) compute(item syntax.ComputeItem, e plan.Expr) (plan.Expr, error) {
	switch e.(type) {
	case *plan.Literal, *plan.Ref, *plan.Computed:
		return e, nil
	}
	if err := l.admit(e, item.Expr.Pos()); err != nil {
		return nil, err
	}
	c := &plan.Computed{Name: item.As, Expr: e, ID: len(l.node.Query.Computed)}
	of := l.costOf(e)
	if of.steps > cheap {
		c.Shared, c.Level = true, of.level+1
		of = cost{steps: 1, pieces: of.pieces, depth: 1, level: c.Level}
	}
	if of.level > maxComputeLevels {
		return nil, plan.Errorf(plan.TooLarge, item.Expr.Pos(), "expressions of $compute build on each other too often; this limit is fixed")
	}
	l.costs[c] = of
	l.node.Query.Computed = append(l.node.Query.Computed, c)
	return c, nil
}

// admit refuses an expression whose evaluation would go beyond a limit.
func (b *binding) admit(e plan.Expr, pos int) error {
	of := b.costOf(e)
	b.steps = saturate(b.steps, of.steps)
	nodes := int64(b.Limits.FilterNodes)
	switch {
	case b.steps/stepsPerNode > nodes:
		return plan.Exceeded(pos, "filter_nodes", nodes,
			"the expressions take more than "+decimal(nodes*stepsPerNode)+" steps for each row, since functions such as cast use their arguments several times")
	case of.pieces > b.maxPieces():
		return plan.Exceeded(pos, "filter_nodes", nodes,
			"a text would be put together from "+decimal(of.pieces)+" texts, more than the "+decimal(b.maxPieces())+" that this limit allows")
	case of.depth > maxDepth:
		return plan.Errorf(plan.TooLarge, pos, "the operators and functions of an expression nest more than %d deep; this limit is fixed", maxDepth)
	}
	return nil
}

func (b *binding) maxPieces() int64 {
	return max(int64(b.Limits.FilterNodes)/nodesPerPiece, nodesPerPiece)
}

// unshare finds the expressions of $compute that are used once and by no other: those stand where they are used.
func unshare(n *plan.Node) {
	uses := map[*plan.Computed]int{}
	count := func(e plan.Expr, as int) {
		plan.Walk(e, func(e plan.Expr) bool {
			if c, ok := e.(*plan.Computed); ok {
				uses[c] += as
			}
			if call, ok := e.(*plan.Call); ok {
				for i, a := range call.Args {
					if c, ok := a.(*plan.Computed); ok && function.Repeats(call, i) > 1 {
						uses[c]++
					}
				}
			}
			return true
		})
	}
	for _, c := range n.Query.Computed {
		count(c.Expr, 2)
	}
	for _, c := range n.Columns {
		count(c.Expr, 1)
	}
	for _, o := range n.Query.Order {
		count(o.Expr, 1)
	}
	count(n.Query.Filter, 1)
	for _, c := range n.Query.Computed {
		if uses[c] <= 1 {
			c.Shared = false
		}
	}
}

// costOf bounds the cost of an expression. What $compute made of names is known already, so this takes no longer than
// the expression is.
func (b *binding) costOf(e plan.Expr) cost {
	switch e := e.(type) {
	case *plan.Literal:
		return cost{steps: 1, pieces: 1 + int64(len(e.Value.Bytes)>>10), depth: 1}
	case *plan.Computed:
		return b.costs[e]
	case *plan.Call:
		return b.costOfCall(e)
	case *plan.Cell:
		return cost{steps: 1, pieces: b.piecesOf(e), depth: 1}
	case *plan.Aggregate:
		return b.costOfAggregate(e)
	case *plan.Sub:
		of := cost{steps: 1, pieces: 1, depth: 1}
		for _, part := range []plan.Expr{e.Query.Key, e.Query.Filter, e.Value} {
			if part != nil {
				of = of.with(b.costOf(part), 1)
			}
		}
		if e.Value != nil {
			of.pieces = b.costOf(e.Value).pieces
		}
		return of
	}
	return cost{steps: 1, pieces: 1, depth: 1}
}

func (b *binding) costOfCall(e *plan.Call) cost {
	of := cost{steps: 1, depth: 1}
	for i, a := range e.Args {
		arg := b.costOf(a)
		of = of.with(arg, function.Repeats(e, i))
		switch {
		case e.T.Kind != edm.String:
		case e.Name == "concat":
			of.pieces = saturate(of.pieces, arg.pieces)
		case a.Type().Kind == edm.String:
			of.pieces = max(of.pieces, arg.pieces)
		}
	}
	of.pieces = max(of.pieces, 1)
	return of
}

func (b *binding) costOfAggregate(e *plan.Aggregate) cost {
	of := cost{steps: 1, pieces: 1, depth: 1}
	parts := []plan.Expr{e.Arg, e.When}
	if e.Over != nil {
		parts = append(parts, e.Over.Partition...)
		for _, o := range e.Over.Order {
			parts = append(parts, o.Expr)
		}
	}
	for _, part := range parts {
		if part != nil {
			of = of.with(b.costOf(part), 1)
		}
	}
	if e.Arg != nil && e.T.Kind == edm.String {
		of.pieces = b.costOf(e.Arg).pieces
	}
	return of
}

// derivedColumn is a column of a derived table.
type derivedColumn struct {
	of *plan.Derived
	at int
}

// piecesOf are those of a column of a derived table, which are not put together again, and are as long all the same: the most
// of any part of the table.
func (b *binding) piecesOf(c *plan.Cell) int64 {
	if c.T.Kind != edm.String {
		return 1
	}
	at := derivedColumn{c.Range.Derived, c.Column}
	most, known := b.pieces[at]
	if known {
		return most
	}
	most = 1
	for _, p := range at.of.Parts {
		most = max(most, b.costOf(p.Values[at.at]).pieces)
	}
	b.pieces[at] = most
	return most
}

// with adds an operand that is evaluated so many times.
func (c cost) with(arg cost, times int64) cost {
	for range times {
		c.steps = saturate(c.steps, arg.steps)
	}
	c.depth, c.level = max(c.depth, arg.depth+1), max(c.level, arg.level)
	return c
}

func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// page decides on the page of a collection. The $top of nested collections multiply. They are kept: a page at the top whose
// size is the service's becomes as small as it takes for the $top below it to stay within the limit, and a request whose
// $top exceed it is refused. Where pages without $top end below the top is decided as the rows are written, see plan.Nested.
func (b *binding) page(n *plan.Node, q *syntax.Query) error {
	limits := b.Limits
	switch {
	case q.Top != nil:
		b.explicit++
		b.tops = product(b.tops, *q.Top)
		b.promised = saturate(b.promised, b.tops)
		if b.explicit > 1 && b.promised > limits.Rows {
			return plan.Exceeded(optionPos(q, "$top"), "rows", limits.Rows, "the $top of nested collections multiply to "+decimal(b.promised)+
				" rows, those of all levels counted; name smaller ones, or leave the nested $top out, and the collection comes in pages with links")
		}
	case n.Nav != nil:
		b.pages++
	default:
		below := promisedBelow(n.Set.Type, q, b.Limits.ExpandDepth)
		fit := max(limits.Rows/saturate(below, 1), 1)
		if below > 0 && (limits.MaxPageSize == 0 || fit < limits.MaxPageSize) {
			limits.MaxPageSize = fit
		}
	}
	n.Page = plan.Window{Top: q.Top, Skip: q.Skip, Prefer: b.Prefer}.Page(limits)
	return nil
}

// within binds what is nested in a collection and takes back what it multiplied.
func (b *binding) within(bind func() error) error {
	tops, explicit, pages := b.tops, b.explicit, b.pages
	err := bind()
	b.tops, b.explicit, b.pages = tops, explicit, pages
	return err
}

// promisedBelow is how many rows the $top of nested collections promise below one row, those of all levels counted.
func promisedBelow(t *edm.EntityType, q *syntax.Query, depth int) int64 {
	var all int64
	if depth <= 0 {
		return all
	}
	for i := range q.Expand {
		item := &q.Expand[i]
		o := item.Options
		if o == nil || item.Count {
			continue
		}
		rows, own, below := int64(1), int64(0), t
		if !item.Star {
			nav := t.Nav(item.Path[len(item.Path)-1].Name)
			if nav == nil {
				continue
			}
			below = nav.Target.Type
		}
		if o.Top != nil {
			rows, own = *o.Top, 1
		}
		levels := int64(1)
		if o.Levels != 0 {
			levels = min(o.Levels, int64(depth), maxLevels)
			if o.Levels == syntax.LevelsMax {
				levels = min(int64(depth), maxLevels)
			}
		}
		each := saturate(own, promisedBelow(below, o, depth-1))
		var nested int64
		for range levels {
			if sum := saturate(each, nested); sum > 0 {
				nested = product(rows, sum)
			}
		}
		all = saturate(all, nested)
	}
	return all
}

// product saturates, and counts no rows as one.
func product(a, b int64) int64 {
	a, b = max(a, 1), max(b, 1)
	if a > plan.NoLimit/b {
		return plan.NoLimit
	}
	return a * b
}
