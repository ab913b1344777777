package edm

// Guard is who may reach a set. The zero value is GuardSettled, so that a set without a guard is not public.
type Guard uint8

// The guards of configuration: "session", "settled", "none".
const (
	// GuardSettled demands a signed-in user whose intent loop has ended.
	GuardSettled Guard = iota
	// GuardSession demands a signed-in user.
	GuardSession
	// GuardNone admits everybody, guests too.
	GuardNone
)

// String is the name of the guard in the configuration.
func (g Guard) String() string {
	switch g {
	case GuardSettled:
		return "settled"
	case GuardNone:
		return "none"
	}
	return "session"
}

// ParseGuard reads the name of a guard in the configuration; false when there is no such guard.
func ParseGuard(word string) (Guard, bool) {
	for _, g := range []Guard{GuardSession, GuardSettled, GuardNone} {
		if g.String() == word {
			return g, true
		}
	}
	return GuardSettled, false
}

// Model is everything a service exposes: one schema with one entity container.
type Model struct {
	// Namespace of the schema; types are named Namespace.Name.
	Namespace string
	// Container is the name of the entity container.
	Container string
	// Guard is the rule of the service itself: service document, metadata, batch. Sets have their own.
	Guard Guard

	Sets       []*EntitySet
	Singletons []*Singleton
	// Types are the entity types; every set and singleton has one of them.
	Types     []*EntityType
	Complexes []*ComplexType
	Enums     []*EnumType
	// Texts are those of labels, titles and descriptions; nil where they stand in the model themselves.
	Texts *Texts
}

// EntitySet is a named collection of entities. OData-CSDL 13.2
type EntitySet struct {
	Name string
	Type *EntityType
	// Guard holds wherever the set is reached: by its name, by navigation, in $expand and in $filter.
	Guard Guard
	// Policy is a row policy in $filter syntax, or empty. It holds wherever the set is reached, may use hidden
	// properties, and may name @user_COLUMN. Only package bind reads it, and it never reaches a client.
	Policy string
	// Searchable tells whether $search works on the set.
	Searchable bool
	// NoApply tells that the set does not take $apply.
	NoApply     bool
	Description string
	// single is set for the set that stands behind a singleton.
	single bool
}

// Singleton is one entity with a name of its own. OData-CSDL 13.3
type Singleton struct {
	Name string
	// Set carries type, guard and policy. It has the singleton's name and is not among Model.Sets.
	Set *EntitySet
}

// NewSingleton makes a singleton, and the set behind it, from the fields that a set has.
func NewSingleton(set EntitySet) *Singleton {
	set.single = true
	return &Singleton{Name: set.Name, Set: &set}
}

// Add puts a set of entities into the model, or the one entity of a singleton, and returns the set that carries its
// type, guard and policy.
func (m *Model) Add(set EntitySet, single bool) *EntitySet {
	if single {
		one := NewSingleton(set)
		m.Singletons = append(m.Singletons, one)
		return one.Set
	}
	m.Sets = append(m.Sets, &set)
	return &set
}

// Single tells whether the set stands behind a singleton: it has one row and no key in its URL.
func (s *EntitySet) Single() bool { return s.single }

// EntityType is the shape of the entities of a set. OData-CSDL 6
type EntityType struct {
	Name string
	// Key are the key properties, in order; they are among Properties, too.
	Key []*Property
	// AlternateKeys become Core.AlternateKeys; their properties are among Properties.
	AlternateKeys [][]*Property
	Properties    []*Property
	Navigation    []*Navigation
	// Hidden are properties that exist for row policies only. Nothing that a client sends or reads may reach them.
	Hidden      []*Property
	Description string
	// Look is how tables and forms show the entities.
	Look TypeLook
}

// Property finds a structural property by name; nil when there is none. Hidden properties are not found.
func (t *EntityType) Property(name string) *Property { return find(t.Properties, name) }

// Nav finds a navigation property by name; nil when there is none.
func (t *EntityType) Nav(name string) *Navigation {
	for _, n := range t.Navigation {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// IsKey tells whether p belongs to the key.
func (t *EntityType) IsKey(p *Property) bool {
	for _, k := range t.Key {
		if k == p {
			return true
		}
	}
	return false
}

// Navigation is a navigation property together with its binding: types and sets belong together one to one here,
// so the target is a set. OData-CSDL 8
type Navigation struct {
	Name string
	// Target is the set that the property leads to; its guard and policy hold there.
	Target *EntitySet
	// Collection is true for to-many.
	Collection bool
	// Nullable tells for to-one whether there may be no target.
	Nullable bool
	// Partner is the name of the inverse navigation property of the target's type; empty where there is none.
	Partner string
	// Constraints are the pairs of properties that the navigation compares; empty where a column is hidden, or where
	// the navigation goes through another table.
	Constraints []Constraint
	Description string
}

// Constraint is one pair of a referential constraint: Property of the navigation's own type equals Referenced of the
// target's. OData-CSDL 8.5
type Constraint struct {
	Property, Referenced *Property
}

// Set finds an entity set by name; nil when there is none.
func (m *Model) Set(name string) *EntitySet {
	for _, s := range m.Sets {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Singleton finds a singleton by name; nil when there is none.
func (m *Model) Singleton(name string) *Singleton {
	for _, s := range m.Singletons {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// EntityType finds an entity type by its name without the namespace; nil when there is none.
func (m *Model) EntityType(name string) *EntityType {
	for _, t := range m.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Enum finds an enumeration by its name without the namespace; nil when there is none.
func (m *Model) Enum(name string) *EnumType {
	for _, e := range m.Enums {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Complex finds a complex type by its name without the namespace; nil when there is none.
func (m *Model) Complex(name string) *ComplexType {
	for _, c := range m.Complexes {
		if c.Name == name {
			return c
		}
	}
	return nil
}
