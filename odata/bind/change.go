package bind

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// WriteOptions are what a change depends on besides the values.
type WriteOptions struct {
	// Minimal leaves everything out of After that only an answer with a body shows.
	Minimal bool
	// Complete demands a value of each property that a client may change: PUT.
	Complete bool
	// Amended are the values that rules have given, by Writing.Place.
	Amended map[string][]write.Assignment
	// Match is the precondition; nil for none.
	Match *write.Match
	// Checks returns the checks of a shape, and calls bound for those that nobody has kept; nil calls it always. A shape names all
	// that checks depend on besides the query options, the caller and the time.
	Checks func(shape string, bound func() (*Checks, error)) (*Checks, error)
	// inner leaves the columns of the entity tag out of After: no answer shows the one of the row.
	inner bool
	// of shares the checks of entities of the body; nil where other changes may need columns of theirs.
	of *sequence
	// memory is that of a change which nobody uses behind its Writing; nil for one of its own.
	memory *change
	// whole makes columns in After of all properties of the type, for an answer that is made of the rows that were written.
	whole bool
}

// Checks are the parts of a change that it shares with the other changes of its shape. They are never changed.
type Checks struct {
	before, after, rules *write.Check
	links                []*edm.Navigation
	// absent is Writing.Absent, which depends on the shape alone.
	absent   [][]*edm.Property
	prepared *[2]atomic.Value
}

// Keep lets a source keep what it prepares. It reports whether the checks are the same for every caller with the same
// guards, and at any time.
func (c *Checks) Keep() bool {
	for _, check := range []*write.Check{c.before, c.after, c.rules} {
		if check != nil && (check.Plan.Volatile || check.Plan.PerCaller) {
			return false
		}
	}
	c.prepared = &[2]atomic.Value{}
	return true
}

// Writing is a change with what is wrong about its values.
type Writing struct {
	Change *write.Change
	// Null are the paths of properties that were given null, Absent those that a creation leaves out, where neither is allowed.
	Null, Absent [][]*edm.Property
	// LeftOut are the paths that a change misses that has to be complete.
	LeftOut [][]*edm.Property
	// Unlinked are the navigation properties that the change would have to make null, and cannot.
	Unlinked []*edm.Navigation
	// Path is the place of the entity in the body, such as "Items/0/"; empty for the outermost one.
	Path string
	// Place names the change among those of the request.
	Place string
	// Rules reads the row for the rules of its set; nil for a set without rules.
	Rules *write.Check
	// Bound holds, for the navigation properties that a link was made of, their paths in the body.
	Bound map[*edm.Navigation]string
	// Reference is the path in the body of the address that names the row; empty where none does.
	Reference string

	// linked are the paths that links give values.
	linked [][]*edm.Property
	// takes are the values that have to be read; key and other, where they are not nil, name the rows of the change.
	takes      []take
	key, other *end
	// needed reports that a later change needs the row.
	needed bool
	// released is the row where the change only unlinks the one that is linked, if there is one. next is the row that the next
	// change links in its place; nil for none.
	released *Resource
	next     *end
}

// Gives reports whether the service, and not the client, gives the value at a path.
func (w *Writing) Gives(path []*edm.Property) bool {
	return w.Change.Set.Access(path...) == edm.Computed
}

// change is a Writing in the making.
type change struct {
	*Resource
	o   WriteOptions
	out *Writing
	// given are the values that count of what the client has sent. held are those that the row must have, of a link that is removed.
	given, held []write.Assignment
}

// create adds the values of the service to a creation, and finishes it.
func (c *change) create() (*Writing, error) {
	w := c.Set.Write
	c.assign(w.Set)
	c.assign(w.Touch)
	if w.Version != nil {
		c.out.Change.Values = append(c.out.Change.Values, write.Assignment{Path: []*edm.Property{w.Version}, Value: plan.Value{Int: 1}})
	}
	return c.finish()
}

// absent returns the paths of what a creation leaves out and may not.
func (c *change) absent() (out [][]*edm.Property) {
	c.each(c.Set.Type.Properties, nil, func(path []*edm.Property, p *edm.Property) {
		if !p.Nullable && !p.Defaulted && c.Set.Access(path...) != edm.Computed && c.value(path) == nil {
			out = append(out, slices.Clone(path))
		}
	})
	return out
}

