package transform

import (
	"maps"
	"slices"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// typeOf makes the type of rows with such values, and tells which property has which of them. Values whose paths begin
// alike stand in one structure.
func typeOf(name string, list []leafOf) (*edm.EntityType, map[*edm.Property]int) {
	at := map[*edm.Property]int{}
	paths := make([][]string, len(list))
	index := make([]int, len(list))
	for i, l := range list {
		paths[i], index[i] = l.path, i
	}
	return &edm.EntityType{Name: name, Properties: properties(list, paths, index, at)}, at
}

func properties(list []leafOf, paths [][]string, index []int, at map[*edm.Property]int) []*edm.Property {
	var out []*edm.Property
	for i, path := range paths {
		if slices.ContainsFunc(out, func(p *edm.Property) bool { return p.Name == path[0] }) {
			continue
		}
		p := &edm.Property{Name: path[0], Nullable: true}
		out = append(out, p)
		if len(path) == 1 {
			p.Type, at[p] = list[index[i]].expr.Type(), index[i]
			continue
		}
		var below [][]string
		var of []int
		for j, other := range paths {
			if len(other) > 1 && other[0] == path[0] {
				below, of = append(below, other[1:]), append(of, index[j])
			}
		}
		p.Type = edm.Type{Kind: edm.Complex, Complex: &edm.ComplexType{Properties: properties(list, below, of, at)}}
	}
	return out
}

// deriver makes a Derived of a shape, column by column.
type deriver struct {
	of      *plan.Derived
	part    *plan.Part
	r       *plan.Range
	rebased bool // the range stays one over entities
	from    *plan.Range
}

// column adds a column.
func (d *deriver) column(e plan.Expr) plan.Expr {
	d.part.Values = append(d.part.Values, e)
	plan.Walk(e, func(e plan.Expr) bool {
		a, ok := e.(*plan.Aggregate)
		if ok && !slices.Contains(d.part.Aggregates, a) {
			a.ID = len(d.part.Aggregates)
			d.part.Aggregates = append(d.part.Aggregates, a)
		}
		return !ok // none of those in another one
	})
	if len(d.of.Columns) < len(d.part.Values) {
		d.of.Columns = append(d.of.Columns, plan.DerivedColumn{Name: "c" + strconv.Itoa(len(d.of.Columns)), T: e.Type()})
	}
	at := len(d.part.Values) - 1
	return &plan.Cell{Range: d.r, Column: at, T: e.Type()}
}

// carry gives what an expression over the rows of before is called in those of the result.
func (d *deriver) carry(e plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	if l, ok := e.(*plan.Literal); ok {
		return l
	}
	if ref, ok := e.(*plan.Ref); ok && d.rebased && ref.Range == d.from {
		return &plan.Ref{Range: d.r, Path: ref.Path, T: ref.T}
	}
	for i, v := range d.part.Values {
		if plan.Same(v, e) {
			return &plan.Cell{Range: d.r, Column: i, T: e.Type()}
		}
	}
	return d.column(e)
}

// extend puts a derived table around a shape, with values besides that are computed for all its rows: those of windows.
func (b *Builder) extend(s *Shape, extra ...plan.Expr) (*Shape, []plan.Expr) {
	old := s.Query.Range
	r := b.Range(old.Set)
	d := &deriver{of: &plan.Derived{Whole: s.Entity}, part: &plan.Part{Query: s.Query}, r: r, rebased: s.Entity, from: old}
	r.Derived, d.of.Parts = d.of, []*plan.Part{d.part}
	if !s.Entity {
		d.of.At = map[*edm.Property]int{}
		for at := range len(old.Derived.Columns) {
			d.column(&plan.Cell{Range: old, Column: at, T: old.Derived.Columns[at].T})
		}
		maps.Copy(d.of.At, old.Derived.At)
	}
	out := *s
	out.depth++
	out.Query, out.Computed, out.These = b.query(r), map[string]plan.Expr{}, nil
	out.Order, out.keys = nil, nil
	for _, name := range s.Names {
		out.Computed[name] = d.carry(s.Computed[name])
	}
	for _, o := range s.Order {
		out.Order = append(out.Order, plan.Order{Expr: d.carry(o.Expr), Desc: o.Desc})
	}
	for _, k := range s.keys {
		key := d.carry(k.expr)
		if _, constant := key.(*plan.Literal); constant {
			key = d.column(key) // databases take a number in GROUP BY for the place of a column
		}
		out.keys = append(out.keys, groupKey{k.path, key})
	}
	out.keep, out.Mask, out.Groups = d.carry(s.keep), d.carry(s.Mask), d.carry(s.Groups)
	cells := make([]plan.Expr, len(extra))
	for i, e := range extra {
		cells[i] = d.carry(e)
	}
	return &out, cells
}
