package bind

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Entity holds the values and links that a request gives one entity. It is bound once: a change appends its own values to Values.
type Entity struct {
	Values []write.Assignment
	// Path is its place in the body, such as "Items/0/"; empty for the outermost one.
	Path    string
	Related []Related
}

// Related holds the entities and addresses that a request gives a navigation property.
type Related struct {
	Nav *edm.Navigation
	// Path is its path in the body, such as "Items/0/Product".
	Path string
	// Inline reports that the body has entities, and not addresses.
	Inline bool
	// Null unlinks the entity of a property to one.
	Null bool
	// Entities are to be created, References are there.
	Entities   []*Entity
	References []*Resource
}

// Sequence holds the changes of one request, which are made in their order.
type Sequence struct {
	Steps []*Writing
	// Main is the step whose row the answer shows; nil where the answer has none.
	Main *Writing
	// Answer reads that row, by its key, when all steps are done; nil where Main is the last step and its After shows the row.
	Answer *plan.Plan
	// Made is how the rows of Answer are those that the steps have written; nil where they have to be read.
	Made *Made
}

// sequence makes a Sequence.
type sequence struct {
	main *Resource
	out  *Sequence
	// amended is that of WriteOptions.
	amended map[string][]write.Assignment
	// shared is WriteOptions.Checks; kept are the checks of entities of the body that no other change needs columns of, by shape.
	shared func(shape string, bound func() (*Checks, error)) (*Checks, error)
	kept   map[string]*Checks
	// shape is the memory of the last one, memory that of the changes of entities without further ones.
	shape  []byte
	memory change
	// whole is WriteOptions.whole for the entities inside of the body.
	whole bool
}

// checks returns the checks of a change, which all entities of its shape share. The caller and the time are those of one request.
func (s *sequence) checks(c *change) (out *Checks, err error) {
	s.shape = c.appendShape(s.shape[:0])
	if known := s.kept[string(s.shape)]; known != nil {
		return known, nil
	}
	shape := string(s.shape)
	if s.shared != nil {
		out, err = s.shared(shape, c.checks)
	} else {
		out, err = c.checks()
	}
	if err != nil {
		return nil, err
	}
	if out.prepared == nil { // nobody keeps them behind the request
		out.prepared = &[2]atomic.Value{}
	}
	if s.kept == nil {
		s.kept = map[string]*Checks{}
	}
	s.kept[shape] = out
	return out, nil
}

// Create binds the creation of an entity of the set, with all that is linked to it. Of a collection below an entity it is
// linked to that one, too. The fault is a *plan.Error, in a *PlaceError where the body has it in a navigation property.
func (r *Resource) Create(e *Entity, o WriteOptions) (*Sequence, error) {
	s := &sequence{main: r, out: &Sequence{}, amended: o.Amended, shared: o.Checks}
	if r.Kind == OfRelated || len(e.Related) > 0 {
		o.Checks = nil // other changes may need columns of theirs
	}
	set := r
	if query := withSent(r.query, e); query != r.query {
		sent := *r
		sent.query, set = query, &sent
	}
	parent, follows := (*parent)(nil), hasMany(e)
	s.whole = s.shows(r, e, o)
	if r.Kind == OfRelated {
		if parent = parentOf(r.Nav, endOf(r.Own), ""); r.Nav.Through {
			parent, follows = nil, true
		}
	}
	w, c, err := s.create(set, e, o, follows, parent, 0)
	if err != nil {
		return nil, err
	}
	if s.out.Main = w; r.Kind == OfRelated && r.Nav.Through {
		if err := s.between(write.Link, r.Nav, endOf(r.Own), endMade(w), ""); err != nil {
			return nil, err
		}
	}
	if err := s.answer(c, o, follows); err != nil {
		return nil, err
	}
	if s.whole {
		s.out.Made = madeOf(s.out, len(e.Related[0].Entities))
	}
	return s.out, nil
}

