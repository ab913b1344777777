package bind

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// end is a row at the end of a link.
type end struct {
	set *edm.EntitySet
	// key holds the values of the key where they are known.
	key []plan.Value
	// made is an earlier change of the request whose row it is, find reads the row. One of them is set.
	made *Writing
	find *plan.Plan
}

// take is a value of a change that only the transaction knows: of an earlier change, or of a row that a plan reads.
type take struct {
	// at is the index in Change.Values.
	at     int
	made   *write.Change
	find   *plan.Plan
	column int
	// same reports that the client has given the value, too: it must be the same. name is that of the navigation property.
	same bool
	name string
}

// endOf returns the row that a resource names.
func endOf(r *Resource) *end { return &end{set: r.Set, key: r.Key, made: r.Row, find: r.Find} }

// endMade returns the row of an earlier change of the request.
func endMade(w *Writing) *end { return &end{set: w.Change.Set, key: w.Change.Key, made: w} }

// needed notes that a change needs the row. It returns the end.
func (e *end) needed() *end {
	if e.made != nil {
		e.made.needed = true
	}
	return e
}

// value returns what a property at the end of a link has; false where it has to be read, or comes from an earlier change.
func (e *end) value(path []*edm.Property) (plan.Value, bool) {
	if i := slices.Index(e.set.Type.Key, path[0]); i >= 0 && len(path) == 1 && e.key != nil {
		return e.key[i], true
	}
	if e.made == nil {
		return plan.Value{}, false
	}
	for i := range e.made.Change.Values {
		a := &e.made.Change.Values[i]
		if slices.Equal(a.Path, path) && e.made.known(i) {
			return a.Value, true
		}
	}
	return plan.Value{}, false
}

// named returns the values by which a foreign key names the row, as far as they are known.
func (e *end) named(pairs []edm.Pair) []write.Assignment {
	var out []write.Assignment
	for _, p := range pairs {
		if p.Own == nil || p.Other == nil {
			continue
		}
		if v, known := e.value(p.Other); known {
			a := write.Assignment{Path: p.Own}
			if put(&a, p.Other[len(p.Other)-1].Type, v) {
				out = append(out, a)
			}
		}
	}
	return out
}

// known reports whether a value of the change is there before the transaction.
func (w *Writing) known(at int) bool {
	return w.Change.Values[at].Of == nil && !slices.ContainsFunc(w.takes, func(t take) bool { return t.at == at && !t.same })
}

// Known returns those values of the change that are there before the transaction, and others that have Of.
func (w *Writing) Known() []write.Assignment {
	if w.takes == nil {
		return w.Change.Values
	}
	var out []write.Assignment
	for i, a := range w.Change.Values {
		if w.known(i) {
			out = append(out, a)
		}
	}
	return out
}

// known reports whether the value at a path is there before the transaction.
func (c *change) known(path []*edm.Property) bool {
	i := slices.IndexFunc(c.out.Change.Values, func(a write.Assignment) bool { return slices.Equal(a.Path, path) })
	return c.out.known(i)
}

// link gives the foreign key that the change holds the values of the row at the other end. at is the path in the body; empty
// where the path of the request says it.
func (c *change) link(nav *edm.Navigation, pairs []edm.Pair, to *end, at string) error {
	linked := false
	for _, p := range pairs {
		if p.Own == nil || p.Other == nil || !c.writes(p.Own) {
			continue
		}
		linked = true
		if err := c.takeOver(p, to, nav.Name); err != nil {
			return err
		}
	}
	if !linked {
		return plan.Errorf(plan.Malformed, -1, "%s: this link cannot be written", nav.Name)
	}
	if at != "" {
		if c.out.Bound == nil {
			c.out.Bound = map[*edm.Navigation]string{}
		}
		c.out.Bound[nav] = at
	}
	return nil
}

func nameOr(at string, nav *edm.Navigation) string {
	if at == "" {
		return nav.Name
	}
	return at
}

// writes reports whether a link may give the property at a path a value.
func (c *change) writes(path []*edm.Property) bool {
	access := c.Set.Access(path...)
	return access == edm.Free || access == edm.Immutable && c.out.Change.Kind == write.Create
}

