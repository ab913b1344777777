package bind

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

const userPrefix = "@user_"

// PolicyError is a row policy, or the filter of a write block, that cannot be parsed or that does not fit its set.
type PolicyError struct {
	Set *edm.EntitySet
	// Write reports that it is edm.Write.Filter.
	Write bool
	Err   error
}

// Error names the set.
func (e *PolicyError) Error() string {
	if e.Write {
		return fmt.Sprintf("filter of what may be written of %q: %v", e.Set.Name, e.Err)
	}
	return fmt.Sprintf("row policy of %q: %v", e.Set.Name, e.Err)
}

// Unwrap gives the fault itself: a *syntax.Error or a *plan.Error, whose Pos is an offset in the policy's text.
func (e *PolicyError) Unwrap() error { return e.Err }

// policy is a parsed row policy.
type policy struct {
	expr syntax.Expr
	// users are the columns of the user that it names.
	users []string
}

// parsePolicy parses the row policy of a set, or the filter of its write block.
func parsePolicy(text string, guard edm.Guard) (policy, error) {
	expr, err := syntax.ParseFilter(text, syntax.Options{Functions: function.Arity, NearestFunction: function.Nearest})
	if err != nil {
		return policy{}, err
	}
	p := policy{expr: expr}
	syntax.Walk(expr, func(e syntax.Expr) {
		path, ok := e.(*syntax.Path)
		if !ok || !strings.HasPrefix(path.Root, "@") || err != nil {
			return
		}
		column, ok := strings.CutPrefix(path.Root, userPrefix)
		p.users = append(p.users, column)
		if !ok {
			err = plan.Errorf(plan.Malformed, path.Pos(), "%s is unknown; a column of the user is %sCOLUMN", path.Root, userPrefix)
		}
	})
	if err == nil && len(p.users) > 0 && guard == edm.GuardNone {
		err = plan.Errorf(plan.Malformed, 0, "it names a column of the user, but guard \"none\" lets in who is nobody")
	}
	return p, err
}

// learnFilter keeps the filter of a write block, unless it holds for no row whoever asks.
func (binder *Binder) learnFilter(set *edm.EntitySet) error {
	if err := binder.learn(binder.filters, set, set.Write.Filter, edm.GuardSettled); err != nil {
		return err
	}
	p := binder.filters[set]
	if p.expr == nil || len(p.users) > 0 {
		return nil
	}
	b := newBinding(binder, Options{})
	r := b.newRange(set)
	holds := b.holds(r, p)
	if c := (&change{out: &Writing{Change: &write.Change{}}}); !b.plan.Volatile && c.never(holds, r) {
		return plan.Errorf(plan.Malformed, -1, "the filter holds for no row")
	}
	return nil
}

// UserColumns lists the columns of the user that the row policy of a set names.
func (binder *Binder) UserColumns(set *edm.EntitySet) []string {
	return slices.Compact(slices.Sorted(slices.Values(binder.policies[set].users)))
}

// WriteColumns lists the columns of the user that the write block of a set names, in its filter and as values.
func (binder *Binder) WriteColumns(set *edm.EntitySet) []string {
	list := slices.Clone(binder.filters[set].users)
	if w := set.Write; w != nil {
		for _, g := range slices.Concat(w.Set, w.Touch) {
			if column, ok := strings.CutPrefix(g.Value, userPrefix); ok {
				list = append(list, column)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// tryPolicy binds a policy with a user whose columns are all null, so that every fault shows at the start.
func (binder *Binder) tryPolicy(set *edm.EntitySet, p policy) error {
	b := newBinding(binder, Options{})
	r := b.newRange(set)
	s := b.scope(r)
	s.user = func(*syntax.Path) (plan.Expr, error) {
		return &plan.Literal{T: edm.Of(edm.Null), Value: plan.Value{Null: true}}, nil
	}
	_, err := s.condition(p.expr)
	return err
}

// applyPolicy gives a range the policy of its set, as it reads for this caller.
func (b *binding) applyPolicy(r *plan.Range) {
	if r.Set.Policy != "" {
		r.Policy = b.holds(r, b.binder.policies[r.Set])
	}
}

// holds binds a policy for this caller, over a range of its set. It is false for all rows if it has not been parsed.
func (b *binding) holds(r *plan.Range, p policy) plan.Expr {
	if p.expr == nil {
		return plan.Bool(false)
	}
	for _, column := range p.users {
		b.plan.Private, b.plan.PerCaller = true, true
		if !b.Caller.SignedIn || b.Caller.Column(column) == nil {
			return plan.Bool(false)
		}
	}
	s := b.scope(r)
	s.user = b.user
	expr, err := s.condition(p.expr)
	if err != nil {
		// New has bound the policy with a null user, so the value of this user is what does not fit: it matches no
		// row.
		return plan.Bool(false)
	}
	return expr
}

// Policy binds the row policy of a set for nobody in particular, over a range of the number 0. It is nil for a set without
// one. volatile reports whether it means something else at another moment.
func (binder *Binder) Policy(set *edm.EntitySet, now time.Time) (policy plan.Expr, volatile bool) {
	b := newBinding(binder, Options{Now: now})
	r := b.newRange(set)
	b.applyPolicy(r)
	return r.Policy, b.plan.Volatile
}

// user is the constant that @user_COLUMN stands for; its type adapts to what it is compared with.
func (b *binding) user(alias *syntax.Path) (plan.Expr, error) {
	column := strings.TrimPrefix(alias.Root, userPrefix)
	text := func(k edm.Kind, s string) plan.Expr {
		return &plan.Literal{T: edm.Of(k), Value: plan.Value{Bytes: []byte(s)}, Adapts: true}
	}
	number := func(n int64) plan.Expr {
		return &plan.Literal{T: edm.Of(edm.Int64), Value: plan.Value{Int: n}, Adapts: true}
	}
	switch v := b.Caller.Column(column).(type) {
	case bool:
		l := plan.Bool(v)
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
		return text(edm.DateTimeOffset, formatTime(v)), nil
	}
	return nil, plan.Errorf(plan.Malformed, -1, "the user's column %q has no type that a policy can compare", column)
}
