package memory

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// transaction changes a copy of the state, which Commit makes that of the source.
type transaction struct {
	ctx    context.Context
	source *Source
	// state is that of the source with the changes so far; nil at the end.
	state   *state
	changed bool
	// id and kept are the request that Commit remembers; id is empty for none.
	id   string
	kept remembered
}

// errEnded is the fault of a call behind the end of a transaction.
var errEnded = errors.New("the transaction has ended")

// Fits is nil: rows of Go values hold every value of their types. See odata.Writable.
func (s *Source) Fits(*write.Change, []write.Assignment) error { return nil }

// Begin waits for its turn and starts a transaction: one at a time writes. Close it always. See odata.Writable.
func (s *Source) Begin(ctx context.Context) (write.Transaction, error) {
	select {
	case <-s.turn:
		return &transaction{ctx: ctx, source: s, state: s.state.Load()}, nil
	case <-ctx.Done():
		return nil, &plan.Error{Kind: plan.Unavailable, Pos: -1, Message: "the request took too long", Cause: context.Cause(ctx)}
	}
}

// Open finds the rows of a plan in the transaction.
func (t *transaction) Open(p *plan.Plan) (plan.Rows, error) {
	r, err := t.open(p)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (t *transaction) open(p *plan.Plan) (*rows, error) {
	if t.state == nil {
		return nil, errEnded
	}
	return t.source.open(t.ctx, t.state, p)
}

// one reads the row that a plan names; nil rows where there is none.
func (t *transaction) one(p *plan.Plan) (*rows, error) {
	r, err := t.open(p)
	if err != nil {
		return nil, err
	}
	if !r.Next() {
		return nil, r.Err()
	}
	return r, nil
}

// read reads the values of the row that a plan names; nil where there is none.
func (t *transaction) read(p *plan.Plan) ([]plan.Value, error) {
	r, err := t.one(p)
	if err != nil || r == nil {
		return nil, err
	}
	return r.Row(), nil
}

// Apply makes the first of some changes. See write.Transaction.
func (t *transaction) Apply(list []*write.Change) (plan.Rows, int, error) {
	if t.state == nil {
		return nil, 0, errEnded
	}
	rows, err := t.apply(list[0])
	return rows, 1, err
}

func (t *transaction) apply(c *write.Change) (plan.Rows, error) {
	if c.Nav != nil {
		return nil, t.link(c)
	}
	why, err := t.judge(c)
	if err != nil || why != nil && (why.Kind != write.InvalidValue || c.Kind == write.Delete) {
		return nil, cmp.Or(err, error(why))
	}
	s := t.source.bySet[c.Set]
	old := t.state.tables[s.at]
	next := &table{cells: old.cells, rows: slices.Clone(old.rows), last: old.last}
	at := len(next.rows)
	if c.Kind != write.Create {
		at = old.index(s.key())[s.keyOf(c.Key)][0] // Judge has seen it
	}
	var written row
	switch c.Kind {
	case write.Create:
		written = s.fresh(next)
		next.rows = append(next.rows, written)
	case write.Update:
		written = slices.Clone(next.rows[at])
		next.rows[at] = written
	case write.Delete:
		next.rows = slices.Delete(next.rows, at, at+1)
		return nil, t.remove(s, old.rows[at], next)
	}
	s.assign(written, c)
	if why == nil {
		why = t.allows(s, next, at)
	}
	if why != nil {
		return nil, t.first(c, s, &table{cells: next.cells, rows: s.without(next.rows, at)}, why)
	}
	t.put(s, next)
	return t.verify(c, s.keyValues(written))
}

// first returns the refusal that comes first of a row that breaks a rule, the last one of a table: RowNotAllowed before the others. It
// names all links of a DeadLink.
func (t *transaction) first(c *write.Change, s *set, next *table, why *write.Refusal) error {
	if s.lacks(c, next.rows[len(next.rows)-1]) {
		return why
	}
	t.put(s, next) // which nobody sees: the transaction ends with the refusal
	_, err := t.verify(c, s.keyValues(next.rows[len(next.rows)-1]))
	verified, ok := errors.AsType[*write.Refusal](err)
	switch {
	case err != nil && !ok:
		return err
	case ok && verified.Kind == write.RowNotAllowed, ok && why.Kind == write.DeadLink:
		return verified
	}
	return why
}

// lacks reports whether a condition of a creation is over a property that needs a value and got none.
func (s *set) lacks(c *write.Change, r row) bool {
	absent := func(path []*edm.Property) bool {
		at := s.place(path)
		given := slices.ContainsFunc(c.Values, func(a write.Assignment) bool { return slices.Equal(a.Path, path) })
		return r[at].Null && !s.cells[at].nullable && !given
	}
	if c.Kind != write.Create || c.After.Condition() == nil {
		return false
	}
	of, found := c.After.Range(), false
	over := func(inner *plan.Range) {
		found = found || inner.Outer == of && slices.ContainsFunc(inner.Nav.KeyPaths(), absent)
	}
	for _, join := range c.After.Plan.Top.Query.Joins {
		over(join)
	}
	plan.WalkInto(func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Ref:
			found = found || e.Range == of && len(e.Path) > 0 && e.T.Kind != edm.Complex && absent(e.Path)
		case *plan.Sub:
			over(e.Query.Range)
		}
		return true
	}, c.After.Condition())
	return found
}

// without returns rows without those that have the key of the row at a place, which is then the last one.
func (s *set) without(rows []row, at int) []row {
	key := s.keyOf(s.keyValues(rows[at]))
	out := make([]row, 0, len(rows))
	for i := range rows {
		if i != at && s.keyOf(s.keyValues(rows[i])) != key {
			out = append(out, rows[i])
		}
	}
	return append(out, rows[at])
}

