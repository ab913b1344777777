package transform

import (
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// maxDerived bounds how deep derived tables nest: MariaDB stops at 63, and one transformation makes up to three.
const maxDerived = 48

// sequence binds transformations one after the other, each against the shape that the one before it gives.
func (b *Builder) sequence(s *Shape, steps []syntax.Step) (*Shape, error) {
	for i := range steps {
		step := &steps[i]
		if b.steps++; b.steps > b.limit {
			return nil, plan.Exceeded(step.Pos, "apply_steps", int64(b.limit), "$apply has more transformations, those inside of others included")
		}
		var err error
		if s, err = b.transform(s, step); err != nil {
			return nil, err
		}
		if s.depth > maxDerived {
			return nil, plan.Errorf(plan.TooLarge, step.Pos, "the transformations that group, or look at several rows, build on each other more than %d deep; this limit is fixed", maxDerived)
		}
	}
	return s, nil
}

// few is how many rows a database sorts, or keeps sorted, at no cost worth counting.
const few = 10_000

// What a transformation counts for besides itself in limits.apply_steps, if another one has passed over all rows before. Where
// rows are sorted, numbered and written down, a pass takes as long as ten simple ones.
const (
	firstPass  = 1
	sortPass   = 2
	windowPass = 9
)

// pass counts a transformation that passes over all rows. The first one of a request counts as any transformation does.
func (b *Builder) pass(s *Shape, costs, pos int) error {
	if s.few {
		return nil
	}
	if b.passed {
		b.steps += costs * s.copies
	}
	b.passed = true
	if b.steps > b.limit {
		return plan.Exceeded(pos, "apply_steps", int64(b.limit), "transformations that rank rows, and $these, pass over all of them, so each one behind the first counts for up to "+
			strconv.Itoa(1+windowPass)+" transformations: keep at most "+strconv.Itoa(few)+" rows first with topcount or top, or send several requests")
	}
	return nil
}

// transform binds one transformation.
func (b *Builder) transform(s *Shape, step *syntax.Step) (*Shape, error) {
	switch step.Name {
	case "aggregate":
		return b.aggregated(s, nil, step.Aggregates)
	case "groupby":
		return b.groupBy(s, step)
	case "concat":
		return b.concat(s, step.Sequences)
	case "identity":
		return s, nil
	case "filter":
		return b.filtered(s, step)
	case "search":
		return s, b.Search(s, step.Search)
	case "compute":
		return b.computeStep(s, step)
	case "orderby":
		return b.ordered(s, step)
	case "skip", "top":
		return b.cut(s, step)
	}
	return b.topped(s, step)
}

func (b *Builder) filtered(s *Shape, step *syntax.Step) (*Shape, error) {
	s, err := b.These(s, step.Expr)
	if err != nil {
		return nil, err
	}
	f, err := b.Condition(s, step.Expr)
	if err != nil {
		return nil, err
	}
	s.restrict(f)
	return s, b.Admit(f, step.Expr.Pos())
}

func (b *Builder) computeStep(s *Shape, step *syntax.Step) (*Shape, error) {
	var exprs []syntax.Expr
	for _, item := range step.Compute {
		exprs = append(exprs, item.Expr)
	}
	s, err := b.These(s, exprs...)
	if err != nil {
		return nil, err
	}
	for _, item := range step.Compute {
		s.Names = append(s.Names, item.As)
	}
	return s, b.Compute(s, step.Compute)
}

// ordered binds orderby, which keeps the order of before where its expressions are the same.
func (b *Builder) ordered(s *Shape, step *syntax.Step) (*Shape, error) {
	var exprs []syntax.Expr
	for _, item := range step.OrderBy {
		exprs = append(exprs, item.Expr)
	}
	s, err := b.These(s, exprs...)
	if err != nil {
		return nil, err
	}
	list, err := b.OrderBy(s, step.OrderBy)
	if err != nil {
		return nil, err
	}
	for _, o := range s.Order {
		list = o.Behind(list)
	}
	s.Order = list
	return s, nil
}

// Search binds search: over entities as $search is, and over other structures in all their texts.
func (b *Builder) Search(s *Shape, in *syntax.Search) error {
	if s.Entity && !s.Query.Range.Set.Searchable {
		return plan.Errorf(plan.NotImplemented, in.Pos, "%q cannot be searched", s.Query.Range.Set.Name)
	}
	search, err := b.Words(in)
	if err != nil {
		return err
	}
	switch {
	case !s.Entity:
		texts := s.texts()
		if words(search)*int64(len(texts)) > maxWritten {
			return plan.Errorf(plan.TooLarge, in.Pos, "each word of search is looked for in %d texts; more than %d of both multiplied are refused, and this limit is fixed", len(texts), maxWritten)
		}
		f := found(in, texts)
		s.restrict(f)
		return b.Admit(f, in.Pos)
	case s.Query.Range.Derived != nil || s.inGroups():
		return plan.Errorf(plan.NotImplemented, in.Pos, "search is supported before transformations that group, or that look at several rows")
	case s.Query.Search != nil:
		s.Query.Search = &plan.Search{Op: "and", Args: []*plan.Search{s.Query.Search, search}}
	default:
		s.Query.Search = search
	}
	return nil
}

// found is the condition that texts have what a search looks for. It is true or false.
func found(in *syntax.Search, texts []plan.Expr) plan.Expr {
	text, truth := edm.Of(edm.String), edm.Of(edm.Boolean)
	args := make([]plan.Expr, len(in.Args))
	for i, a := range in.Args {
		args[i] = found(a, texts)
	}
	switch in.Op {
	case "NOT":
		return &plan.Call{Name: "not", Args: args, T: truth}
	case "AND":
		return chain("and", args)
	case "OR":
		return chain("or", args)
	}
	lower := func(x plan.Expr) plan.Expr { return &plan.Call{Name: "tolower", Args: []plan.Expr{x}, T: text} }
	var list []plan.Expr
	for _, leaf := range texts {
		term := lower(&plan.Literal{T: text, Value: plan.Value{Bytes: []byte(in.Text)}})
		list = append(list, isTrue(&plan.Call{Name: "contains", Args: []plan.Expr{lower(leaf), term}, T: truth}))
	}
	return chain("or", list)
}

// isTrue makes a two-valued condition of a three-valued one.
func isTrue(e plan.Expr) plan.Expr { return plan.Equal(e, plan.Bool(true)) }

// chain joins conditions: none by and are true, none by or are false.
func chain(op string, args []plan.Expr) plan.Expr {
	if len(args) == 0 {
		return plan.Bool(op == "and")
	}
	return plan.Join(op, args...)
}
