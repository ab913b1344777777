package plan

import (
	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/syntax"
)

// key binds a key predicate: one value alone, or the names of the key or of an alternate key with their values.
// OData-URL 4.3.1, 4.3.5
func (s *scope) key(args *syntax.ArgList, t *edm.EntityType) (Expr, error) {
	list := args.Args
	if len(list) == 1 && list[0].Name == "" {
		if len(t.Key) != 1 {
			return nil, fail(Malformed, args.Pos, "the key of %s has %d parts; name them", t.Name, len(t.Key))
		}
		return s.keyPart(t.Key[0], list[0])
	}
	for _, key := range append([][]*edm.Property{t.Key}, t.AlternateKeys...) {
		if !sameNames(key, list) {
			continue
		}
		var cond Expr
		for _, a := range list {
			part, err := s.keyPart(property(key, a.Name), a)
			if err != nil {
				return nil, err
			}
			cond = conj(cond, part)
		}
		return cond, nil
	}
	return nil, fail(Malformed, args.Pos, "%s has no such key", t.Name)
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

func (s *scope) keyPart(p *edm.Property, a syntax.Arg) (Expr, error) {
	value, err := s.bind(a.Value)
	if err != nil {
		return nil, err
	}
	lit, ok := value.(*Literal)
	if !ok {
		return nil, fail(Malformed, a.Pos, "a key needs a constant")
	}
	typed, ok := convert(lit, p.Type)
	if !ok || lit.Value.Null {
		return nil, fail(Malformed, a.Pos, "the key %q is %s, not %s", p.Name, typeName(p.Type), typeName(lit.T))
	}
	ref := &Ref{Range: s.this, Path: []*edm.Property{p}, T: p.Type}
	return equal(ref, typed), nil
}

func equal(x, y Expr) Expr { return &Call{Name: "eq", Args: []Expr{x, y}, T: edm.Of(edm.Boolean)} }

// conj joins conditions; nil is no condition.
func conj(x, y Expr) Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return &Call{Name: "and", Args: []Expr{x, y}, T: edm.Of(edm.Boolean)}
}

func boolean(v bool) *Literal {
	l := &Literal{T: edm.Of(edm.Boolean)}
	if v {
		l.Value.Int = 1
	}
	return l
}
