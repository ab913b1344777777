package transform

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// maxOptional bounds the properties that not every row of a result has: each is a bit of a number.
const maxOptional = 63

// maxCopies bounds how often a statement reads the rows that it begins with: concat behind concat multiplies.
const maxCopies = 64

func tooManyCopies(pos int) error {
	return plan.Errorf(plan.TooLarge, pos, "concat and rollup, inside of and behind each other, read the rows more than %d times; this limit is fixed", maxCopies)
}

// concat binds sequences that start from the same rows. OData Data Aggregation 3.2.2
func (b *Builder) concat(s *Shape, sequences [][]syntax.Step) (*Shape, error) {
	var parts []*Shape
	for _, steps := range sequences {
		part, err := b.sequence(b.fork(s), steps)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return b.joinShapes(parts, s, sequences[0][0].Pos)
}

// united are the values that the rows of several shapes have.
type united struct {
	leaves []leafOf
	// of holds, for each shape, its value of each of leaves; nil where it has none.
	of [][]plan.Expr
}

// unite lists the values of all shapes, each once, in the order in which they appear.
func unite(parts []*Shape, pos int) (united, error) {
	u := united{of: make([][]plan.Expr, len(parts))}
	for i, part := range parts {
		for _, l := range part.leaves() {
			at := slices.IndexFunc(u.leaves, func(o leafOf) bool { return slices.Equal(o.path, l.path) })
			if at < 0 {
				at, u.leaves = len(u.leaves), append(u.leaves, l)
			}
			for len(u.of[i]) <= at {
				u.of[i] = append(u.of[i], nil)
			}
			u.of[i][at] = l.expr
			u.leaves[at].dynamic = u.leaves[at].dynamic || l.dynamic
			t, ok := commonType(u.leaves[at].expr.Type(), l.expr.Type())
			if !ok {
				return u, plan.Errorf(plan.Malformed, pos, "%q is %s in one sequence of concat and %s in another; give one of them another name",
					strings.Join(l.path, "/"), u.leaves[at].expr.Type(), l.expr.Type())
			}
			u.leaves[at].expr = plan.Null(t)
		}
	}
	return u, nil
}

// commonType is the type that holds the values of both.
func commonType(a, b edm.Type) (edm.Type, bool) {
	switch {
	case a.Kind == edm.Decimal && b.Kind == edm.Decimal:
		if a.Scale != b.Scale {
			a.Scale = edm.VariableScale
		}
		return a, true
	case a.Same(b):
		return a, true
	case !a.Kind.Numeric() || !b.Kind.Numeric():
		return a, false
	case a.Kind.Rank() > 2 || b.Kind.Rank() > 2:
		return edm.Of(edm.Double), true
	case a.Kind == edm.Decimal || b.Kind == edm.Decimal:
		return edm.Of(edm.Decimal), true
	}
	return edm.Of(edm.Int64), true
}

// joinShapes puts the rows of shapes one behind the other. Each carries the number of its shape and its place there, so that
// the order holds on any page.
func (b *Builder) joinShapes(parts []*Shape, from *Shape, pos int) (*Shape, error) {
	u, err := unite(parts, pos)
	if err != nil {
		return nil, err
	}
	base := from.Set()
	t, at := typeOf(base.Type.Name, u.leaves)
	r := b.Range(&edm.EntitySet{Name: base.Name, Type: t, Guard: base.Guard})
	out := b.shape(r, from)
	out.few = true
	for _, part := range parts {
		out.few = out.few && part.few
		out.copies += part.copies
		out.depth = max(out.depth, part.depth+1)
	}
	if out.copies > maxCopies {
		return nil, tooManyCopies(pos)
	}
	if err := b.optionalOf(out, u, parts, pos); err != nil {
		return nil, err
	}
	r.Derived = &plan.Derived{At: at}
	whole := edm.Of(edm.Int64)
	for i, part := range parts {
		d := &deriver{of: r.Derived, part: &plan.Part{Query: part.Query}, r: r}
		r.Derived.Parts = append(r.Derived.Parts, d.part)
		for n, l := range u.leaves {
			e := plan.Expr(plan.Null(l.expr.Type()))
			if n < len(u.of[i]) && u.of[i][n] != nil {
				e = as(u.of[i][n], l.expr.Type())
			}
			d.column(e)
			if l.dynamic {
				out.Dynamic[l.path[0]] = true
			}
		}
		place := plan.Expr(number(0))
		if len(part.Order) > 0 {
			place = &plan.Aggregate{Op: "row", T: whole, Over: &plan.Frame{Order: part.Order}}
		}
		branch, row := d.column(number(int64(i))), d.column(place)
		out.Order = []plan.Order{{Expr: branch}, {Expr: row}}
		b.hidden(out, part, parts, d, u, i)
	}
	return out, nil
}

// optionalOf gives a bit to every value that not all rows have.
func (b *Builder) optionalOf(out *Shape, u united, parts []*Shape, pos int) error {
	out.Optional = map[string]int{}
	for n, l := range u.leaves {
		path := strings.Join(l.path, "/")
		everywhere := true
		for i, part := range parts {
			_, sometimes := part.Optional[path]
			everywhere = everywhere && !sometimes && n < len(u.of[i]) && u.of[i][n] != nil
		}
		if everywhere {
			continue
		}
		bit, known := b.bits[path]
		if !known {
			bit = len(b.bits)
			b.bits[path] = bit
		}
		if bit >= maxOptional {
			return plan.Errorf(plan.TooLarge, pos, "more than %d properties are in some rows and not in others; this limit is fixed", maxOptional)
		}
		out.Optional[path] = bit
	}
	return nil
}

// hidden adds the columns of a part that are no properties: which properties it has, how many groups there were, and
// what the groups around need.
func (b *Builder) hidden(out, part *Shape, parts []*Shape, d *deriver, u united, i int) {
	if len(out.Optional) > 0 {
		var bits int64
		for n, l := range u.leaves {
			path := strings.Join(l.path, "/")
			bit, optional := out.Optional[path]
			if _, sometimes := part.Optional[path]; optional && !sometimes && n < len(u.of[i]) && u.of[i][n] != nil {
				bits |= 1 << bit
			}
		}
		mask := plan.Expr(number(bits))
		if part.Mask != nil {
			mask = &plan.Call{Name: "add", Args: []plan.Expr{part.Mask, number(bits)}, T: edm.Of(edm.Int64)}
		}
		out.Mask = d.column(mask)
	}
	if slices.ContainsFunc(parts, func(s *Shape) bool { return s.Groups != nil }) {
		groups := part.Groups
		if groups == nil {
			groups = number(0)
		}
		out.Groups = d.column(groups)
	}
	if slices.ContainsFunc(parts, func(s *Shape) bool { return s.keep != nil }) {
		keep := part.keep
		if keep == nil {
			keep = plan.Bool(true)
		}
		out.keep = d.column(keep)
	}
	out.keys = nil
	for _, k := range part.keys {
		out.keys = append(out.keys, groupKey{k.path, d.column(k.expr)})
	}
}

// as promotes a number.
func as(e plan.Expr, t edm.Type) plan.Expr {
	if e.Type().Kind == t.Kind {
		return e
	}
	if l, ok := e.(*plan.Literal); ok && l.Value.Null {
		return plan.Null(t)
	}
	return &plan.Call{Name: "cast", Args: []plan.Expr{e}, T: t}
}
