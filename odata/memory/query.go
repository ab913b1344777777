package memory

import (
	"context"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// env is where expressions are computed: the rows that the ranges of a request stand on.
type env struct {
	ctx   context.Context
	state *state
	// rows are by the number of their range; nil for a row that is missing.
	rows []row
	// turns counts, by the number of the range, how often it was put on a row.
	turns []int
	// slots hold what was computed for such a row.
	slots []slot
	steps int
	err   error
	// derived holds the rows of those that were computed.
	derived map[*derived][]row
}

// slot is a value that was computed in a turn of a range; the first turn is 1.
type slot struct {
	turn  int
	value plan.Value
}

func (e *env) put(id int, r row) {
	e.rows[id] = r
	e.turns[id]++
}

// lookEvery is how many rows are looked at between two looks at the context.
const lookEvery = 1000

// stopped tells whether the request has ended.
func (e *env) stopped() bool {
	if e.steps++; e.err == nil && e.steps%lookEvery == 0 && e.ctx.Err() != nil {
		e.err = &plan.Error{Kind: plan.Unavailable, Pos: -1, Message: "the request took too long", Cause: context.Cause(e.ctx)}
	}
	return e.err != nil
}

// query is a plan.Query that is ready to run.
type query struct {
	id  int
	set *set
	// derived is where the rows come from when they are not those of the set.
	derived *derived
	link    *link
	// outer is the range that the rows are linked from, by the row of from when that is not nil.
	outer int
	from  *query
	joins []join
	// direct finds the rows by their key; nil where there is none.
	direct *direct
	conds  []value
}

// join is a to-one navigation: the row it leads to, or none.
type join struct {
	id, outer int
	link      *link
	policy    value
}

// direct is a key whose values are constants.
type direct struct {
	at   []int
	text string
}

func (c *compiler) query(q *plan.Query) *query {
	r := q.Range
	out := &query{id: r.ID, set: c.source.bySet[r.Set]}
	c.ranges = max(c.ranges, r.ID+1)
	if r.Derived != nil {
		out.derived = c.derived(r)
		if q.From != nil {
			out.from = c.query(q.From)
		}
	}
	for _, x := range q.Computed {
		c.home[x] = r.ID
	}
	if r.Nav != nil {
		out.link, out.outer = c.source.links[r.Nav], r.Outer.ID
		if q.From != nil {
			out.from = c.query(q.From)
		}
	}
	for _, j := range q.Joins {
		c.ranges = max(c.ranges, j.ID+1)
		made := join{id: j.ID, outer: j.Outer.ID, link: c.source.links[j.Nav]}
		if j.Policy != nil {
			made.policy = c.expr(j.Policy)
		}
		out.joins = append(out.joins, made)
	}
	if q.Key != nil && r.Nav == nil {
		out.direct = out.byKey(q.Key)
	}
	for _, cond := range []plan.Expr{q.Key, r.Policy, q.Filter} {
		if cond != nil {
			out.conds = append(out.conds, c.expr(cond))
		}
	}
	if q.Search != nil {
		out.conds = append(out.conds, search(q.Range.ID, out.set.search, q.Search))
	}
	return out
}

// byKey finds the constants that the key is compared with.
func (q *query) byKey(e plan.Expr) *direct {
	d := &direct{}
	values := make(row, len(q.set.cells))
	if !q.pairs(e, d, values) {
		return nil
	}
	text, ok := keyText(values, d.at, q.set.cells)
	d.text = text
	if !ok {
		return nil
	}
	return d
}

func (q *query) pairs(e plan.Expr, d *direct, values row) bool {
	call, ok := e.(*plan.Call)
	if !ok || len(call.Args) != 2 {
		return false
	}
	if call.Name == "and" {
		return q.pairs(call.Args[0], d, values) && q.pairs(call.Args[1], d, values)
	}
	ref, isRef := call.Args[0].(*plan.Ref)
	lit, isLit := call.Args[1].(*plan.Literal)
	if call.Name != "eq" || !isRef || !isLit || len(ref.Path) != 1 || ref.Range.ID != q.id || lit.T.Kind != ref.T.Kind {
		return false
	}
	at := q.set.columns[ref.Path[0]].at
	d.at, values[at] = append(d.at, at), lit.Value
	return true
}

// each puts the range on one row after the other that the query selects, until yield is false.
func (q *query) each(e *env, yield func() bool) {
	for _, r := range q.candidates(e) {
		if e.stopped() {
			return
		}
		e.put(q.id, r)
		if q.holds(e) && !yield() {
			return
		}
	}
}

// holds tells whether the row that the range stands on is selected.
func (q *query) holds(e *env) bool {
	for _, j := range q.joins {
		j.move(e)
	}
	for _, cond := range q.conds {
		if !isTrue(cond(e)) {
			return false
		}
	}
	return true
}

// stand puts the range back on a row that was selected before.
func (q *query) stand(e *env, r row) {
	e.put(q.id, r)
	for _, j := range q.joins {
		j.move(e)
	}
}

// candidates are the rows that the query selects from.
func (q *query) candidates(e *env) []row {
	if q.derived != nil {
		return q.derived.rows(e)
	}
	t := e.state.tables[q.set.at]
	switch {
	case q.link != nil:
		if q.from != nil && !q.from.first(e) {
			return nil
		}
		return q.link.targets(e.state, e.rows[q.outer])
	case q.direct != nil:
		return t.pick(t.index(q.direct.at)[q.direct.text])
	}
	return t.rows
}

// first puts the range on the first row that the query selects.
func (q *query) first(e *env) bool {
	found := false
	q.each(e, func() bool {
		found = true
		return false
	})
	return found
}

func (t *table) pick(at []int) []row {
	out := make([]row, len(at))
	for i, n := range at {
		out[i] = t.rows[n]
	}
	return out
}

// targets are the rows that a link leads to.
func (l *link) targets(s *state, from row) []row {
	if from == nil {
		return nil
	}
	key, ok := keyText(from, l.own, l.from.cells)
	if !ok {
		return nil
	}
	t := s.tables[l.to.at]
	index := t.index(l.other)
	if l.via < 0 {
		return t.pick(index[key])
	}
	var at []int
	for _, to := range s.between[l.via].ends[l.end()][key] {
		at = append(at, index[to]...)
	}
	slices.Sort(at)
	return t.pick(at)
}

// move puts the range of a join on the target of its outer row, or on none.
func (j *join) move(e *env) {
	e.rows[j.id] = nil
	for _, r := range j.link.targets(e.state, e.rows[j.outer]) {
		e.rows[j.id] = r
		if j.policy == nil || isTrue(j.policy(e)) {
			return
		}
		e.rows[j.id] = nil
	}
}
