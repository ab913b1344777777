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
func (p *parser) sequence() ([]Step, error) {
	var out []Step
	for {
		step, err := p.step()
		if err != nil {
			return nil, err
		}
		out = append(out, step)
		from := p.I
		p.Space()
		if !p.Accept('/') {
			p.I = from
			return out, nil
		}
		p.Space()
	}
}

// step consumes one transformation.
func (p *parser) step() (Step, error) {
	at := p.I
	s := Step{Pos: p.RawPos(at)}
	if err := p.Node(at); err != nil {
		return s, err
	}
	name, qualified, err := p.Name("a transformation such as filter, groupby or aggregate")
	if err != nil {
		return s, err
	}
	s.Name = name
	if p.AnyCase {
		s.Name = strings.ToLower(name)
	}
	switch {
	case s.Name == "identity":
		return s, nil
	case qualified || slices.Contains(laterSteps(), s.Name):
		return s, p.Fail(at, lex.CodeNotImplemented, "the transformation %s is not implemented", name)
	case !slices.Contains(Transformations(), s.Name):
		return s, p.Malformed(at, "there is no transformation %q; write groupby((…)) for groups, aggregate(…) for totals", name)
	}
	if err := p.Expect('(', "behind "+s.Name); err != nil {
		return s, err
	}
	if err := p.Enter(); err != nil {
		return s, err
	}
	defer p.Leave()
	p.Space()
	if err := p.stepArguments(&s); err != nil {
		return s, err
	}
	p.Space()
	return s, p.Expect(')', "to close "+s.Name)
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

func (p *parser) stepArguments(s *Step) (err error) {
	switch s.Name {
	case "aggregate":
		return p.List(func() error { return p.aggregateItem(s) })
	case "compute":
		q := &Query{}
		err = p.compute(q)
		s.Compute = q.Compute
	case "concat":
		err = p.List(func() error { return p.nestedSequence(s) })
		if err == nil && len(s.Sequences) < 2 {
			err = p.Malformed(p.I, "concat needs two sequences or more")
		}
	case "filter":
		s.Expr, err = p.expr()
	case "groupby":
		err = p.groupBy(s)
	case "orderby":
		q := &Query{}
		err = p.orderBy(q)
		s.OrderBy = q.OrderBy
	case "search":
		s.Search, err = p.search()
	case "skip", "top":
		var n *int64
		if n, err = p.count(s.Name); err == nil {
			s.Count = *n
		}
	default:
		err = p.topItem(s)
	}
	return err
}

func (p *parser) nestedSequence(s *Step) error {
	list, err := p.sequence()
	s.Sequences = append(s.Sequences, list)
	return err
}

// topItem consumes the arguments of topcount and its like.
func (p *parser) topItem(s *Step) (err error) {
	if s.Amount, err = p.expr(); err != nil {
		return err
	}
	p.Space()
	if err := p.Expect(',', "and an expression in "+s.Name); err != nil {
		return err
	}
	p.Space()
	s.Expr, err = p.expr()
	return err
}

// groupBy consumes "(" items ")", and perhaps a sequence behind a comma.
func (p *parser) groupBy(s *Step) error {
	if err := p.Expect('(', "around the properties of groupby, as in groupby((Name))"); err != nil {
		return err
	}
	p.Space()
	if err := p.List(func() error { return p.groupItem(s) }); err != nil {
		return err
	}
	p.Space()
	if err := p.Expect(')', "to close the properties of groupby"); err != nil {
		return err
	}
	p.Space()
	if !p.Accept(',') {
		return nil
	}
	p.Space()
	return p.nestedSequence(s)
}

func (p *parser) groupItem(s *Step) error {
	at := p.I
	item := GroupItem{Pos: p.RawPos(at)}
	to := p.ScanIdent(at)
	if word := p.Text[at:to]; p.PeekAt(to) == '(' {
		switch {
		case p.WordIs(word, "rollup"):
		case p.WordIs(word, "rolluprecursive"):
			return p.Fail(at, lex.CodeNotImplemented, "rolluprecursive is not implemented")
		default:
			return p.Malformed(at, "groupby takes paths to properties, and rollup")
		}
		p.I, item.Rollup = to+1, true
		p.Space()
	}
	one := func() error {
		path, err := p.groupPath()
		item.Paths = append(item.Paths, path)
		return err
	}
	if !item.Rollup {
		err := one()
		s.Groups = append(s.Groups, item)
		return err
	}
	if err := p.List(one); err != nil {
		return err
	}
	s.Groups = append(s.Groups, item)
	p.Space()
	if err := p.Expect(')', "to close rollup"); err != nil {
		return err
	}
	if len(item.Paths) < 2 {
		return p.Fail(at, lex.CodeNotImplemented, "rollup of a named hierarchy is not implemented; name two paths or more, from the coarsest to the finest")
	}
	return nil
}

// groupPath consumes a path to a property.
func (p *parser) groupPath() (*Path, error) {
	at := p.I
	x, err := p.memberPath(at)
	if err != nil {
		return nil, err
	}
	path, ok := x.(*Path)
	if !ok || path.Root != "" {
		return nil, p.Malformed(at, "expected a path to a property")
	}
	return path, nil
}
