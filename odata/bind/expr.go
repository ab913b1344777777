package bind

import (
	"math"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/bind/internal/transform"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// scope is what names in an expression mean.
type scope struct {
	b *binding
	// this is the instance that plain names belong to.
	this *plan.Range
	// it is the instance of $it; nil where there is none.
	it *plan.Range
	// computed are the results of $compute that may be used.
	computed map[string]plan.Expr
	// user gives the value of an alias in a row policy. It marks the operator's text: hidden properties exist, no
	// guard and no policy holds inside, and to-one navigation becomes a Sub, because a policy has no joins.
	user func(*syntax.Path) (plan.Expr, error)
	// these is what $these gives, and shape the rows that it is about; nil where there are none.
	these map[*syntax.These]plan.Expr
	shape *transform.Shape
	// vars are the range variables of the lambdas around.
	vars map[string]*plan.Range
}

// condition binds an expression that must be Boolean.
func (s *scope) condition(e syntax.Expr) (plan.Expr, error) {
	x, err := s.bind(e)
	if err != nil {
		return nil, err
	}
	return x, wantBoolean(x, e)
}

func wantBoolean(x plan.Expr, e syntax.Expr) error {
	if k := x.Type().Kind; (k != edm.Boolean && k != edm.Null) || x.Type().Collection {
		return plan.Errorf(plan.Malformed, e.Pos(), "%s is not a condition", syntax.Describe(e))
	}
	return nil
}

// bind types an expression, and computes what is constant. INF and NaN are kept as operands of comparisons only,
// and become null elsewhere. OData-URL 5.1.1
func (s *scope) bind(e syntax.Expr) (plan.Expr, error) {
	x, err := s.bindExact(e)
	if err != nil {
		return nil, err
	}
	if l, ok := x.(*plan.Literal); ok && (math.IsInf(l.Value.Float, 0) || math.IsNaN(l.Value.Float)) {
		return plan.Null(l.T), nil
	}
	return sixDigits(x), nil
}

// bindExact is bind for the operand of a comparison.
func (s *scope) bindExact(e syntax.Expr) (plan.Expr, error) {
	x, err := s.typedExpr(e)
	if err != nil {
		return nil, err
	}
	return s.fold(x, e.Pos())
}

func (s *scope) typedExpr(e syntax.Expr) (plan.Expr, error) {
	if s.user == nil {
		if err := s.b.count(e.Pos()); err != nil {
			return nil, err
		}
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return s.literal(e)
	case *syntax.Path:
		return s.path(e)
	case *syntax.Binary:
		return s.binary(e)
	case *syntax.Unary:
		return s.unary(e)
	case *syntax.Call:
		return s.call(e)
	case *syntax.Cast:
		return s.cast(e)
	case *syntax.IsOf:
		return s.isOf(e)
	case *syntax.Case:
		return s.choice(e)
	case *syntax.These:
		if x, ok := s.these[e]; ok {
			return x, nil
		}
		return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "$these is supported in $apply, and in what acts on its result")
	case *syntax.IsDefined:
		return s.isDefined(e)
	case *syntax.List:
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "a list can only stand on the right of in")
	case *syntax.Object:
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "a JSON object cannot stand here")
	}
	return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "%s is not supported", syntax.Describe(e))
}

func (s *scope) literal(e *syntax.Literal) (plan.Expr, error) {
	if e.Kind == syntax.Enum {
		return s.enumLiteral(e)
	}
	l, err := constant(e)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (s *scope) enumLiteral(e *syntax.Literal) (plan.Expr, error) {
	for _, t := range s.b.binder.model.Enums {
		if e.Type != s.b.binder.model.Namespace+"."+t.Name {
			continue
		}
		text := &plan.Literal{T: edm.Of(edm.String), Value: plan.Value{Bytes: []byte(e.Text)}}
		if l, ok := convert(text, edm.Type{Kind: edm.Enum, Enum: t}); ok {
			return l, nil
		}
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "%q is no value of %s", e.Text, e.Type)
	}
	return nil, plan.Errorf(plan.Malformed, e.Pos(), "there is no enumeration type %q", e.Type)
}

