package memory

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// derived is a plan.Derived that is ready to run.
type derived struct {
	// whole is how many cells of the set stand in front of the columns.
	whole int
	parts []*part
}

// part is a plan.Part that is ready to run.
type part struct {
	query      *query
	grouped    bool
	whole      int
	keys       []typed
	values     []value
	aggregates []*aggregate
	// limit is nil where all rows are kept; order is that of the first rows.
	limit *int64
	order []order
	// results is what the aggregates are for the row, or the group, whose values are computed.
	results []plan.Value
}

// typed is a value with the kind that it has.
type typed struct {
	value value
	kind  edm.Kind
}

// aggregate is a plan.Aggregate that is ready to run.
type aggregate struct {
	plan      *plan.Aggregate
	arg, when value
	kind      edm.Kind
	partition []typed
	order     []order
}

func (c *compiler) derived(r *plan.Range) *derived {
	d := &derived{}
	if r.Derived.Whole {
		d.whole = len(c.source.bySet[r.Set].cells)
	}
	for _, p := range r.Derived.Parts {
		d.parts = append(d.parts, c.part(p, d.whole))
	}
	return d
}

func (c *compiler) part(p *plan.Part, whole int) *part {
	out := &part{query: c.query(p.Query), grouped: p.Grouped, whole: whole, keys: c.typed(p.Keys)}
	out.limit, out.order = p.Limit, c.orders(p.Order)
	out.results = make([]plan.Value, len(p.Aggregates))
	for _, a := range p.Aggregates {
		made := &aggregate{plan: a}
		if a.Arg != nil {
			made.arg, made.kind = c.expr(a.Arg), a.Arg.Type().Kind
		}
		if a.When != nil {
			made.when = c.expr(a.When)
		}
		if a.Over != nil {
			made.partition, made.order = c.typed(a.Over.Partition), c.orders(a.Over.Order)
		}
		out.aggregates = append(out.aggregates, made)
		c.results[a] = &out.results[a.ID]
	}
	for _, e := range p.Values {
		out.values = append(out.values, c.expr(e))
	}
	return out
}

func (c *compiler) typed(list []plan.Expr) []typed {
	out := make([]typed, len(list))
	for i, e := range list {
		out[i] = typed{c.expr(e), e.Type().Kind}
	}
	return out
}

// rows computes the rows, once for each request.
func (d *derived) rows(e *env) []row {
	if known, ok := e.derived[d]; ok {
		return known
	}
	var out []row
	for _, p := range d.parts {
		if p.grouped {
			out = append(out, p.groups(e)...)
		} else {
			out = append(out, p.each(e)...)
		}
	}
	e.derived[d] = out
	return out
}

// textOf writes values so that equal ones have the same text; a null is a value like others.
func textOf(e *env, list []typed) string {
	var b []byte
	for _, t := range list {
		v := t.value(e)
		if v.Null {
			b = append(b, 'n', 0)
			continue
		}
		if v.Float == 0 {
			v.Float = 0 // without a sign
		}
		b = append(appendKey(append(b, 'v'), v, t.kind), 0)
	}
	return string(b)
}

// group is the rows with the same keys: the first of them, and what their aggregates have come to.
type group struct {
	first row
	sums  []sum
}

func (p *part) newGroup(first row) *group { return &group{first, make([]sum, len(p.aggregates))} }

// groups gives one row for each group, in the order in which the groups appear.
func (p *part) groups(e *env) []row {
	byKey := map[string]*group{}
	var list []*group
	if len(p.keys) == 0 {
		byKey[""] = p.newGroup(nil)
		list = append(list, byKey[""])
	}
	p.query.each(e, func() bool {
		key := textOf(e, p.keys)
		g := byKey[key]
		if g == nil {
			g = p.newGroup(e.rows[p.query.id])
			byKey[key], list = g, append(list, g)
		}
		for i, a := range p.aggregates {
			if a.plan.Over == nil {
				g.sums[i].add(e, a)
			}
		}
		return true
	})
	out := make([]row, 0, len(list))
	for _, g := range list {
		p.query.stand(e, g.first)
		for i, a := range p.aggregates {
			p.results[i] = g.sums[i].result(a)
			if a.plan.Over != nil { // of all groups: their number
				p.results[i] = plan.Value{Int: int64(len(list))}
			}
		}
		out = append(out, p.row(e, nil))
	}
	return out
}

// row computes the values of the row, or the group, that the range stands on.
func (p *part) row(e *env, cells row) row {
	out := make(row, 0, len(cells)+len(p.values))
	out = append(out, cells...)
	for _, v := range p.values {
		out = append(out, v(e))
	}
	return out
}

