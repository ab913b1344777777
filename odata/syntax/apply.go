package syntax

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/syntax/internal/lex"
)

// Step is one transformation of $apply. Which fields count depends on Name, which is one
// of aggregate, bottomcount, bottompercent, bottomsum, compute, concat, filter, groupby,
// identity, orderby, search, skip, top, topcount, toppercent and topsum (OData Data
// Aggregation 3.2 to 3.4).
type Step struct {
	Pos  int
	Name string
	// Expr is the condition of filter, and what topcount and its like order by.
	Expr Expr
	// Amount is how much topcount and its like keep.
	Amount Expr
	Search *Search
	// Compute are the items of compute, OrderBy those of orderby.
	Compute []ComputeItem
	OrderBy []OrderItem
	// Count is the number of skip and top.
	Count int64
	// Groups are what groupby groups by, Aggregates the items of aggregate.
	Groups     []GroupItem
	Aggregates []AggregateItem
	// Sequences are those of concat, or the one that groupby applies to each group, if
	// it has any.
	Sequences [][]Step
}

// GroupItem is a path to group by, or the paths of rollup, from the coarsest to the
// finest.
type GroupItem struct {
	Pos    int
	Rollup bool
	Paths  []*Path
}

// AggregateItem is one item of aggregate (OData Data Aggregation 3.2.1).
type AggregateItem struct {
	Pos int
	// Expr is what is aggregated: an expression, a path that ends with $count, or a
	// custom aggregate, which is a path too.
	Expr Expr
	// With is the aggregation method, at byte offset WithPos; empty where there is none.
	With    string
	WithPos int
	// From are the from clauses, in order.
	From []FromItem
	// As is the name given, at byte offset AsPos; empty where there is none.
	As    string
	AsPos int
}

// FromItem is "from paths with method"; With is empty behind a custom aggregate.
type FromItem struct {
	Pos     int
	Paths   []*Path
	With    string
	WithPos int
}

// sequence consumes transformations separated by "/".
func (p *parser) sequence() []Step {
	var out []Step
	for {
		out = append(out, p.step())
		from := p.I
		p.Space()
		if !p.Accept('/') {
			p.I = from
			return out
		}
		p.Space()
	}
}

// step consumes one transformation.
func (p *parser) step() Step {
	at := p.I
	s := Step{Pos: p.RawPos(at)}
	p.Node(at)
	name, qualified := p.Name("a transformation such as filter, groupby or aggregate")
	s.Name = name
	if p.AnyCase {
		s.Name = strings.ToLower(name)
	}
	switch {
	case s.Name == "identity":
		return s
	case qualified || slices.Contains(laterSteps(), s.Name):
		panic(p.Fail(at, lex.CodeNotImplemented, "the transformation %s is not implemented", name))
	case !slices.Contains(Transformations(), s.Name):
		panic(p.Malformed(at, "there is no transformation %q; write groupby((…)) for groups, aggregate(…) for totals", name))
	}
	p.Expect('(', "behind "+s.Name)
	p.Enter()
	defer p.Leave()
	p.Space()
	p.stepArguments(&s)
	p.Space()
	p.Expect(')', "to close "+s.Name)
	return s
}

// Transformations are the names of the transformations of $apply that there are.
func Transformations() []string {
	return []string{
		"aggregate", "bottomcount", "bottompercent", "bottomsum", "compute", "concat", "filter", "groupby", "identity",
		"orderby", "search", "skip", "top", "topcount", "toppercent", "topsum",
	}
}

// laterSteps are those that the standard has besides (OData Data Aggregation 3.4.3,
// 3.5, 6.2).
func laterSteps() []string {
	return []string{"addnested", "ancestors", "descendants", "join", "nest", "outerjoin", "traverse", "expand"}
}

func (p *parser) stepArguments(s *Step) {
	switch s.Name {
	case "aggregate":
		p.List(func() { p.aggregateItem(s) })
	case "compute":
		s.Compute = p.compute()
	case "concat":
		p.List(func() { s.Sequences = append(s.Sequences, p.sequence()) })
		if len(s.Sequences) < 2 {
			panic(p.Malformed(p.I, "concat needs two sequences or more"))
		}
	case "filter":
		s.Expr = p.expr()
	case "groupby":
		p.groupBy(s)
	case "orderby":
		s.OrderBy = p.orderBy()
	case "search":
		s.Search = p.search()
	case "skip", "top":
		s.Count = *p.count(s.Name)
	default: // topcount and its like
		s.Amount = p.expr()
		p.Space()
		p.Expect(',', "and an expression in "+s.Name)
		p.Space()
		s.Expr = p.expr()
	}
}

// groupBy consumes "(" items ")", and perhaps a sequence behind a comma.
func (p *parser) groupBy(s *Step) {
	p.Expect('(', "around the properties of groupby, as in groupby((Name))")
	p.Space()
	p.List(func() { s.Groups = append(s.Groups, p.groupItem()) })
	p.Space()
	p.Expect(')', "to close the properties of groupby")
	p.Space()
	if p.Accept(',') {
		p.Space()
		s.Sequences = append(s.Sequences, p.sequence())
	}
}

func (p *parser) groupItem() GroupItem {
	at := p.I
	item := GroupItem{Pos: p.RawPos(at)}
	to := p.ScanIdent(at)
	if word := p.Text[at:to]; p.PeekAt(to) == '(' {
		switch {
		case p.WordIs(word, "rollup"):
		case p.WordIs(word, "rolluprecursive"):
			panic(p.Fail(at, lex.CodeNotImplemented, "rolluprecursive is not implemented"))
		default:
			panic(p.Malformed(at, "groupby takes paths to properties, and rollup"))
		}
		p.I, item.Rollup = to+1, true
		p.Space()
	}
	if !item.Rollup {
		item.Paths = []*Path{p.groupPath()}
		return item
	}
	p.List(func() { item.Paths = append(item.Paths, p.groupPath()) })
	p.Space()
	p.Expect(')', "to close rollup")
	if len(item.Paths) < 2 {
		panic(p.Fail(at, lex.CodeNotImplemented, "rollup of a named hierarchy is not implemented; name two paths or more, from the coarsest to the finest"))
	}
	return item
}

// groupPath consumes a path to a property.
func (p *parser) groupPath() *Path {
	at := p.I
	path, ok := p.memberPath(at).(*Path)
	if !ok || path.Root != "" {
		panic(p.Malformed(at, "expected a path to a property"))
	}
	return path
}
