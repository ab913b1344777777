package edm

import (
	"cmp"
	"slices"
	"unicode"
)

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

	// Singletons are made by Add.
	Sets, Singletons []*EntitySet
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
	// Write holds what may be written; nil for nothing. Singletons have none.
	Write *Write
	// single is set for a singleton.
	single bool
}

// Add puts a set of entities into the model, or a singleton, and returns it.
func (m *Model) Add(set EntitySet, single bool) *EntitySet {
	if set.single = single; single {
		m.Singletons = append(m.Singletons, &set)
	} else {
		m.Sets = append(m.Sets, &set)
	}
	return &set
}

// All returns the sets and behind them the singletons.
func (m *Model) All() []*EntitySet { return slices.Concat(m.Sets, m.Singletons) }

// Single reports whether the set is a singleton: it has one row and no key in its URL.
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
	// Unlisted are the foreign keys that compare a hidden column, as navigation to one. Clients cannot name them; what is written
	// has to meet them.
	Unlisted []*Navigation
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
	return named(t.Navigation, func(n *Navigation) bool { return n.Name == name })
}

// IsKey tells whether p belongs to the key.
func (t *EntityType) IsKey(p *Property) bool { return slices.Contains(t.Key, p) }

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
	// Inverse reports, of a navigation to one, that the row of the target holds the foreign key.
	Inverse bool
	// Partner is the name of the inverse navigation property of the target's type; empty where there is none.
	Partner string
	// Pairs are what the navigation compares; nil where it goes through a table in between. A pair may lack a path where a column
	// is no property.
	Pairs []Pair
	// Constrained reports that Pairs are referential constraints: of a navigation to one that is not Inverse, over visible
	// properties of the types themselves. OData-CSDL 8.5
	Constrained bool
	// Enforced reports, of a collection, that the source has no rows of the target that name a row which is not there.
	Enforced bool
	// Through reports that the navigation goes through a table in between, and Linkable that links can be added to that table and
	// removed. A client may do so if the sets at both ends have Write.Update.
	Through, Linkable bool
	Description       string
}

// Pair is two properties that a navigation compares, as paths of the own type and of the target's. They may be hidden.
type Pair struct {
	Own, Other []*Property
}

// KeyPaths returns the paths of the properties of the own type that a navigation to one compares.
func (n *Navigation) KeyPaths() [][]*Property {
	var out [][]*Property
	for _, p := range n.Pairs {
		if p.Own != nil {
			out = append(out, p.Own)
		}
	}
	return out
}

// named returns the first element that is the one looked for; nil when there is none.
func named[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

// Set finds an entity set by name; nil when there is none.
func (m *Model) Set(name string) *EntitySet {
	return named(m.Sets, func(x *EntitySet) bool { return x.Name == name })
}

// Singleton finds a singleton by name; nil when there is none.
func (m *Model) Singleton(name string) *EntitySet {
	return named(m.Singletons, func(x *EntitySet) bool { return x.Name == name })
}

// EntityType finds an entity type by its name without the namespace; nil when there is none.
func (m *Model) EntityType(name string) *EntityType {
	return named(m.Types, func(x *EntityType) bool { return x.Name == name })
}

// Enum finds an enumeration by its name without the namespace; nil when there is none.
func (m *Model) Enum(name string) *EnumType {
	return named(m.Enums, func(x *EnumType) bool { return x.Name == name })
}

// Complex finds a complex type by its name without the namespace; nil when there is none.
func (m *Model) Complex(name string) *ComplexType {
	return named(m.Complexes, func(x *ComplexType) bool { return x.Name == name })
}

// MaxIdentifier is how many characters a name may have. ABNF odataIdentifier
const MaxIdentifier = 128

// Identifier reports whether a name can be used in a URL and in CSDL. OData-CSDL 15.2
func Identifier(name string) bool {
	n := 0
	for i, r := range name {
		if !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.Is(unicode.Nd, r)) {
			return false
		}
		n++
	}
	return n > 0 && n <= MaxIdentifier
}

// NewEnum returns an enumeration type, its members in the order of their values. Labels may lack members.
func NewEnum(name string, flags bool, members map[string]int64, labels map[string]string) *EnumType {
	t := &EnumType{Name: name, Flags: flags, Underlying: Int64}
	for member, value := range members {
		t.Members = append(t.Members, EnumMember{Name: member, Value: value, Label: labels[member]})
	}
	slices.SortFunc(t.Members, func(a, b EnumMember) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return t
}