// update adds the values of the service to a change, and finishes it.
func (c *change) update() (*Writing, error) {
	r, o := c.Resource, c.o
	c.assign(r.Set.Write.Touch)
	c.out.Change.Version = r.Set.Write.Version
	if o.Complete {
		from, path := r.Set.Type.Properties, r.Props
		if len(path) > 0 {
			from = []*edm.Property{path[len(path)-1]}
			path = path[:len(path)-1]
		}
		c.each(from, path, func(path []*edm.Property, _ *edm.Property) {
			if r.Set.Access(path...) == edm.Free && c.value(path) == nil {
				c.out.LeftOut = append(c.out.LeftOut, slices.Clone(path))
			}
		})
	}
	return c.finish()
}

// change begins a change with those values of the client that it may set. It may append to them.
func (r *Resource) change(kind write.ChangeKind, values []write.Assignment, o WriteOptions) *change {
	all := &struct {
		w  Writing
		ch write.Change
	}{ch: write.Change{Kind: kind, Set: r.Set, Key: r.Key, Match: o.Match}}
	c := o.memory
	if c == nil {
		c = &change{}
	}
	*c = change{Resource: r, o: o, out: &all.w}
	all.w.Change = &all.ch
	if r.Row != nil && kind != write.Create {
		c.out.key = endOf(r)
	}
	ignored := func(v write.Assignment) bool {
		a := r.Set.Access(v.Path...)
		return a == edm.Computed || a == edm.Immutable && kind != write.Create
	}
	if c.given = values; slices.ContainsFunc(values, ignored) {
		c.given = slices.DeleteFunc(slices.Clone(values), ignored)
	}
	for _, v := range c.given {
		if v.Value.Null && !v.Path[len(v.Path)-1].Nullable {
			c.out.Null = append(c.out.Null, v.Path)
		}
	}
	c.out.Change.Values = c.given // those of the service go behind them
	return c
}

// value returns what the change gives the property at a path; nil for nothing.
func (c *change) value(path []*edm.Property) *plan.Value {
	for i := range c.out.Change.Values {
		if a := &c.out.Change.Values[i]; slices.Equal(a.Path, path) {
			return &a.Value
		}
	}
	return nil
}

// each visits the primitive properties among those at a path, those of complex ones included. The path is visit's until it
// returns.
func (c *change) each(list []*edm.Property, at []*edm.Property, visit func(path []*edm.Property, p *edm.Property)) {
	path := append(slices.Clone(at), nil)
	for _, p := range list {
		path[len(at)] = p
		if p.Type.Kind == edm.Complex {
			c.each(p.Type.Complex.Properties, path, visit)
		} else if p.Type.Kind != edm.Stream {
			visit(path, p)
		}
	}
}

// assign adds the values that the service writes. Where one has to be there and the caller has none that fits, no row is theirs.
func (c *change) assign(list []edm.Given) {
	for _, g := range list {
		if c.value(g.Path) != nil {
			continue
		}
		p := g.Path[len(g.Path)-1]
		v, ok := givenValue(newBinding(c.binder, c.opts), g.Value, p.Type)
		if !ok || v.Null && !p.Nullable || scalar.Misfit(v.Bytes, &p.Type) != "" {
			c.out.Change.Refused = true
			continue
		}
		c.out.Change.Values = append(c.out.Change.Values, write.Assignment{Path: g.Path, Value: v})
	}
}

// givenValue returns the value of edm.Given.Value; false where the type cannot have it. b is nil for nobody and no
// time.
func givenValue(b *binding, text string, t edm.Type) (plan.Value, bool) {
	switch column, isColumn := strings.CutPrefix(text, userPrefix); {
	case isColumn:
		if b.Caller.Column(column) == nil {
			return plan.Value{Null: true}, true
		}
		e, err := b.user(&syntax.Path{Root: text})
		if err != nil {
			return plan.Value{}, false
		}
		l, ok := convert(e.(*plan.Literal), t)
		if !ok {
			return plan.Value{}, false
		}
		return l.Value, true
	case text == "@now" && b == nil:
		return momentOf(time.Time{}, t)
	case text == "@now":
		return momentOf(b.Now, t)
	case t.Kind == edm.String:
		return plan.Value{Bytes: []byte(text)}, true
	case t.Kind == edm.Enum:
		n, ok := t.Enum.Parse(text)
		return plan.Value{Int: n}, ok
	}
	read, ok := scalar.FromText(t.Kind, []byte(text))
	return plan.Value{Int: read.Int, Float: read.Float, Bytes: []byte(read.Text)}, ok
}

