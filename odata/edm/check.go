package edm

import (
	"errors"
	"fmt"
)

// Check returns all faults of a model as one joined error: names that collide, sets without a type, types without a
// key, key properties that a client could not see, navigation into nowhere.
func (m *Model) Check() error {
	var faults []error
	bad := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if m.Namespace == "" || m.Container == "" {
		bad("the model needs a namespace and a container name")
	}
	inSchema := map[string]bool{m.Container: true}
	inContainer := map[string]bool{}
	take := func(space map[string]bool, what, name string) {
		if name == "" {
			bad("an element (%s) has no name", what)
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
	}
	for _, e := range m.Enums {
		take(inSchema, "enum", e.Name)
	}
	for _, s := range m.Sets {
		take(inContainer, "entity set", s.Name)
		if s.Type == nil || m.EntityType(s.Type.Name) != s.Type {
			bad("entity set %q: its type is not in the model", s.Name)
		} else if len(s.Type.Key) == 0 {
			bad("entity set %q: its type has no key", s.Name)
		}
	}
	for _, s := range m.Singletons {
		take(inContainer, "singleton", s.Name)
		if s.Set == nil || s.Set.Type == nil || m.EntityType(s.Set.Type.Name) != s.Set.Type {
			bad("singleton %q: its type is not in the model", s.Name)
		}
	}
	return errors.Join(faults...)
}

func checkType(t *EntityType, bad func(string, ...any)) {
	names := map[string]bool{}
	for _, p := range t.Properties {
		if names[p.Name] {
			bad("entity type %q: two properties are named %q", t.Name, p.Name)
		}
		names[p.Name] = true
	}
	for _, n := range t.Navigation {
		if names[n.Name] {
			bad("entity type %q: two properties are named %q", t.Name, n.Name)
		}
		names[n.Name] = true
		if n.Target == nil || n.Target.Type == nil {
			bad("entity type %q: navigation %q leads nowhere", t.Name, n.Name)
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