// Update binds a change of the entity, or of the property that the path names, with the links that the body has. The fault is
// that of Create.
func (r *Resource) Update(e *Entity, o WriteOptions) (*Sequence, error) {
	s := &sequence{main: r, out: &Sequence{}, amended: o.Amended, shared: o.Checks}
	if len(e.Related) > 0 {
		o.Checks = nil
	}
	follows, own := hasMany(e), o
	own.Minimal = o.Minimal || follows
	c := r.change(write.Update, o.amended("", e.Values), own)
	if err := s.toOne(c, e, 0); err != nil {
		return nil, err
	}
	w, err := c.update()
	if err != nil {
		return nil, err
	}
	s.out.Steps, s.out.Main = append(s.out.Steps, w), w
	if err := s.toMany(endMade(w), e, r, 0); err != nil {
		return nil, err
	}
	return s.out, s.answer(c, o, follows)
}

// Delete binds the deletion of the entity. The fault is a *plan.Error.
func (r *Resource) Delete(o WriteOptions) (*Sequence, error) {
	w, err := r.change(write.Delete, nil, o).finish()
	return &Sequence{Steps: []*Writing{w}, Main: w}, err
}

// answer makes the plan of the answer where steps follow that of its row.
func (s *sequence) answer(c *change, o WriteOptions, follows bool) error {
	if !follows {
		return nil
	}
	b, n, err := c.node(c.query, !o.Minimal)
	if err != nil {
		return err
	}
	tagColumns(n)
	s.out.Answer = b.plan
	return nil
}

// hasMany reports whether an entity is linked by foreign keys of others or by tables in between, which is done behind its creation.
func hasMany(e *Entity) bool {
	return slices.ContainsFunc(e.Related, func(r Related) bool {
		return !r.Nav.HeldByOwn() && (len(r.Entities)+len(r.References) > 0 || r.Null)
	})
}

// parent is the entity that a new one is created for.
type parent struct {
	nav   *edm.Navigation
	pairs []edm.Pair
	end   *end
	path  string
}

func parentOf(nav *edm.Navigation, e *end, path string) *parent {
	return &parent{nav, reversed(nav), e, path}
}

// reversed are the pairs of a navigation property as the rows of its target have them.
func reversed(nav *edm.Navigation) []edm.Pair {
	out := slices.Clone(nav.Pairs)
	for i, p := range out {
		out[i] = edm.Pair{Own: p.Other, Other: p.Own}
	}
	return out
}

// create binds the creation of an entity of a set, behind those that it refers to, and before those that refer to it.
func (s *sequence) create(r *Resource, e *Entity, o WriteOptions, follows bool, of *parent, depth int) (*Writing, *change, error) {
	if limit := s.main.opts.Limits.WithDefaults().ExpandDepth; depth > limit {
		return nil, nil, plan.Exceeded(-1, "expand_depth", int64(limit), "the entities of the body nest deeper than they may")
	}
	o.Minimal = o.Minimal || follows
	c := r.change(write.Create, o.amended(e.Path, e.Values), o)
	c.out.Path, c.out.Place = e.Path, e.Path
	if err := s.toOne(c, e, depth); err != nil {
		return nil, nil, err
	}
	if of != nil {
		if err := c.link(of.nav, of.pairs, of.end, ""); err != nil {
			return nil, nil, at(err, of.path)
		}
	}
	w, err := c.create()
	if err != nil {
		return nil, nil, err
	}
	s.out.Steps = append(s.out.Steps, w)
	if len(e.Related) == 0 {
		return w, c, nil
	}
	return w, c, s.toMany(endMade(w), e, nil, depth)
}

// below is the set of the entities that the body has for a navigation property.
func (s *sequence) below(rel *Related) (*Resource, error) {
	if w := rel.Nav.Target.Write; w == nil || !w.Create {
		return nil, at(plan.Errorf(plan.Malformed, -1, "the set %s takes no new entities", rel.Nav.Target.Name), rel.Path)
	}
	return &Resource{Kind: OfSet, Set: rel.Nav.Target, binder: s.main.binder, opts: s.main.opts, query: &syntax.Query{}}, nil
}

