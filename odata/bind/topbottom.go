package bind

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// cut binds skip and top: rows by their number in the order. OData Data Aggregation 3.3.5, 3.3.6
func (b *binding) cut(s *shape, step *syntax.Step) (*shape, error) {
	row := &plan.Aggregate{Op: "row", T: edm.Of(edm.Int64), Over: &plan.Frame{Partition: s.partition(), Order: s.order}}
	s, cells := b.extend(s, row)
	op := "le"
	if step.Name == "skip" {
		op = "gt"
	}
	s.restrict(compared(op, cells[0], number(step.Count)))
	return s, nil
}

func compared(op string, x, y plan.Expr) plan.Expr {
	return &plan.Call{Name: op, Args: []plan.Expr{x, y}, T: edm.Of(edm.Boolean)}
}

// topped binds topcount and its like. Rows that stay keep their order. OData Data Aggregation 3.3.1
func (b *binding) topped(s *shape, step *syntax.Step) (*shape, error) {
	s, err := b.withThese(s, step.Amount, step.Expr)
	if err != nil {
		return nil, err
	}
	amount, err := b.amount(s, step)
	if err != nil {
		return nil, err
	}
	x, err := s.bind(step.Expr)
	if err != nil {
		return nil, err
	}
	if err := b.admit(x, step.Expr.Pos()); err != nil {
		return nil, err
	}
	byCount := strings.HasSuffix(step.Name, "count")
	if k := x.Type().Kind; x.Type().Collection || !k.Numeric() && (!byCount || !edm.CanAggregate("min", k)) {
		return nil, plan.Errorf(plan.Malformed, step.Expr.Pos(), "%s does not work on %s, which is %s", step.Name, describe(step.Expr), typeName(x.Type()))
	}
	order := append([]plan.Order{{Expr: x, Desc: step.Name[0] == 't'}}, s.order...)
	if _, constant := x.(*plan.Literal); constant {
		order = slices.Clone(s.order)
	}
	w := &plan.Frame{Partition: s.partition(), Order: order}
	if byCount {
		s, cells := b.extend(s, &plan.Aggregate{Op: "row", T: edm.Of(edm.Int64), Over: w}, amount)
		s.restrict(compared("le", cells[0], cells[1]))
		return s, nil
	}
	t := edm.Aggregated("sum", x.Type())
	before := &plan.Aggregate{Op: "sum", Arg: x, T: t, Over: w}
	all := &plan.Aggregate{Op: "sum", Arg: x, T: t, Over: &plan.Frame{Partition: s.partition()}}
	s, cells := b.extend(s, before, amount, all)
	zero := as(number(0), t)
	if l, ok := convert(number(0), t); ok {
		zero = l
	}
	isNull := compared("eq", cells[0], nullOf(t))
	sum := plan.Expr(&plan.Call{Name: "case", Args: []plan.Expr{isNull, zero, boolean(true), cells[0]}, T: t})
	limit := cells[1]
	if strings.HasSuffix(step.Name, "percent") {
		sum, limit = times(sum, number(100)), times(cells[2], limit)
	}
	s.restrict(compared("lt", sum, limit))
	return s, nil
}

func times(x, y plan.Expr) plan.Expr {
	k := edm.Decimal
	if rank(x.Type().Kind) > 2 || rank(y.Type().Kind) > 2 {
		k = edm.Double
	}
	t := edm.Of(k)
	return &plan.Call{Name: "mul", Args: []plan.Expr{constantAs(as(x, t), t), constantAs(as(y, t), t)}, T: t}
}

// amount binds how much topcount and its like keep: a number that does not depend on the row.
func (b *binding) amount(s *shape, step *syntax.Step) (plan.Expr, error) {
	pos := step.Amount.Pos()
	dependent := false
	syntax.Walk(step.Amount, func(e syntax.Expr) {
		path, ok := e.(*syntax.Path)
		dependent = dependent || ok && !strings.HasPrefix(path.Root, "@")
	})
	if dependent {
		return nil, plan.Errorf(plan.Malformed, pos, "the first argument of %s must be a number that is the same for all rows", step.Name)
	}
	x, err := s.bind(step.Amount)
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
	case strings.HasSuffix(step.Name, "percent") && !percent(l):
		return nil, plan.Errorf(plan.Malformed, pos, "the first argument of %s must be more than 0 and at most 100", step.Name)
	}
	return x, nil
}

func percent(l *plan.Literal) bool {
	f, ok := toFloat(l, edm.Of(edm.Double))
	return ok && !l.Value.Null && f.Value.Float > 0 && f.Value.Float <= 100
}
