package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/plan/bind"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

const userPrefix = "@user_"

// PolicyError is a row policy that does not hold up.
type PolicyError struct {
	Set *edm.EntitySet
	Err error
}

// Error names the set.
func (e *PolicyError) Error() string {
	return fmt.Sprintf("row policy of %q: %v", e.Set.Name, e.Err)
}

// Unwrap gives the fault itself: a *syntax.Error or an *Error, whose Pos counts in the policy's text.
func (e *PolicyError) Unwrap() error { return e.Err }

// policy is a parsed row policy.
type policy struct {
	expr syntax.Expr
	// users are the columns of the user that it names.
	users []string
}

func parsePolicy(set *edm.EntitySet) (policy, error) {
	expr, err := syntax.ParseFilter(set.Policy, syntax.Options{})
	if err != nil {
		return policy{}, err
	}
	p := policy{expr: expr}
	walk(expr, func(path *syntax.Path) {
		if !strings.HasPrefix(path.Root, "@") || err != nil {
			return
		}
		column, ok := strings.CutPrefix(path.Root, userPrefix)
		p.users = append(p.users, column)
		switch {
		case !ok:
			err = plan.Errorf(plan.Malformed, path.At, "%s is unknown; a column of the user is %sCOLUMN", path.Root, userPrefix)
		case strings.EqualFold(column, "password"), strings.EqualFold(column, "remember_token"):
			err = plan.Errorf(plan.Malformed, path.At, "%s is a credential, which no policy may use", path.Root)
		}
	})
	if err == nil && len(p.users) > 0 && set.Guard == edm.GuardNone {
		err = plan.Errorf(plan.Malformed, 0, "it names a column of the user, but guard \"none\" lets in who is nobody")
	}
	return p, err
}

// UserColumns lists the columns of the user that the row policy of a set names.
func (p *Planner) UserColumns(set *edm.EntitySet) []string {
	return slices.Compact(slices.Sorted(slices.Values(p.policies[set].users)))
}

// tryPolicy binds a policy with a user whose columns are all null, so that every fault shows at the start.
func (p *Planner) tryPolicy(set *edm.EntitySet) error {
	b := newBuilder(p, Options{})
	r := b.bind.NewRange(set)
	s := b.bind.Scope(r)
	s.User = func(*syntax.Path) (plan.Expr, error) {
		return &plan.Literal{T: edm.Of(edm.Null), Value: plan.Value{Null: true}}, nil
	}
	_, err := s.Condition(p.policies[set].expr)
	return err
}

// applyPolicy gives a range the policy of its set, as it reads for this caller.
func (b *builder) applyPolicy(r *plan.Range) {
	p, ok := b.planner.policies[r.Set]
	if !ok {
		if r.Set.Policy != "" {
			r.Policy = bind.Boolean(false)
		}
		return
	}
	for _, column := range p.users {
		b.plan.Private, b.plan.PerCaller = true, true
		if !b.Caller.SignedIn || b.Caller.User[column] == nil {
			r.Policy = bind.Boolean(false)
			return
		}
	}
	s := b.bind.Scope(r)
	s.User = b.user
	expr, err := s.Condition(p.expr)
	if err != nil {
		// The policy itself held up in New; what does not fit is this user's value, which matches no row.
		expr = bind.Boolean(false)
	}
	r.Policy = expr
}

// user is the constant that @user_COLUMN stands for; its type adapts to what it is compared with.
func (b *builder) user(alias *syntax.Path) (plan.Expr, error) {
	column := strings.TrimPrefix(alias.Root, userPrefix)
	text := func(k edm.Kind, s string) plan.Expr {
		return &plan.Literal{T: edm.Of(k), Value: plan.Value{Bytes: []byte(s)}, Adapts: true}
	}
	number := func(n int64) plan.Expr {
		return &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: n}, Adapts: true}
	}
	switch v := b.Caller.User[column].(type) {
	case bool:
		l := bind.Boolean(v)
		l.Adapts = true
		return l, nil
	case int:
		return number(int64(v)), nil
	case int32:
		return number(int64(v)), nil
	case int64:
		return number(v), nil
	case uint64:
		return text(edm.Decimal, fmt.Sprint(v)), nil
	case float64:
		return &plan.Literal{T: edm.Of(edm.Double), Value: plan.Value{Float: v}, Adapts: true}, nil
	case string:
		return text(edm.String, v), nil
	case []byte:
		return text(edm.String, string(v)), nil
	case time.Time:
		return text(edm.DateTimeOffset, bind.FormatTime(v)), nil
	}
	return nil, plan.Errorf(plan.Malformed, -1, "the user's column %q has no type that a policy can compare", column)
}

// walk visits the paths of an expression.
func walk(e syntax.Expr, visit func(*syntax.Path)) {
	all := func(list ...syntax.Expr) {
		for _, e := range list {
			if e != nil {
				walk(e, visit)
			}
		}
	}
	switch e := e.(type) {
	case *syntax.Path:
		visit(e)
		for _, seg := range e.Segments {
			walkSegment(seg, visit)
		}
	case *syntax.Binary:
		all(e.X, e.Y)
	case *syntax.Unary:
		all(e.X)
	case *syntax.Call:
		all(e.Args...)
	case *syntax.Cast:
		all(e.X)
	case *syntax.IsOf:
		all(e.X)
	case *syntax.Case:
		for _, w := range e.When {
			all(w.Cond, w.Value)
		}
	case *syntax.List:
		all(e.Items...)
	}
}

func walkSegment(seg syntax.Segment, visit func(*syntax.Path)) {
	for _, list := range []*syntax.ArgList{seg.Args, seg.Key} {
		if list == nil {
			continue
		}
		for _, a := range list.Args {
			if a.Value != nil {
				walk(a.Value, visit)
			}
		}
	}
	if seg.Lambda != nil && seg.Lambda.Pred != nil {
		walk(seg.Lambda.Pred, visit)
	}
	if seg.Options != nil && seg.Options.Filter != nil {
		walk(seg.Options.Filter, visit)
	}
}