// tryGiven checks a value that the service writes, as far as it does not depend on a user.
func tryGiven(g edm.Given) error {
	p := g.Path[len(g.Path)-1]
	if strings.HasPrefix(g.Value, userPrefix) {
		return nil
	}
	v, ok := givenValue(nil, g.Value, p.Type)
	if !ok {
		return plan.Errorf(plan.Malformed, -1, "the value %.80q of %q is no %s", g.Value, p.Name, p.Type)
	}
	if what := scalar.Misfit(v.Bytes, &p.Type); what != "" {
		return plan.Errorf(plan.Malformed, -1, "the value %.80q of %q %s", g.Value, p.Name, what)
	}
	return nil
}

// momentOf returns a moment as a value of a type, cut to the digits that the type has; false for types that have no moments.
func momentOf(now time.Time, t edm.Type) (plan.Value, bool) {
	unit := time.Second
	for range min(t.Precision, 6) {
		unit /= 10
	}
	now = now.UTC().Truncate(unit)
	switch t.Kind {
	case edm.DateTimeOffset:
		return plan.Value{Bytes: []byte(formatTime(now))}, true
	case edm.Date:
		return plan.Value{Bytes: []byte(now.Format(time.DateOnly))}, true
	case edm.TimeOfDay:
		return plan.Value{Bytes: []byte(now.Format("15:04:05.999999999"))}, true
	}
	return plan.Value{}, false
}

// finish adds the checks, and what is certain before any row is read.
func (c *change) finish() (*Writing, error) {
	ch := c.out.Change
	var checks *Checks
	var err error
	switch {
	case c.o.of != nil:
		checks, err = c.o.of.checks(c)
	case c.o.Checks != nil:
		checks, err = c.o.Checks(string(c.appendShape(make([]byte, 0, 256))), c.checks)
	default:
		checks, err = c.checks()
	}
	if err != nil {
		return nil, err
	}
	c.out.Rules, c.out.Absent = checks.rules, checks.absent
	ch.Invalid = len(c.out.Null)+len(c.out.Absent)+len(c.out.Unlinked) > 0
	ch.Before, ch.After, ch.Links, ch.Prepared = checks.before, checks.after, checks.links, checks.prepared
	if ch.After != nil {
		if condition := ch.After.Condition(); condition != nil {
			ch.Refused = ch.Refused || c.never(condition, ch.After.Range())
		}
	}
	return c.out, nil
}

// appendShape appends a name for what checks depend on; see WriteOptions.Checks.
func (c *change) appendShape(b []byte) []byte {
	b = append(append(b, '#', '0'+byte(c.out.Change.Kind), '0'+byte(c.Kind)), c.Set.Name...)
	if c.o.Minimal {
		b = append(b, " minimal"...)
	}
	if c.o.inner {
		b = append(b, " inner"...)
	}
	if c.o.whole {
		b = append(b, " whole"...)
	}
	if c.tagged() {
		b = append(b, " tagged"...)
	}
	add := func(path []*edm.Property) {
		for _, p := range path {
			b = append(append(b, '/'), p.Name...)
		}
	}
	add(c.Props)
	for i := range c.out.Change.Values {
		v := &c.out.Change.Values[i]
		b = append(b, ' ')
		if v.Value.Null {
			b = append(b, '-')
		}
		add(v.Path)
	}
	return b
}

// checks binds the checks of a change.
func (c *change) checks() (*Checks, error) {
	out := &Checks{}
	if c.out.Change.Kind == write.Create {
		out.absent = c.absent()
	}
	var err error
	if out.rules, err = c.rulesCheck(); err != nil {
		return nil, err
	}
	if c.out.Change.Kind != write.Create {
		if out.before, err = c.check(&syntax.Query{}, false, out); err != nil {
			return nil, err
		}
	}
	if c.out.Change.Kind == write.Delete {
		return out, newBinding(c.binder, c.opts).only(c.query)
	}
	out.after, err = c.check(c.query, !c.o.Minimal, out)
	return out, err
}

