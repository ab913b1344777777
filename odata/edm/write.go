package edm

import "slices"

// Write holds which rows of a set may be written, and what the service itself writes into them.
type Write struct {
	// Create, Update and Delete report what is allowed at all.
	Create, Update, Delete bool
	// Filter is a condition in $filter syntax on the rows that may be changed, besides EntitySet.Policy. It holds before and
	// after a change, may use hidden properties, and may name @user_COLUMN. Only package bind reads it.
	Filter string
	// Set are the values that the service gives a row at its creation, Touch those that it gives with every change, the
	// creation included. What a client sends for these properties is ignored.
	Set, Touch []Given
	// Fixed are paths of properties that are given at creation and never changed.
	Fixed [][]*Property
	// Version is the integer property that the service moves with every change: 1 at the creation, one more with each
	// change, and 1 again behind the greatest of its type. It may be hidden. If it is nil, the entity tag of a row is one
	// of all visible properties.
	Version *Property
	// Validator names the rules that are asked before a change of the set is made; empty for none.
	Validator string
	// Final reports that a new row stays as the source has first read it until somebody changes it: no trigger of the database runs
	// for rows of the set.
	Final bool
}

// Given is a value that the service writes.
type Given struct {
	// Path ends at a primitive property, through complex ones. It may be hidden.
	Path []*Property
	// Value is "@user_COLUMN" for a column of the user, "@now" for the time of the request, or the text of a constant as
	// $value has it, such as "true", "12.50" or "draft".
	Value string
}

// Access is the way in which a client may write a property of a set that can be written.
type Access uint8

const (
	// Free properties are given at creation and may be changed.
	Free Access = iota
	// Immutable properties are given at creation. In a change they are ignored: keys, and Write.Fixed. Core.Immutable
	Immutable
	// Computed properties are ignored, whoever sends them: those that the database computes, Write.Set, Write.Touch, and
	// Write.Version. Core.Computed
	Computed
)

// Access returns what a client may do with the property at a path. The set must have a Write.
func (s *EntitySet) Access(path ...*Property) Access {
	p := path[len(path)-1]
	given := func(list []Given) bool {
		return slices.ContainsFunc(list, func(g Given) bool { return slices.Equal(g.Path, path) })
	}
	switch w := s.Write; {
	case p.Computed, p == w.Version && len(path) == 1, given(w.Set), given(w.Touch):
		return Computed
	case p.Immutable, len(path) == 1 && s.Type.IsKey(p),
		slices.ContainsFunc(w.Fixed, func(fixed []*Property) bool { return len(fixed) <= len(path) && slices.Equal(fixed, path[:len(fixed)]) }):
		return Immutable
	}
	return Free
}

// Relinks reports whether clients may add and remove links of a navigation property of the set: over a table in between
// with the update of both sets, over a foreign key with that of the set whose rows hold it.
func (s *EntitySet) Relinks(nav *Navigation) bool {
	holder := s
	switch {
	case nav.Through:
		return nav.Linkable && s.Write != nil && s.Write.Update && nav.Target.Write != nil && nav.Target.Write.Update
	case nav.HeldByTarget():
		holder = nav.Target
	}
	return holder.Write != nil && holder.Write.Update && slices.ContainsFunc(nav.HeldPaths(), func(p []*Property) bool { return holder.Access(p...) == Free })
}

// CreatesBelow reports whether clients may create an entity of the target of a navigation property to many that is linked to an
// entity of the set that is there.
func (s *EntitySet) CreatesBelow(nav *Navigation) bool {
	return nav.Collection && s.DeepInserts(nav) && (!nav.Through || s.Write != nil && s.Write.Update)
}

// DeepInserts reports whether clients may create an entity of the target of a navigation property with an entity of the set.
func (s *EntitySet) DeepInserts(nav *Navigation) bool {
	w := nav.Target.Write
	if w == nil || !w.Create {
		return false
	}
	holder := s
	switch {
	case nav.Through:
		return nav.Linkable
	case nav.HeldByTarget():
		holder = nav.Target
	}
	return holder.Write != nil && slices.ContainsFunc(nav.HeldPaths(), func(p []*Property) bool { return holder.Access(p...) != Computed })
}

// Binds reports whether clients may link a new entity of the set to one that is there, by its own foreign key.
func (s *EntitySet) Binds(nav *Navigation) bool {
	return nav.HeldByOwn() && s.Write != nil && s.Write.Create && slices.ContainsFunc(nav.HeldPaths(), func(p []*Property) bool { return s.Access(p...) != Computed })
}

// HeldByOwn reports whether the row that has the navigation property holds the foreign key. It is false where the navigation goes
// through a table in between.
func (n *Navigation) HeldByOwn() bool { return !n.Through && !n.Collection && !n.Inverse }

// HeldByTarget reports whether the row of the target holds the foreign key. It is false where the navigation goes through a table in
// between.
func (n *Navigation) HeldByTarget() bool { return !n.Through && (n.Collection || n.Inverse) }

// HeldPaths returns the paths of the foreign key behind a navigation property, of the type that holds it. It is nil where the
// navigation goes through a table in between, or compares a column that is no property.
func (n *Navigation) HeldPaths() [][]*Property {
	var out [][]*Property
	for _, p := range n.Pairs {
		if p.Own == nil || p.Other == nil {
			return nil
		}
		if n.HeldByTarget() {
			out = append(out, p.Other)
		} else {
			out = append(out, p.Own)
		}
	}
	return out
}

// Upserts reports whether a client may create an entity of the set by changing one that is not there: it may create, update, and
// choose the whole key.
func (s *EntitySet) Upserts() bool {
	return s.Write != nil && s.Write.Create && s.Write.Update && len(s.Type.Key) > 0 &&
		!slices.ContainsFunc(s.Type.Key, func(p *Property) bool { return s.Access(p) == Computed })
}