// each gives the rows themselves, with what aggregates give for their windows.
func (p *part) each(e *env) []row {
	var all []row
	p.query.each(e, func() bool {
		all = append(all, e.rows[p.query.id])
		return true
	})
	all = p.kept(e, all)
	results := make([][]plan.Value, len(p.aggregates))
	for i, a := range p.aggregates {
		results[i] = a.over(e, p.query, all)
	}
	out := make([]row, len(all))
	for n, r := range all {
		p.query.stand(e, r)
		for i := range p.aggregates {
			p.results[i] = results[i][n]
		}
		out[n] = p.row(e, r[:p.whole])
	}
	return out
}

// kept gives the rows that the limit of a part keeps.
func (p *part) kept(e *env, all []row) []row {
	if p.limit == nil {
		return all
	}
	list := make([]sorted, len(all))
	for n, r := range all {
		p.query.stand(e, r)
		list[n] = sorted{row: r, keys: keys(e, p.order)}
	}
	sortRows(list, p.order)
	list = list[:min(int64(len(list)), *p.limit)]
	for n, s := range list {
		all[n] = s.row
	}
	return all[:len(list)]
}

// over computes an aggregate for each row, of the window that it is in.
func (a *aggregate) over(e *env, q *query, all []row) []plan.Value {
	out := make([]plan.Value, len(all))
	windows := map[string][]sorted{}
	place := map[string][]int{}
	for n, r := range all {
		q.stand(e, r)
		key := textOf(e, a.partition)
		windows[key] = append(windows[key], sorted{row: r, keys: append(keys(e, a.order), plan.Value{Int: int64(n)})})
		place[key] = append(place[key], n)
	}
	for key, window := range windows {
		sortRows(window, a.order)
		var total sum
		for i, s := range window {
			at := s.keys[len(s.keys)-1].Int
			if a.plan.Op == "row" {
				out[at] = plan.Value{Int: int64(i + 1)}
				continue
			}
			if len(a.order) > 0 { // of those before
				out[at] = total.result(a)
			}
			q.stand(e, s.row)
			total.add(e, a)
		}
		if a.plan.Op == "row" || len(a.order) > 0 {
			continue
		}
		for _, n := range place[key] {
			out[n] = total.result(a)
		}
	}
	return out
}

// sum holds an aggregate of the rows so far.
type sum struct {
	n        int64
	whole    int64
	float    float64
	exact    apd.Decimal
	least    plan.Value
	distinct map[string]bool
}

// add takes the current row of the range.
func (s *sum) add(e *env, a *aggregate) {
	if a.when != nil && !isTrue(a.when(e)) {
		return
	}
	var v plan.Value
	if a.arg != nil {
		if v = a.arg(e); v.Null {
			return
		}
	}
	s.n++
	switch a.plan.Op {
	case "sum":
		s.plus(a, v)
	case "min", "max":
		c := 0
		if s.n > 1 {
			c = function.Compare(a.kind, a.kind, v, s.least)
		}
		if s.n == 1 || a.plan.Op == "min" && c < 0 || a.plan.Op == "max" && c > 0 {
			s.least = v
		}
	case "countdistinct":
		if s.distinct == nil {
			s.distinct = map[string]bool{}
		}
		s.distinct[textOf(e, []typed{{a.arg, a.kind}})] = true
	}
}

func (s *sum) plus(a *aggregate, v plan.Value) {
	switch {
	case a.plan.T.Kind == edm.Double:
		s.float += v.Float
	case a.plan.T.Kind == edm.Int64:
		s.whole += v.Int
	case a.kind == edm.Decimal:
		if d, _, err := apd.NewFromString(string(v.Bytes)); err == nil {
			_, _ = exact().Add(&s.exact, &s.exact, d)
		}
	default:
		_, _ = exact().Add(&s.exact, &s.exact, apd.New(v.Int, 0))
	}
}

// exact rounds nothing.
func exact() *apd.Context {
	c := apd.BaseContext.WithPrecision(0)
	c.MaxExponent, c.MinExponent = math.MaxInt32, math.MinInt32
	return c
}

// result is null where there is no value, and 0 for counts.
func (s *sum) result(a *aggregate) plan.Value {
	switch a.plan.Op {
	case "count", "countdistinct":
		n := s.n
		if a.plan.Op == "countdistinct" {
			n = int64(len(s.distinct))
		}
		if a.plan.T.Kind == edm.Decimal {
			return plan.Value{Bytes: strconv.AppendInt(nil, n, 10)}
		}
		return plan.Value{Int: n}
	}
	switch {
	case s.n == 0:
		return plan.Value{Null: true}
	case a.plan.Op != "sum":
		return s.least
	case a.plan.T.Kind == edm.Decimal:
		d := s.exact
		return plan.Value{Bytes: []byte(scalar.Plain(&d))}
	case a.plan.T.Kind == edm.Double:
		return plan.Value{Float: s.float, Null: math.IsInf(s.float, 0) || math.IsNaN(s.float)}
	}
	return plan.Value{Int: s.whole}
}