func (s *scope) unary(e *syntax.Unary) (plan.Expr, error) {
	x, err := s.bind(e.X)
	if err != nil {
		return nil, err
	}
	if e.Op == "not" {
		if err := wantBoolean(x, e.X); err != nil {
			return nil, err
		}
		return &plan.Call{Name: "not", Args: []plan.Expr{x}, T: edm.Of(edm.Boolean)}, nil
	}
	t := x.Type()
	_, result, ok := function.Lookup("negate").Match([]edm.Kind{t.Kind})
	if !ok || t.Collection {
		return nil, plan.Errorf(plan.Malformed, e.Pos(), "%s cannot be negated", syntax.Describe(e.X))
	}
	if l, ok := x.(*plan.Literal); ok {
		if n, ok := negated(l); ok {
			return n, nil
		}
	}
	return &plan.Call{Name: "negate", Args: []plan.Expr{x}, T: edm.Of(result)}, nil
}

func (s *scope) binary(e *syntax.Binary) (plan.Expr, error) {
	if e.Op == "and" || e.Op == "or" {
		return s.logical(e)
	}
	bind := s.bind
	if f := function.Lookup(e.Op); f != nil && f.Group == function.Comparison {
		bind = s.bindExact
	}
	x, err := bind(e.X)
	if err != nil {
		return nil, err
	}
	if list := s.list(e.Y); list != nil && e.Op == "in" {
		return s.in(e, x, list)
	}
	y, err := bind(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case "eq", "ne", "gt", "ge", "lt", "le":
		return s.compare(e, x, y)
	case "has":
		return s.has(e, x, y)
	case "in":
		if !y.Type().Collection {
			return nil, plan.Errorf(plan.Malformed, e.Y.Pos(), "in needs a list of values on its right, as in (1,2)")
		}
		return nil, plan.Errorf(plan.NotImplemented, e.Y.Pos(), "in is supported with a list of values")
	}
	return s.arithmetic(e, x, y)
}

// choice binds case(...). OData-URL 5.1.1.12
func (s *scope) choice(e *syntax.Case) (plan.Expr, error) {
	call := &plan.Call{Name: "case", T: edm.Of(edm.Null)}
	var results []plan.Expr
	for _, w := range e.When {
		cond, err := s.condition(w.Cond)
		if err != nil {
			return nil, err
		}
		value, err := s.bind(w.Value)
		if err != nil {
			return nil, err
		}
		results = append(results, value)
		call.Args = append(call.Args, cond, value)
	}
	common := results[0]
	for i := 1; i < len(results); i++ {
		x, _, ok := unify(common, results[i])
		if !ok {
			return nil, plan.Errorf(plan.Malformed, e.Pos(), "the results of case have no common type")
		}
		if common = x; results[i].Type().Kind.Rank() > common.Type().Kind.Rank() {
			common = results[i]
		}
	}
	if common.Type().Kind == edm.Null {
		return common, nil // without regard to the conditions
	}
	kind := common.Type().Kind
	for i, r := range results {
		if _, y, ok := unify(common, r); ok {
			r = y
		}
		if r.Type().Kind != kind && (kind.Floating() || kind == edm.Decimal) {
			r = &plan.Call{Name: "cast", Args: []plan.Expr{r}, T: edm.Of(kind)}
		}
		call.Args[2*i+1] = r
	}
	call.T = common.Type()
	return call, nil
}

// logical binds a chain of and, or one of or, as a balanced tree with the same meaning: databases limit how deep expressions
// nest, and the value help of a client may send hundreds of conditions. OData-URL 5.1.1.1.7, 5.1.1.1.8
func (s *scope) logical(e *syntax.Binary) (plan.Expr, error) {
	chain := []syntax.Expr{e.Y}
	first := e.X
	for {
		left, ok := first.(*syntax.Binary)
		if !ok || left.Op != e.Op {
			break
		}
		if s.user == nil {
			if err := s.b.count(left.Pos()); err != nil {
				return nil, err
			}
		}
		chain, first = append(chain, left.Y), left.X
	}
	chain = append(chain, first)
	slices.Reverse(chain)
	operands := make([]plan.Expr, len(chain))
	for i, x := range chain {
		var err error
		if operands[i], err = s.condition(x); err != nil {
			return nil, err
		}
	}
	return plan.Join(e.Op, operands...), nil
}