func (t *transaction) judge(c *write.Change) (*write.Refusal, error) {
	var before []plan.Value
	if c.Kind != write.Create {
		var err error
		if before, err = t.read(c.Before.Plan.At(c.Key)); err != nil {
			return nil, err
		}
	}
	return c.Judge(before), nil
}

func (t *transaction) verify(c *write.Change, key []plan.Value) (plan.Rows, error) {
	r, err := t.one(c.After.Plan.At(key))
	if err != nil {
		return nil, err
	}
	var after []plan.Value
	if r != nil {
		after = r.Row()
	}
	if refusal := c.Verify(after); refusal != nil {
		return nil, refusal
	}
	return r, nil
}

// put makes a table that of the transaction.
func (t *transaction) put(s *set, next *table) {
	t.fork()
	t.state.tables[s.at] = next
}

// fork makes a state of the transaction that nobody else reads.
func (t *transaction) fork() {
	version := t.state.version
	t.state = t.state.next()
	if t.changed {
		t.state.version = version
	}
	t.changed = true
}

// Commit makes the changes those of the source.
func (t *transaction) Commit() error {
	if t.state == nil {
		return errEnded
	}
	if t.changed {
		t.source.state.Store(t.state)
	}
	if t.id != "" {
		t.source.requests[t.id] = t.kept
	}
	return t.Close()
}

// Close drops what was not committed.
func (t *transaction) Close() error {
	if t.state != nil {
		t.state = nil
		t.source.turn <- struct{}{}
	}
	return nil
}

// fresh is a new row of defaults.
func (s *set) fresh(in *table) row {
	r := make(row, len(s.cells))
	for i := range s.cells {
		r[i] = s.cells[i].standard
	}
	if s.auto >= 0 {
		in.last++
		r[s.auto] = plan.Value{Int: in.last}
	}
	return r
}

// assign gives a row the values of a change.
func (s *set) assign(r row, c *write.Change) {
	for _, a := range c.Values {
		a.Value.Bytes = slices.Clone(a.Value.Bytes) // which may be a part of a large body
		r[s.place(a.Path)] = a.Value
	}
	if c.Version == nil {
		return
	}
	v := &r[s.place([]*edm.Property{c.Version})]
	_, greatest := c.Version.Type.Kind.Bounds()
	if v.Null || v.Int == greatest {
		*v = plan.Value{Int: 1}
		return
	}
	v.Int++
}

// place is where a row has the property at the end of a path.
func (s *set) place(path []*edm.Property) int {
	col := s.columns[path[0]]
	for _, p := range path[1:] {
		col = col.members[p]
	}
	return col.at
}

// keyValues are those of a row.
func (s *set) keyValues(r row) []plan.Value {
	var key []plan.Value
	for _, at := range s.key() {
		key = append(key, r[at])
	}
	return key
}

// keyOf is the text of a key in the index.
func (s *set) keyOf(key []plan.Value) string {
	r := make(row, len(s.cells))
	for i, at := range s.key() {
		r[at] = key[i]
	}
	text, _ := keyText(r, s.key(), s.cells)
	return text
}

// allows refuses the row at a place of a table as a database does: values that are missing, keys that another row has, and
// foreign keys that name no row, in this order.
func (t *transaction) allows(s *set, in *table, at int) *write.Refusal {
	r := in.rows[at]
	for i := range s.cells {
		if r[i].Null && !s.cells[i].nullable {
			return &write.Refusal{Kind: write.InvalidValue}
		}
	}
	if len(in.index(s.key())[s.keyOf(s.keyValues(r))]) > 1 {
		return &write.Refusal{Kind: write.Duplicate, Properties: paths(s.edm.Type.Key)}
	}
	for _, place := range s.unique {
		if k, ok := keyText(r, []int{place}, in.cells); ok && len(in.index([]int{place})[k]) > 1 {
			return &write.Refusal{Kind: write.Duplicate, Properties: s.named(place)}
		}
	}
	for _, l := range t.source.links {
		if l.foreign && l.via < 0 && l.from == s && !l.resolves(t.state, in, r) {
			return &write.Refusal{Kind: write.DeadLink}
		}
	}
	return nil
}

// paths are the paths of properties of an entity type itself.
func paths(list []*edm.Property) [][]*edm.Property {
	out := make([][]*edm.Property, len(list))
	for i, p := range list {
		out[i] = []*edm.Property{p}
	}
	return out
}

// named is the path of the visible property at a place; nil for a hidden one.
func (s *set) named(place int) [][]*edm.Property {
	for _, p := range s.edm.Type.Properties {
		if s.columns[p].at == place && p.Type.Kind != edm.Complex {
			return [][]*edm.Property{{p}}
		}
	}
	return nil
}

// resolves reports whether a foreign key names a row, or nothing. own is the table that the row is in.
func (l *link) resolves(in *state, own *table, r row) bool {
	k, ok := keyText(r, l.own, l.from.cells)
	if !ok {
		return true
	}
	to := in.tables[l.to.at]
	if l.to == l.from {
		to = own
	}
	return len(to.index(l.other)[k]) > 0
}

// remove puts a table without a row in its place, unless other rows name the row.
func (t *transaction) remove(s *set, gone row, next *table) error {
	for _, l := range t.source.links {
		if l.foreign && l.via >= 0 && l.holds(t.state, s, gone) {
			return &write.Refusal{Kind: write.Referenced}
		}
		if !l.foreign || l.via >= 0 || l.to != s {
			continue
		}
		from := t.state.tables[l.from.at]
		if l.from == s {
			from = next
		}
		if k, ok := keyText(gone, l.other, s.cells); ok && len(from.index(l.own)[k]) > 0 {
			return &write.Refusal{Kind: write.Referenced}
		}
	}
	t.put(s, next)
	return nil
}
