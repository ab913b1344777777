package edm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Check returns all faults of a model as one joined error: names that collide or are no identifiers, sets without a type, types without a
// key, key properties that a client could not see, navigation into nowhere.
func (m *Model) Check() error {
	var faults []error
	bad := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for part := range strings.SplitSeq(m.Namespace, ".") {
		if !Identifier(part) {
			bad("namespace: %q must be identifiers with dots between, such as Example.Shop", m.Namespace)
			break
		}
	}
	if m.Container == "" {
		bad("the model needs a container name")
	}
	inSchema := map[string]bool{m.Container: true}
	inContainer := map[string]bool{}
	take := func(space map[string]bool, what, name string) {
		if !Identifier(name) {
			bad("%s %q: the name must be an identifier: letters, digits and underscores", what, name)
		} else if space[name] {
			bad("%s %q: the name is taken", what, name)
		}
		space[name] = true
	}
	for _, t := range m.Types {
		take(inSchema, "entity type", t.Name)
		checkType(t, bad)
	}
	for _, c := range m.Complexes {
		take(inSchema, "complex type", c.Name)
		for _, p := range c.Properties {
			if !Identifier(p.Name) {
				bad("complex type %q: the property name %q is no identifier", c.Name, p.Name)
			}
		}
	}
	for _, e := range m.Enums {
		take(inSchema, "enum", e.Name)
		for _, member := range e.Members {
			if !Identifier(member.Name) {
				bad("enum %q: the member %q is no identifier", e.Name, member.Name)
			}
		}
		if len(e.Members) == 0 {
			bad("enum %q: an enumeration needs members", e.Name)
		}
	}
	for _, s := range m.Sets {
		take(inContainer, "entity set", s.Name)
		if s.Type == nil || m.EntityType(s.Type.Name) != s.Type {
			bad("entity set %q: its type is not in the model", s.Name)
		} else if len(s.Type.Key) == 0 {
			bad("entity set %q: its type has no key", s.Name)
		} else {
			s.checkWrite(bad)
		}
	}
	for _, s := range m.Singletons {
		take(inContainer, "singleton", s.Name)
		if s.Type == nil || m.EntityType(s.Type.Name) != s.Type {
			bad("singleton %q: its type is not in the model", s.Name)
		}
		if s.Write != nil {
			bad("singleton %q: singletons cannot be written", s.Name)
		}
	}
	return errors.Join(faults...)
}

func checkType(t *EntityType, bad func(string, ...any)) {
	names := map[string]bool{}
	take := func(name string) {
		if !Identifier(name) {
			bad("entity type %q: the property name %q is no identifier", t.Name, name)
		} else if names[name] {
			bad("entity type %q: two properties are named %q", t.Name, name)
		}
		names[name] = true
	}
	for _, p := range t.Properties {
		take(p.Name)
	}
	for _, n := range t.Navigation {
		take(n.Name)
		if n.Target == nil || n.Target.Type == nil {
			bad("entity type %q: navigation %q leads nowhere", t.Name, n.Name)
		} else if n.Partner != "" {
			if back := n.Target.Type.Nav(n.Partner); back == nil || back.Target == nil || back.Target.Type != t { // OData-CSDL 8.4
				bad("entity type %q, navigation %q: the partner %q is no navigation of %q that leads back", t.Name, n.Name, n.Partner, n.Target.Name)
			}
		}
	}
	for _, k := range append([][]*Property{t.Key}, t.AlternateKeys...) {
		for _, p := range k {
			if t.Property(p.Name) != p {
				bad("entity type %q: key property %q is not among its properties", t.Name, p.Name)
			}
		}
	}
}

// checkWrite checks the properties that the write block of a set names.
func (s *EntitySet) checkWrite(bad func(string, ...any)) {
	w := s.Write
	if w == nil {
		return
	}
	for _, list := range [][]Given{w.Set, w.Touch} {
		for _, g := range list {
			if !s.Type.stores(g.Path) || g.Path[len(g.Path)-1].Type.Kind == Complex {
				bad("entity set %q: set and touch name a property that its type does not have", s.Name)
			}
		}
	}
	for _, path := range w.Fixed {
		if !s.Type.stores(path) {
			bad("entity set %q: fixed names a property that its type does not have", s.Name)
		}
	}
	if v := w.Version; v != nil && (!s.Type.stores([]*Property{v}) || !v.Type.Kind.Integer()) {
		bad("entity set %q: the version %q is no integer property of its type", s.Name, v.Name)
	}
}

// stores reports whether a path ends at a property of the type, hidden ones included.
func (t *EntityType) stores(path []*Property) bool {
	in := slices.Concat(t.Properties, t.Hidden)
	for i, p := range path {
		if !slices.Contains(in, p) {
			return false
		}
		if in = nil; p.Type.Kind == Complex {
			in = p.Type.Complex.Properties
		} else if i < len(path)-1 {
			return false
		}
	}
	return len(path) > 0
}