// nested binds the creation of an entity inside of the body.
func (s *sequence) nested(r *Resource, e *Entity, many bool, of *parent, depth int) (*Writing, error) {
	o := WriteOptions{Minimal: true, Amended: s.amended, inner: true, whole: s.whole}
	if many && !hasMany(e) {
		o.of = s
	}
	if len(e.Related) == 0 {
		o.memory = &s.memory
	}
	w, _, err := s.create(r, e, o, false, of, depth+1)
	return w, err
}

// toOne links an entity by its own foreign keys.
func (s *sequence) toOne(c *change, e *Entity, depth int) error {
	for i := range e.Related {
		rel := &e.Related[i]
		if !rel.Nav.HeldByOwn() {
			continue
		}
		pairs := rel.Nav.Pairs
		if !slices.ContainsFunc(pairs, func(p edm.Pair) bool { return p.Own != nil && p.Other != nil && c.writes(p.Own) }) && len(rel.Entities) == 0 {
			if len(pairs) > 0 {
				continue // as a value of the foreign key itself
			}
			return at(plan.Errorf(plan.Malformed, -1, "this link cannot be written"), rel.Path)
		}
		var to *end
		switch {
		case rel.Null && c.out.Change.Kind == write.Create:
			continue
		case rel.Null:
			if err := c.unlink(rel.Nav, pairs); err != nil {
				return at(err, rel.Path)
			}
			continue
		case len(rel.References) > 0:
			to = endOf(rel.References[0])
		case len(rel.Entities) > 0:
			r, err := s.below(rel)
			if err != nil {
				return err
			}
			w, err := s.nested(r, rel.Entities[0], false, nil, depth)
			if err != nil {
				return err
			}
			to = endMade(w)
		}
		if err := c.link(rel.Nav, pairs, to, rel.Path); err != nil {
			return at(err, rel.Path)
		}
	}
	return nil
}

