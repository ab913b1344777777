package bind

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// key binds the key predicate of a range: one value alone, or the names of the key or of an alternate key with their values.
// OData-URL 4.3, 4.3.5
func (s *scope) key(args *syntax.ArgList, r *plan.Range) (plan.Expr, error) {
	t := r.Set.Type
	list := args.Args
	if len(list) == 1 && list[0].Name == "" {
		if len(t.Key) != 1 {
			return nil, plan.Errorf(plan.Malformed, args.Pos, "the key of %s has %d parts; name them", t.Name, len(t.Key))
		}
		return s.keyPart(r, t.Key[0], list[0])
	}
	for _, key := range append([][]*edm.Property{t.Key}, t.AlternateKeys...) {
		if !sameNames(key, list) {
			continue
		}
		var cond plan.Expr
		for _, a := range list {
			part, err := s.keyPart(r, property(key, a.Name), a)
			if err != nil {
				return nil, err
			}
			cond = plan.Join("and", cond, part)
		}
		return cond, nil
	}
	return nil, plan.Errorf(plan.Malformed, args.Pos, "%s has no such key", t.Name)
}

func sameNames(key []*edm.Property, args []syntax.Arg) bool {
	if len(key) != len(args) || len(key) == 0 {
		return false
	}
	seen := map[string]bool{}
	for _, a := range args {
		if property(key, a.Name) == nil || seen[a.Name] {
			return false
		}
		seen[a.Name] = true
	}
	return true
}

func (s *scope) keyPart(r *plan.Range, p *edm.Property, a syntax.Arg) (plan.Expr, error) {
	value, err := s.bind(a.Value)
	if err != nil {
		return nil, err
	}
	lit, ok := value.(*plan.Literal)
	if !ok {
		return nil, plan.Errorf(plan.Malformed, a.Pos, "a key needs a constant")
	}
	typed, ok := convert(lit, p.Type)
	if !ok || lit.Value.Null {
		// No entity has such a key (OData-Protocol 9.2.1).
		return nil, plan.Errorf(plan.NotFound, a.Pos, "the key %q is %s, not %s", p.Name, p.Type, lit.T)
	}
	ref := &plan.Ref{Range: r, Path: []*edm.Property{p}, T: p.Type}
	return plan.Equal(ref, typed), nil
}

func property(list []*edm.Property, name string) *edm.Property {
	for _, p := range list {
		if p.Name == name {
			return p
		}
	}
	return nil
}