// takeOver gives a property of a foreign key its value.
func (c *change) takeOver(p edm.Pair, to *end, name string) error {
	typ := p.Own[len(p.Own)-1].Type
	a := write.Assignment{Path: p.Own}
	c.out.linked = append(c.out.linked, p.Own)
	v, known := to.value(p.Other)
	if known {
		l, ok := convert(&plan.Literal{T: p.Other[len(p.Other)-1].Type, Value: v}, typ)
		if !ok || l.Value.Null {
			return plan.Errorf(plan.Malformed, -1, "%s: no such entity can be linked", name)
		}
		a.Value = l.Value
	}
	values := &c.out.Change.Values
	at := slices.IndexFunc(*values, func(a write.Assignment) bool { return slices.Equal(a.Path, p.Own) })
	given := at >= 0
	if given && known && c.out.known(at) {
		if !plan.Same(&plan.Literal{T: typ, Value: (*values)[at].Value}, &plan.Literal{T: typ, Value: a.Value}) {
			return contradicted(name)
		}
		return nil
	}
	if given && !c.out.known(at) {
		return contradicted(name) // two links, and neither is known
	}
	if !given {
		at = len(*values)
	}
	switch {
	case known:
	case to.needed().made != nil && !given:
		a.Of, a.Column = to.made.Change, leafColumn(to.made.Change.After.Plan.Top, p.Other)
	case to.made != nil:
		column := leafColumn(to.made.Change.After.Plan.Top, p.Other)
		c.out.takes = append(c.out.takes, take{at: at, made: to.made.Change, column: column, same: true, name: name})
	default:
		c.out.takes = append(c.out.takes, take{at: at, find: to.find, column: leafColumn(to.find.Top, p.Other), same: given, name: name})
	}
	if !given {
		*values = append(*values, a)
		c.given = *values // those of the service come later
	}
	return nil
}

// unlink makes a foreign key null, as far as it can be.
func (c *change) unlink(nav *edm.Navigation, pairs []edm.Pair) error {
	nulls := 0
	for _, p := range pairs {
		if p.Own == nil || !c.writes(p.Own) || !p.Own[len(p.Own)-1].Nullable {
			continue
		}
		nulls++
		c.out.linked = append(c.out.linked, p.Own)
		if before := c.value(p.Own); before != nil {
			if !before.Null {
				return contradicted(nav.Name)
			}
			continue
		}
		a := write.Assignment{Path: p.Own, Value: plan.Value{Null: true}}
		c.out.Change.Values = append(c.out.Change.Values, a)
		c.given = c.out.Change.Values
	}
	if nulls == 0 {
		c.out.Unlinked = append(c.out.Unlinked, nav)
	}
	return nil
}

// contradicted is the fault of a value that contradicts a link.
func contradicted(name string) error {
	return plan.Errorf(plan.Malformed, -1, "%s: a value of the body contradicts this link", name)
}

// Needed reports whether a later change needs the row of this one.
func (w *Writing) Needed() bool { return w.needed }

// Alike reports whether both changes create rows of one shape, whose order counts for nothing but the numbers that the source gives them:
// no change needs their rows, and they need none that has to be read.
func (w *Writing) Alike(other *Writing) bool {
	alone := func(w *Writing) bool { return w.Change.Kind == write.Create && !w.needed && w.takes == nil }
	return w.Change.After == other.Change.After && alone(w) && alone(other)
}

// Known gives a change the values that only the transaction knows.
type Known interface {
	// Made returns the row of After.Plan of an earlier change, nil before that is made; Found the one that a plan reads, nil where there is none.
	Made(c *write.Change) []plan.Value
	Found(p *plan.Plan) ([]plan.Value, error)
}

// Of returns the earlier change whose row this one changes, while the key is not known; nil for none.
func (w *Writing) Of() *write.Change {
	if w.key == nil || w.key.made == nil {
		return nil
	}
	return w.key.made.Change
}