// toMany links an entity by the foreign keys of others, and by tables in between.
// linked is the entity where it was there before.
func (s *sequence) toMany(own *end, e *Entity, linked *Resource, depth int) error {
	for i := range e.Related {
		rel := &e.Related[i]
		if rel.Nav.HeldByOwn() {
			continue
		}
		if rel.Nav.Inverse && linked != nil {
			if err := s.replace(rel, linked); err != nil {
				return err
			}
		}
		if err := s.newOnes(rel, own, depth); err != nil {
			return err
		}
		for _, r := range rel.References {
			var err error
			if rel.Nav.Through {
				err = s.between(write.Link, rel.Nav, own, endOf(r), rel.Path)
			} else {
				err = s.hold(rel.Nav, own, r, &write.Match{Any: true}, rel.Path)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// replace releases the row that a property to one names, for the one that the body has in its place.
func (s *sequence) replace(rel *Related, linked *Resource) error {
	if linked.Row != nil || !rel.Null && len(rel.References) == 0 {
		return nil // the row that an earlier request makes is not there to look at: the transaction releases
	}
	previous, err := linked.related(linked, rel.Nav, nil)
	if err != nil {
		return at(err, rel.Path)
	}
	var next *Resource
	if !rel.Null {
		next = rel.References[0]
	}
	return s.release(rel.Nav, linked, previous, next, rel.Path)
}

// newOnes binds the creation of the entities that the body has for a navigation property to many.
func (s *sequence) newOnes(rel *Related, own *end, depth int) error {
	if len(rel.Entities) == 0 {
		return nil
	}
	r, err := s.below(rel)
	if err != nil {
		return err
	}
	var of *parent
	if !rel.Nav.Through {
		of = parentOf(rel.Nav, own, rel.Path)
	}
	for _, entity := range rel.Entities {
		w, err := s.nested(r, entity, true, of, depth)
		if err != nil {
			return err
		}
		if !rel.Nav.Through {
			continue
		}
		if err := s.between(write.Link, rel.Nav, own, endMade(w), rel.Path); err != nil {
			return err
		}
	}
	return nil
}

// hold links a row that is there by its own foreign key.
func (s *sequence) hold(nav *edm.Navigation, own *end, r *Resource, m *write.Match, path string) error {
	return s.holder(r, nav, m, path, func(c *change) error { return c.link(nav, reversed(nav), own, "") })
}

// letGo unlinks a row by its own foreign key, if that still names the owner.
func (s *sequence) letGo(nav *edm.Navigation, owner, r *Resource, m *write.Match, path string) error {
	return s.holder(r, nav, m, path, func(c *change) error {
		c.held = endOf(owner).named(reversed(nav))
		return c.unlink(nav, reversed(nav))
	})
}

// holder binds the change of a row that is there, and holds the foreign key of a link.
func (s *sequence) holder(r *Resource, nav *edm.Navigation, m *write.Match, path string, assign func(c *change) error) error {
	if w := r.Set.Write; w == nil || !w.Update {
		return at(plan.Errorf(plan.Malformed, -1, "the entities of %s cannot be changed", r.Set.Name), path)
	}
	o := WriteOptions{Minimal: true, Match: m, Amended: s.amended}
	place := fmt.Sprintf("%s@%d", path, len(s.out.Steps))
	c := r.change(write.Update, o.amended(place, nil), o)
	c.out.Place = place
	if r.Key == nil {
		c.out.key = endOf(r)
	}
	c.out.Reference = nameOr(path, nav)
	if err := assign(c); err != nil {
		return at(err, path)
	}
	w, err := c.update()
	s.out.Steps = append(s.out.Steps, w)
	return err
}

// release unlinks the row that a navigation property to one names, if there is one, and it is not the next one.
func (s *sequence) release(nav *edm.Navigation, owner, previous, next *Resource, path string) error {
	if w := nav.Target.Write; w == nil || !slices.ContainsFunc(nav.HeldPaths(), func(p []*edm.Property) bool { return nav.Target.Access(p...) == edm.Free }) {
		return at(plan.Errorf(plan.Malformed, -1, "%s: this link cannot be written", nav.Name), path)
	}
	if err := s.letGo(nav, owner, previous, &write.Match{}, path); err != nil {
		return err
	}
	w := s.out.Steps[len(s.out.Steps)-1]
	if w.released = previous; next != nil {
		w.next = endOf(next).needed()
	}
	return nil
}

// between adds or removes a link over a table in between.
func (s *sequence) between(kind write.ChangeKind, nav *edm.Navigation, own, other *end, path string) error {
	if !nav.Linkable {
		return at(plan.Errorf(plan.Malformed, -1, "%s: this link cannot be written", nav.Name), path)
	}
	for _, e := range []*end{own, other} {
		if w := e.set.Write; w == nil || !w.Update && (e.made == nil || e.made.Change.Kind != write.Create) {
			return at(plan.Errorf(plan.Malformed, -1, "the entities of %s cannot be changed", e.set.Name), path)
		}
	}
	w := &Writing{Change: &write.Change{Kind: kind, Set: own.set, Nav: nav, Key: own.key, Other: other.key}, Reference: nameOr(path, nav)}
	if own.key == nil {
		w.key = own.needed()
	}
	if other.key == nil {
		w.other = other.needed()
	}
	for _, of := range []struct {
		set *edm.EntitySet
		to  **write.Check
	}{{own.set, &w.Change.Before}, {other.set, &w.Change.After}} {
		r := &Resource{Kind: OfEntity, Set: of.set, binder: s.main.binder, opts: s.main.opts, query: &syntax.Query{}}
		check, err := r.change(kind, nil, WriteOptions{Minimal: true}).check(&syntax.Query{}, false, &Checks{})
		if err != nil {
			return err
		}
		*of.to = check
	}
	s.out.Steps = append(s.out.Steps, w)
	return nil
}

// at names the place in the body that a fault is about.
func at(err error, path string) error {
	if path == "" {
		return err
	}
	return &PlaceError{Path: path, Err: err}
}

// PlaceError is a fault of a navigation property in a body.
type PlaceError struct {
	Path string
	Err  error
}

// Error is that of the fault.
func (e *PlaceError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *PlaceError) Unwrap() error { return e.Err }
