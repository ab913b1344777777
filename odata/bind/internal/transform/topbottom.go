package transform

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// cut binds skip and top: rows by their number in the order. OData Data Aggregation 3.3.5, 3.3.6
func (b *Builder) cut(s *Shape, step *syntax.Step) (*Shape, error) {
	if step.Name == "top" && step.Count <= few && !s.inGroups() {
		return b.first(s, s.Order, step.Count, step.Pos)
	}
	if err := b.pass(s, sortPass, step.Pos); err != nil {
		return nil, err
	}
	row := &plan.Aggregate{Op: "row", T: edm.Of(edm.Int64), Over: &plan.Frame{Partition: s.partition(), Order: s.Order}}
	s, cells := b.extend(s, row)
	op := "le"
	if step.Name == "skip" {
		op = "gt"
	}
	s.restrict(compared(op, cells[0], number(step.Count)))
	return s, nil
}

// first keeps the first rows of an order. A database holds no more than these on its way over all rows.
func (b *Builder) first(s *Shape, order []plan.Order, rows int64, pos int) (*Shape, error) {
	if err := b.pass(s, firstPass, pos); err != nil {
		return nil, err
	}
	out, _ := b.extend(s)
	part := out.Query.Range.Derived.Parts[0]
	part.Limit, part.Order = &rows, order
	out.few = true
	return out, nil
}

func compared(op string, x, y plan.Expr) plan.Expr {
	return &plan.Call{Name: op, Args: []plan.Expr{x, y}, T: edm.Of(edm.Boolean)}
}

// topped binds topcount and its like. Rows that stay keep their order. OData Data Aggregation 3.3.1
func (b *Builder) topped(s *Shape, step *syntax.Step) (*Shape, error) {
	s, err := b.These(s, step.Amount, step.Expr)
	if err != nil {
		return nil, err
	}
	amount, err := b.amount(s, step)
	if err != nil {
		return nil, err
	}
	x, err := b.Bind(s, step.Expr)
	if err != nil {
		return nil, err
	}
	if err := b.Admit(x, step.Expr.Pos()); err != nil {
		return nil, err
	}
	byCount := strings.HasSuffix(step.Name, "count")
	if k := x.Type().Kind; x.Type().Collection || !k.Numeric() && (!byCount || !edm.CanAggregate("min", k)) {
		return nil, plan.Errorf(plan.Malformed, step.Expr.Pos(), "%s does not work on %s, which is %s", step.Name, syntax.Describe(step.Expr), x.Type())
	}
	order := append([]plan.Order{{Expr: x, Desc: step.Name[0] == 't'}}, s.Order...)
	if _, constant := x.(*plan.Literal); constant {
		order = slices.Clone(s.Order)
	}
	if rows, constant := amount.(*plan.Literal); byCount && constant && rows.Value.Int <= few && !s.inGroups() {
		return b.first(s, order, rows.Value.Int, step.Pos)
	}
	if err := b.pass(s, windowPass, step.Pos); err != nil {
		return nil, err
	}
	w := &plan.Frame{Partition: s.partition(), Order: order}
	if byCount {
		s, cells := b.extend(s, &plan.Aggregate{Op: "row", T: edm.Of(edm.Int64), Over: w}, amount)
		s.restrict(compared("le", cells[0], cells[1]))
		return s, nil
	}
	t := edm.Aggregated("sum", x.Type())
	values := []plan.Expr{&plan.Aggregate{Op: "sum", Arg: x, T: t, Over: w}, amount} // the sum of the rows before
	percent := strings.HasSuffix(step.Name, "percent")
	if percent { // and that of all
		values = append(values, &plan.Aggregate{Op: "sum", Arg: x, T: t, Over: &plan.Frame{Partition: s.partition()}})
	}
	s, cells := b.extend(s, values...)
	zero := as(b.Constant(number(0), t), t)
	isNull := compared("eq", cells[0], plan.Null(t))
	sum := plan.Expr(&plan.Call{Name: "case", Args: []plan.Expr{isNull, zero, plan.Bool(true), cells[0]}, T: t})
	limit := cells[1]
	if percent {
		sum, limit = b.shares(sum, cells[2], limit)
	}
	s.restrict(compared("lt", sum, limit))
	return s, nil
}

// shares returns the two sides of the comparison of a sum with so many percent of another one. A whole number of percent is
// made a fraction here, so that decimals are multiplied once for each row.
func (b *Builder) shares(sum, all, percent plan.Expr) (x, y plan.Expr) {
	if l, ok := percent.(*plan.Literal); ok && l.T.Kind.Integer() && !all.Type().Kind.Floating() {
		fraction := strconv.FormatFloat(float64(l.Value.Int)/100, 'f', -1, 64)
		return sum, b.times(all, &plan.Literal{T: edm.Of(edm.Decimal), Value: plan.Value{Bytes: []byte(fraction)}})
	}
	return b.times(sum, number(100)), b.times(all, percent)
}

func (b *Builder) times(x, y plan.Expr) plan.Expr {
	k := edm.Decimal
	if x.Type().Kind.Rank() > 2 || y.Type().Kind.Rank() > 2 {
		k = edm.Double
	}
	t := edm.Of(k)
	return &plan.Call{Name: "mul", Args: []plan.Expr{b.Constant(as(x, t), t), b.Constant(as(y, t), t)}, T: t}
}

// amount binds how much topcount and its like keep: a number that does not depend on the row.
func (b *Builder) amount(s *Shape, step *syntax.Step) (plan.Expr, error) {
	pos := step.Amount.Pos()
	dependent := false
	syntax.Walk(step.Amount, func(e syntax.Expr) {
		path, ok := e.(*syntax.Path)
		dependent = dependent || ok && !strings.HasPrefix(path.Root, "@")
	})
	if dependent {
		return nil, plan.Errorf(plan.Malformed, pos, "the first argument of %s must be a number that is the same for all rows", step.Name)
	}
	x, err := b.Bind(s, step.Amount)
	if err != nil {
		return nil, err
	}
	byCount := strings.HasSuffix(step.Name, "count")
	l, constant := x.(*plan.Literal)
	switch k := x.Type().Kind; {
	case !k.Numeric():
		return nil, plan.Errorf(plan.Malformed, pos, "the first argument of %s must be a number", step.Name)
	case !constant:
		return x, nil
	case byCount && (!k.Integer() || l.Value.Int < 1):
		return nil, plan.Errorf(plan.Malformed, pos, "the first argument of %s must be a whole number, 1 or more", step.Name)
	case strings.HasSuffix(step.Name, "percent") && !b.percent(l):
		return nil, plan.Errorf(plan.Malformed, pos, "the first argument of %s must be more than 0 and at most 100", step.Name)
	}
	return x, nil
}

func (b *Builder) percent(l *plan.Literal) bool {
	f, ok := b.Constant(l, edm.Of(edm.Double)).(*plan.Literal)
	return ok && f.T.Kind == edm.Double && !f.Value.Null && f.Value.Float > 0 && f.Value.Float <= 100
}
