package transform

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// groupBy binds groupby: one grouping, or several where there is a rollup. OData Data Aggregation 3.2.3
func (b *Builder) groupBy(s *Shape, step *syntax.Step) (*Shape, error) {
	n := howMany(step.Groups)
	if n == 1 {
		return b.grouped(s, step, groupings(step.Groups)[0])
	}
	if n*s.copies > maxCopies {
		return nil, tooManyCopies(step.Pos)
	}
	if b.steps += n - 1; b.steps > b.limit {
		return nil, plan.Exceeded(step.Pos, "apply_steps", int64(b.limit), "$apply has more transformations, each grouping of a rollup counted")
	}
	var parts []*Shape
	var finest *plan.Query
	for _, list := range groupings(step.Groups) {
		from := b.fork(s)
		if finest == nil {
			finest = from.Query
		} else { // the same rows, so that a database can make all groups in one pass over them
			from.Query.Joins = slices.Clone(finest.Joins)
			b.Own(from.Query)
		}
		part, err := b.grouped(from, step, list)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	out, err := b.joinShapes(parts, s, step.Pos)
	if err == nil && s.Groups == nil && !s.inGroups() {
		out.Query.Range.Derived.Sets = setsOf(parts)
	}
	return out, err
}

// setsOf returns plan.Derived.Sets for the groupings of a rollup; nil if anything else than groups of the same rows was made.
func setsOf(parts []*Shape) []int {
	var finest *plan.Part
	sets := make([]int, 0, len(parts))
	for _, s := range parts {
		d := s.Query.Range.Derived
		if d == nil || !d.Parts[0].Grouped || s.Query.Filter != nil || s.Query.Search != nil || len(s.Names) > 0 {
			return nil
		}
		made := d.Parts[0]
		if finest == nil {
			finest = made
		}
		set := 0
		for _, k := range finest.Keys {
			set <<= 1
			if !slices.ContainsFunc(made.Keys, func(o plan.Expr) bool { return plan.Same(o, k) }) {
				set |= 1
			}
		}
		if made.Query.Range != finest.Query.Range || slices.Contains(sets, set) {
			return nil
		}
		sets = append(sets, set)
	}
	return sets
}

// howMany is the number of groupings, and more than maxCopies as soon as it is beyond that: rollups multiply, so this is known
// before any of them is made.
func howMany(items []syntax.GroupItem) int {
	n := 1
	for _, item := range items {
		if n *= len(item.Paths) - shortest(item) + 1; n > maxCopies {
			return maxCopies + 1
		}
	}
	return n
}

// shortest is how many of its paths an item has at least.
func shortest(item syntax.GroupItem) int {
	if item.Rollup {
		return 1
	}
	return len(item.Paths)
}

// groupings are the lists of paths that rollup stands for: the finest first.
func groupings(items []syntax.GroupItem) [][]*syntax.Path {
	lists := [][]*syntax.Path{nil}
	for _, item := range items {
		var next [][]*syntax.Path
		for _, list := range lists {
			for n := len(item.Paths); n >= shortest(item); n-- {
				next = append(next, append(slices.Clone(list), item.Paths[:n]...))
			}
		}
		lists = next
	}
	return lists
}

// grouped binds groupby over paths.
func (b *Builder) grouped(s *Shape, step *syntax.Step, paths []*syntax.Path) (*Shape, error) {
	keys, err := b.groupKeys(s, paths)
	if err != nil {
		return nil, err
	}
	if len(step.Sequences) == 0 {
		s.settleUnlessGroups()
		return b.aggregated(s, keys, nil)
	}
	steps := step.Sequences[0]
	if len(steps) == 1 && steps[0].Name == "aggregate" {
		if b.steps++; b.steps > b.limit {
			return nil, plan.Exceeded(steps[0].Pos, "apply_steps", int64(b.limit), "$apply has more transformations, those inside of others included")
		}
		return b.aggregated(s, keys, steps[0].Aggregates)
	}
	outer := len(s.keys)
	// The groups of a groupby inside of another one are those of the rows that are there.
	s.settleUnlessGroups()
	s.keys = addKeys(s.keys, keys)
	if s, err = b.sequence(s, steps); err != nil {
		return nil, err
	}
	s.keys = s.keys[:outer]
	if !s.inGroups() {
		s.settle()
	}
	return s, nil
}

// settleUnlessGroups does nothing where rows that are left out may still make a group.
func (s *Shape) settleUnlessGroups() {
	if !s.inGroups() {
		s.settle()
	}
}

func addKeys(list, more []groupKey) []groupKey {
	out := slices.Clone(list)
	for _, k := range more {
		if !slices.ContainsFunc(out, func(o groupKey) bool { return slices.Equal(o.path, k.path) }) {
			out = append(out, k)
		}
	}
	return out
}

// groupKeys binds the paths of groupby. A complex property stands for all that is in it.
func (b *Builder) groupKeys(s *Shape, paths []*syntax.Path) ([]groupKey, error) {
	var out []groupKey
	for _, p := range paths {
		e, err := b.Bind(s, p)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, seg := range p.Segments {
			if !strings.Contains(seg.Name, ".") { // a cast to the very type is no part of the result
				names = append(names, seg.Name)
			}
		}
		switch t := e.Type(); {
		case t.Kind == edm.Complex:
			ref, ok := e.(*plan.Ref)
			if !ok {
				return nil, plan.Errorf(plan.Malformed, p.Pos(), "nothing can be grouped by %s", syntax.Describe(p))
			}
			out = addKeys(out, complexKeys(ref.Range, ref.Path, names))
		case t.Kind == edm.Entity:
			return nil, plan.Errorf(plan.NotImplemented, p.Pos(), "grouping by the navigation property %s is not supported; name properties behind it, such as its key", syntax.Describe(p))
		case t.Kind == edm.Stream || t.Collection || len(names) == 0:
			return nil, plan.Errorf(plan.Malformed, p.Pos(), "nothing can be grouped by %s", syntax.Describe(p))
		default:
			out = addKeys(out, []groupKey{{names, e}})
		}
	}
	return out, nil
}

func complexKeys(r *plan.Range, path []*edm.Property, names []string) []groupKey {
	var out []groupKey
	for _, p := range path[len(path)-1].Type.Complex.Properties {
		below, name := append(slices.Clone(path), p), append(slices.Clone(names), p.Name)
		if p.Type.Kind == edm.Complex {
			out = append(out, complexKeys(r, below, name)...)
		} else {
			out = append(out, groupKey{name, r.Leaf(below)})
		}
	}
	return out
}

// costly is how many steps a condition takes that is worth a column of its own.
const costly = 16

// aggregated makes one row of each group: that of the keys around, and of these besides. OData Data Aggregation 3.2.1
func (b *Builder) aggregated(s *Shape, keys []groupKey, items []syntax.AggregateItem) (*Shape, error) {
	around := len(s.keys)
	s.keys = addKeys(s.keys, keys)
	if len(keys) > 0 && around > 0 { // groups inside of groups are those of rows that are there
		if s.keep != nil {
			s.settle()
		}
	}
	if slices.ContainsFunc(s.keys, func(k groupKey) bool { return !isColumn(k.expr) }) {
		s, _ = b.extend(s, keyExprs(s.keys)...)
	}
	if len(items) > 0 && items[0].From != nil {
		return b.aggregatedFrom(s, around, items)
	}
	if len(items) > 1 && s.keep != nil && b.Steps(s.keep) > costly {
		s, _ = b.extend(s) // which makes a column of keep: each item needs it
	}
	s, once, err := b.once(s, items)
	if err != nil {
		return nil, err
	}
	leaves := make([]leafOf, 0, len(s.keys)+len(items))
	for _, k := range s.keys {
		leaves = append(leaves, leafOf{k.path, k.expr, s.Dynamic[k.path[0]] || slices.Contains(s.Names, k.path[0])})
	}
	for i := range items {
		x, err := b.aggregateItem(s, &items[i], once[i])
		if err != nil {
			return nil, err
		}
		if err := taken(leaves, x.path, &items[i]); err != nil {
			return nil, err
		}
		leaves = append(leaves, x)
	}
	return b.group(s, leaves, around), nil
}

// isColumn tells whether an expression is a value that a row has, and not one that is computed.
func isColumn(e plan.Expr) bool {
	switch e.(type) {
	case *plan.Ref, *plan.Cell:
		return true
	}
	return false
}

func keyExprs(keys []groupKey) []plan.Expr {
	out := make([]plan.Expr, len(keys))
	for i, k := range keys {
		out[i] = k.expr
	}
	return out
}

func taken(leaves []leafOf, path []string, item *syntax.AggregateItem) error {
	for _, l := range leaves {
		if l.path[0] == path[0] {
			pos := item.AsPos
			if item.As == "" {
				pos = item.Pos
			}
			return plan.Errorf(plan.Malformed, pos, "the name %q is taken; choose another one behind as", path[0])
		}
	}
	return nil
}

// group makes the rows of a grouping: leaves are their values, the keys first.
func (b *Builder) group(s *Shape, leaves []leafOf, around int) *Shape {
	t, at := typeOf(s.Set().Type.Name, leaves)
	base := s.Set()
	r := b.Range(&edm.EntitySet{Name: base.Name, Type: t, Guard: base.Guard})
	d := &deriver{of: &plan.Derived{At: at}, part: &plan.Part{Query: s.Query, Grouped: true}, r: r}
	r.Derived, d.of.Parts = d.of, []*plan.Part{d.part}
	d.part.Keys = keyExprs(s.keys)
	out := b.shape(r, s)
	out.copies, out.depth, out.few = s.copies, s.depth+1, s.few || len(s.keys) == 0
	for i, l := range leaves {
		cell := d.column(l.expr)
		if l.dynamic {
			out.Dynamic[l.path[0]] = true
		}
		if i < len(s.keys) {
			out.Order = append(out.Order, plan.Order{Expr: cell})
		}
		if i < around {
			out.keys = append(out.keys, groupKey{l.path, cell})
		}
	}
	out.Groups = b.countGroups(d, s)
	return out
}

// countGroups adds the column that tells how many groups were made: here, or on the way to here where those were more.
func (b *Builder) countGroups(d *deriver, s *Shape) plan.Expr {
	whole := edm.Of(edm.Int64)
	var before plan.Expr
	if s.Groups != nil {
		before = &plan.Aggregate{Op: "max", Arg: s.Groups, T: whole}
	}
	switch {
	case len(s.keys) == 0 && before == nil:
		return nil
	case len(s.keys) == 0:
		return d.column(before)
	}
	here := plan.Expr(&plan.Aggregate{Op: "count", T: whole, Over: &plan.Frame{}})
	if before != nil {
		here = &plan.Call{Name: "case", T: whole, Args: []plan.Expr{
			&plan.Call{Name: "gt", Args: []plan.Expr{before, here}, T: edm.Of(edm.Boolean)}, before, plan.Bool(true), here,
		}}
	}
	return d.column(here)
}
