package bind

import (
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// Binder binds the expressions of one request. It is for one goroutine.
type Binder struct {
	Model *edm.Model
	// MaxNodes bounds the size of all expressions together; those with a Scope.User are not counted.
	MaxNodes int
	// Now is what the function now gives; Volatile is set when it was asked.
	Now      time.Time
	Volatile bool
	// Aliases are the parameter aliases in force, inner ones last.
	Aliases [][]syntax.Alias
	// Enter makes the range of a set that an expression reaches; guard and policy hold there.
	Enter func(set *edm.EntitySet, pos int) (*plan.Range, error)

	// owner is the query whose joins a range may add to.
	owner  map[*plan.Range]*plan.Query
	ranges int
	nodes  int
	// open are the aliases that are being bound, against circles.
	open map[string]bool
}

// NewRange makes a range over a set, without guard and policy.
func (b *Binder) NewRange(set *edm.EntitySet) *plan.Range {
	r := &plan.Range{ID: b.ranges, Set: set}
	b.ranges++
	return r
}

// Query makes a query over a range; to-one navigation from the range will add to its joins.
func (b *Binder) Query(r *plan.Range) *plan.Query {
	if b.owner == nil {
		b.owner, b.open = map[*plan.Range]*plan.Query{}, map[string]bool{}
	}
	q := &plan.Query{Range: r}
	b.owner[r] = q
	return q
}

// Scope is what names in an expression mean.
type Scope struct {
	b *Binder
	// This is the instance that plain names belong to.
	This *plan.Range
	// It is the instance of $it; nil where there is none.
	It *plan.Range
	// Computed are the results of $compute that may be used.
	Computed map[string]plan.Expr
	// User gives the value of an alias in a row policy. It marks the operator's text: hidden properties exist, no
	// guard and no policy holds inside, and to-one navigation becomes a Sub, because a policy has no joins.
	User func(*syntax.Path) (plan.Expr, error)
	// vars are the range variables of the lambdas around.
	vars map[string]*plan.Range
}

// Scope is where the expressions of a range are bound.
func (b *Binder) Scope(this *plan.Range) *Scope {
	return &Scope{b: b, This: this, Computed: map[string]plan.Expr{}}
}

// Condition binds an expression that must be Boolean.
func (s *Scope) Condition(e syntax.Expr) (plan.Expr, error) {
	x, err := s.Bind(e)
	if err != nil {
		return nil, err
	}
	return x, wantBoolean(x, e)
}

func wantBoolean(x plan.Expr, e syntax.Expr) error {
	if k := x.Type().Kind; (k != edm.Boolean && k != edm.Null) || x.Type().Collection {
		return plan.Errorf(plan.Malformed, e.Pos(), "%s is not a condition", e)
	}
	return nil
}

// Bind types an expression. OData-URL 5.1.1
func (s *Scope) Bind(e syntax.Expr) (plan.Expr, error) {
	if s.User == nil {
		s.b.nodes++
		if s.b.nodes > s.b.MaxNodes {
			return nil, plan.Errorf(plan.Malformed, e.Pos(), "the expressions have more than %d parts", s.b.MaxNodes)
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
	case *syntax.List:
		return nil, plan.Errorf(plan.Malformed, e.At, "a list can only stand on the right of in")
	}
	return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "%s is not supported", e)
}

func (s *Scope) literal(e *syntax.Literal) (plan.Expr, error) {
	if e.Kind == syntax.Enum {
		return s.enumLiteral(e)
	}
	l, err := Of(e)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (s *Scope) enumLiteral(e *syntax.Literal) (plan.Expr, error) {
	for _, t := range s.b.Model.Enums {
		if e.Type != s.b.Model.Namespace+"."+t.Name {
			continue
		}
		text := &plan.Literal{T: edm.Of(edm.String), Value: plan.Value{Bytes: []byte(e.Text)}}
		if l, ok := Convert(text, edm.Type{Kind: edm.Enum, Enum: t}); ok {
			return l, nil
		}
		return nil, plan.Errorf(plan.Malformed, e.At, "%q is no value of %s", e.Text, e.Type)
	}
	return nil, plan.Errorf(plan.Malformed, e.At, "there is no enumeration type %q", e.Type)
}

func (s *Scope) unary(e *syntax.Unary) (plan.Expr, error) {
	x, err := s.Bind(e.X)
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
	if (!numeric(t.Kind) && t.Kind != edm.Duration && t.Kind != edm.Null) || t.Collection {
		return nil, plan.Errorf(plan.Malformed, e.At, "%s cannot be negated", e.X)
	}
	if l, ok := x.(*plan.Literal); ok {
		if n, ok := Negated(l); ok {
			return n, nil
		}
	}
	if integer(t.Kind) {
		t = edm.Of(edm.Int64)
	}
	return &plan.Call{Name: "negate", Args: []plan.Expr{x}, T: t}, nil
}

func (s *Scope) binary(e *syntax.Binary) (plan.Expr, error) {
	x, err := s.Bind(e.X)
	if err != nil {
		return nil, err
	}
	if list := s.list(e.Y); list != nil && e.Op == "in" {
		return s.in(e, x, list)
	}
	y, err := s.Bind(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case "and", "or":
		if err := wantBoolean(x, e.X); err != nil {
			return nil, err
		}
		if err := wantBoolean(y, e.Y); err != nil {
			return nil, err
		}
		return &plan.Call{Name: e.Op, Args: []plan.Expr{x, y}, T: edm.Of(edm.Boolean)}, nil
	case "eq", "ne", "gt", "ge", "lt", "le":
		return s.compare(e, x, y)
	case "has":
		return s.has(e, x, y)
	case "in":
		return nil, plan.Errorf(plan.NotImplemented, e.Y.Pos(), "in is supported with a list of values")
	}
	return s.arithmetic(e, x, y)
}

// choice binds case(...). OData-URL 5.1.1.12
func (s *Scope) choice(e *syntax.Case) (plan.Expr, error) {
	call := &plan.Call{Name: "case", T: edm.Of(edm.Null)}
	var results []plan.Expr
	for _, w := range e.When {
		cond, err := s.Condition(w.Cond)
		if err != nil {
			return nil, err
		}
		value, err := s.Bind(w.Value)
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
			return nil, plan.Errorf(plan.Malformed, e.At, "the results of case have no common type")
		}
		if common = x; rank(results[i].Type().Kind) > rank(common.Type().Kind) {
			common = results[i]
		}
	}
	for i, r := range results {
		if _, y, ok := unify(common, r); ok {
			call.Args[2*i+1] = y
		}
	}
	call.T = common.Type()
	return call, nil
}