// Ready returns the change with all that was not known when it was bound; nil where a row that it refers to is not there. A value
// of an earlier change is put into the change itself; where that one is not made yet, it stays as it was, and a key of its row is nil.
func (w *Writing) Ready(in Known) (*write.Change, error) {
	if !w.waits() {
		return w.Change, nil
	}
	for i := range w.Change.Values {
		if a := &w.Change.Values[i]; a.Of != nil {
			from, row := a.Of.After.Plan.Top.Columns[a.Column].T, in.Made(a.Of)
			if row == nil {
				continue
			}
			if !put(a, from, row[a.Column]) {
				return nil, nil //nolint:nilnil // a dead link
			}
		}
	}
	if w.takes == nil && w.key == nil && w.other == nil {
		return w.Change, nil
	}
	out := *w.Change
	out.Values = slices.Clone(out.Values)
	for _, t := range w.takes {
		if there, err := t.into(&out.Values[t.at], in); err != nil || !there {
			return nil, err
		}
	}
	for _, of := range []struct {
		end *end
		key *[]plan.Value
	}{{w.key, &out.Key}, {w.other, &out.Other}} {
		if of.end == nil || of.end.key == nil && of.end.made != nil && in.Made(of.end.made.Change) == nil {
			continue
		}
		var err error
		if *of.key, err = of.end.keyIn(in); err != nil || *of.key == nil {
			return nil, err
		}
	}
	return &out, nil
}

// into gives an assignment the value, or compares it with that; false where the row is not there.
func (t *take) into(a *write.Assignment, in Known) (bool, error) {
	read := write.Assignment{Path: a.Path}
	switch {
	case t.made != nil:
		row := in.Made(t.made)
		if row == nil {
			return true, nil
		}
		if !put(&read, t.made.After.Plan.Top.Columns[t.column].T, row[t.column]) {
			return false, nil
		}
	default:
		row, err := in.Found(t.find)
		if err != nil || row == nil || !put(&read, t.find.Top.Columns[t.column].T, row[t.column]) {
			return false, err
		}
	}
	if t.same && !plan.Same(&plan.Literal{T: a.Type(), Value: a.Value}, &plan.Literal{T: a.Type(), Value: read.Value}) {
		return false, contradicted(t.name)
	}
	a.Value = read.Value
	return true, nil
}

// Released returns the plan that finds the row of a change that unlinks the one that is linked, if there is one; nil for other
// changes.
func (w *Writing) Released() *plan.Plan {
	if w.released == nil {
		return nil
	}
	return w.released.Find
}

// Replaced reports whether the next change links another row in the place of the one that is released.
func (w *Writing) Replaced() bool { return w.next != nil }

// Idle reports whether there is nothing to release: no row is linked, or the one that is to be linked.
func (w *Writing) Idle(in Known) (bool, error) {
	if w.released == nil {
		return false, nil
	}
	key, err := w.Key(in)
	if key == nil || err != nil || w.next == nil {
		return key == nil, err
	}
	if w.next.key == nil && w.next.made != nil && in.Made(w.next.made.Change) == nil {
		return false, nil // a new row is not linked
	}
	next, err := w.next.keyIn(in)
	for i, p := range w.Change.Set.Type.Key {
		if next == nil || !plan.Same(&plan.Literal{T: p.Type, Value: key[i]}, &plan.Literal{T: p.Type, Value: next[i]}) {
			return false, err
		}
	}
	return true, err
}

// Key returns the key of the row that is changed; nil where there is none, or a change before makes it.
func (w *Writing) Key(in Known) ([]plan.Value, error) {
	if w.key == nil {
		return w.Change.Key, nil
	}
	return w.key.keyIn(in)
}

func (w *Writing) waits() bool {
	return w.takes != nil || w.key != nil || w.other != nil || slices.ContainsFunc(w.Change.Values, func(a write.Assignment) bool { return a.Of != nil })
}

// keyIn returns the key of the row; nil where there is none.
func (e *end) keyIn(in Known) ([]plan.Value, error) {
	switch {
	case e.key != nil:
		return e.key, nil
	case e.made != nil:
		return e.made.Change.After.Plan.Top.KeyOf(in.Made(e.made.Change)), nil
	}
	row, err := in.Found(e.find)
	if row == nil || err != nil {
		return nil, err
	}
	return e.find.Top.KeyOf(row), nil
}

// put converts a value to the type of an assignment; false for null, and for one that the type does not have.
func put(a *write.Assignment, from edm.Type, v plan.Value) bool {
	if v.Null {
		return false
	}
	if to := a.Type(); !from.Same(to) {
		l, ok := convert(&plan.Literal{T: from, Value: v}, to)
		if !ok {
			return false
		}
		v = l.Value
	}
	a.Value = v
	a.Value.Bytes = slices.Clone(v.Bytes)
	return true
}