// tagged reports whether the precondition asks for the entity tag of the row before the change. That of rules, which have seen the
// row, always does.
func (c *change) tagged() bool {
	return c.o.Match != nil && !c.o.Match.Any || c.Set.Write.Validator != ""
}

// node begins the plan that reads the row of a change.
func (c *change) node(q *syntax.Query, shown bool) (*binding, *plan.Node, error) {
	b := newBinding(c.binder, c.opts)
	b.options = q.Options
	r, err := b.enter(c.Set)
	if err != nil {
		return nil, nil, err
	}
	n := &plan.Node{Set: c.Set, Query: b.query(r), Ref: !shown}
	b.plan.Kind, b.plan.Top = plan.Entity, n
	return b, n, c.show(b, n, q, shown)
}

// check makes the plan that reads the row before or after a change, with the conditions of the change as columns.
func (c *change) check(q *syntax.Query, shown bool, of *Checks) (*write.Check, error) {
	b, n, err := c.node(q, shown)
	if err != nil {
		return nil, err
	}
	r := n.Query.Range
	if q == c.query && !c.o.inner || c.tagged() { // nobody asks for the tag before otherwise
		tagColumns(n)
	}
	if q == c.query && c.o.whole {
		tagColumns(n)
		c.each(c.Set.Type.Properties, nil, func(path []*edm.Property, _ *edm.Property) { leafColumn(n, slices.Clone(path)) })
	}
	out := &write.Check{Plan: b.plan, Filter: -1}
	if filter := c.Set.Write.Filter; filter != "" {
		out.Filter = condition(n, b.holds(r, c.binder.filters[c.Set]))
	}
	if q != c.query {
		for _, h := range c.held {
			out.Held = append(out.Held, condition(n, plan.Equal(r.Leaf(h.Path), &plan.Literal{T: h.Type(), Value: h.Value})))
		}
	}
	if q == c.query {
		for _, nav := range c.links() {
			of.links = append(of.links, nav)
			out.Links = append(out.Links, condition(n, c.linked(b, r, nav)))
		}
	}
	return out, nil
}

// show binds what the answer shows: the entity, the property that the path names, or nothing.
func (c *change) show(b *binding, n *plan.Node, q *syntax.Query, shown bool) error {
	if q == c.query {
		allowed := []string{"$format", "$schemaversion"}
		if c.Kind != OfValue {
			allowed = append(allowed, "$select", "$expand")
		}
		if err := b.only(q, allowed...); err != nil {
			return err
		}
	}
	switch {
	case !shown:
		n.Page = single()
		keyColumns(n)
		return nil
	case c.Kind == OfProperty || c.Kind == OfValue:
		b.plan.Kind = plan.Property
		if c.Kind == OfValue {
			b.plan.Kind = plan.RawValue
		}
		return b.property(n, c.Props, q)
	}
	return b.node(n, q, 0)
}

// condition adds a column of a condition and returns its index.
func condition(n *plan.Node, e plan.Expr) int {
	n.Columns = append(n.Columns, plan.Column{Expr: e, T: edm.Of(edm.Boolean)})
	return len(n.Columns) - 1
}

// tagColumns makes columns of what the entity tags of a node are made of, if its entities have any. Rows that $apply has
// computed have none.
func tagColumns(n *plan.Node) {
	w := n.Set.Write
	if w == nil || n.Query.Range.Derived != nil || n.Tag != nil {
		return
	}
	if w.Version != nil {
		n.Tag, n.Versioned = []int{column(n, n.Query.Range.Leaf([]*edm.Property{w.Version}))}, true
		return
	}
	var add func(list, at []*edm.Property)
	add = func(list, at []*edm.Property) {
		for _, p := range list {
			path := append(slices.Clone(at), p)
			switch p.Type.Kind {
			case edm.Complex:
				add(p.Type.Complex.Properties, path)
			case edm.Stream:
			default:
				n.Tag = append(n.Tag, column(n, n.Query.Range.Leaf(path)))
			}
		}
	}
	add(n.Set.Type.Properties, nil)
}
