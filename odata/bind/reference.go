package bind

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Refer binds a link from the entity before $ref to another one: Own and Nav of the resource say of what. The fault is a
// *plan.Error.
func (r *Resource) Refer(to *Resource, o WriteOptions) (*Sequence, error) {
	s := &sequence{main: r, out: &Sequence{}, amended: o.Amended}
	switch {
	case r.Nav.Through:
		return s.out, s.between(write.Link, r.Nav, endOf(r.Own), endOf(to), "")
	case r.Nav.Inverse:
		if r.Own.Row == nil { // the row that an earlier request makes is not there to look at: the transaction releases
			if err := s.release(r.Nav, r.Own, r, to, ""); err != nil {
				return nil, err
			}
		}
		return s.out, s.hold(r.Nav, endOf(r.Own), to, o.Match, "")
	case r.Nav.Collection:
		return s.out, s.hold(r.Nav, endOf(r.Own), to, o.Match, "")
	}
	c := r.Own.change(write.Update, o.amended("", nil), WriteOptions{Minimal: true, Match: o.Match})
	if err := c.link(r.Nav, r.Nav.Pairs, endOf(to), r.Nav.Name); err != nil {
		return nil, err
	}
	return s.held(c)
}

// Unlink binds the removal of a link to an entity that is linked: of is the resource of that one, see Member.
func (r *Resource) Unlink(of *Resource, o WriteOptions) (*Sequence, error) {
	s := &sequence{main: r, out: &Sequence{}, amended: o.Amended}
	switch {
	case r.Nav.Through:
		return s.out, s.between(write.Unlink, r.Nav, endOf(r.Own), endOf(of), "")
	case r.Nav.HeldByTarget():
		return s.out, s.letGo(r.Nav, r.Own, of, o.Match, "")
	}
	c := r.Own.change(write.Update, o.amended("", nil), WriteOptions{Minimal: true, Match: o.Match})
	if err := c.unlink(r.Nav, r.Nav.Pairs); err != nil {
		return nil, err
	}
	return s.held(c)
}

// held ends the change of an own foreign key.
func (s *sequence) held(c *change) (*Sequence, error) {
	if c.Key == nil {
		c.out.key = endOf(c.Resource)
	}
	w, err := c.update()
	s.out.Steps = append(s.out.Steps, w)
	return s.out, err
}

// Member returns the resource of an entity of the collection, which its Find finds only where it is linked. Below Own.Row it has no Find.
func (r *Resource) Member(key []plan.Value) (*Resource, error) {
	if r.Own.Row != nil {
		return &Resource{Kind: OfEntity, Set: r.Set, Key: key, binder: r.binder, opts: r.opts, query: &syntax.Query{}}, nil
	}
	return r.related(r.Own, r.Nav, key)
}

// related returns the resource of an entity that is linked to an entity of the path. Without a key it is the entity that a navigation
// property to one names.
func (r *Resource) related(of *Resource, nav *edm.Navigation, key []plan.Value) (*Resource, error) {
	b := newBinding(r.binder, r.opts)
	own := *of.Find.Top.Query
	b.ranges = r.ranges // those of the path are taken
	in, err := b.enter(nav.Target)
	if err != nil {
		return nil, err
	}
	in.Nav, in.Outer = nav, own.Range
	q := b.query(in)
	q.From = &own
	for i := range key {
		ref := in.KeyRef(i)
		q.Key = plan.Join("and", q.Key, plan.Equal(ref, &plan.Literal{T: ref.T, Value: key[i]}))
	}
	out := b.entity(q, r.opts)
	out.Key = key
	return out, nil
}
