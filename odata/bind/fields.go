package bind

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// selection is a tree of chosen names. A name without a tree below it means all of it.
type selection struct {
	all   bool
	names map[string]*selection
}

func newSelection() *selection { return &selection{names: map[string]*selection{}} }

// has tells whether a name is chosen, and what of it.
func (s *selection) has(name string) (*selection, bool) {
	if below, ok := s.names[name]; ok {
		return below, true
	}
	return newSelection(), s.all || len(s.names) == 0
}

// fields makes the fields of a node from $select and $compute, and the columns that they and the key need.
func (l *level) fields(q *syntax.Query) error {
	n := l.node
	t := n.Set.Type
	if !n.Applied {
		keyColumns(n)
	}
	if n.Ref || n.CountOnly {
		return nil
	}
	if !n.Applied {
		tagColumns(n)
	}
	sel := newSelection()
	n.Explicit, n.Chosen = len(q.Select) > 0, selectedPaths(nil, "", q.Select)
	links := 0
	for i := range q.Select {
		link, err := l.selectEntity(sel, &q.Select[i])
		if err != nil {
			return err
		}
		if link {
			links++
		}
	}
	if n.Explicit && links == len(q.Select) {
		// Only navigation properties were chosen: their links are no data, and nothing else is wanted.
		sel.names[""] = nil
	}
	if !n.Explicit {
		n.Fields = make([]plan.Field, 0, len(t.Properties)+len(q.Compute))
		n.Columns = slices.Grow(n.Columns, len(t.Properties)+len(q.Compute))
	}
	for _, p := range t.Properties {
		if below, ok := sel.has(p.Name); ok {
			n.Fields = append(n.Fields, topField(n, p, below))
		}
	}
	for _, name := range l.names(q) {
		if _, ok := sel.has(name); ok {
			e := l.computed[name]
			n.Fields = append(n.Fields, plan.Field{Name: name, T: e.Type(), Column: column(n, e), Computed: true})
		}
	}
	if l.shape != nil {
		l.appliedFields()
	}
	return nil
}

// selectedPaths lists the paths of $select, nested ones in full. A cast to the very type is no part of a path.
func selectedPaths(list []string, prefix string, items []syntax.SelectItem) []string {
	for _, item := range items {
		path := prefix
		for _, id := range item.Path {
			if !strings.Contains(id.Name, ".") {
				path += id.Name + "/"
			}
		}
		switch {
		case item.Options != nil && len(item.Options.Select) > 0:
			list = selectedPaths(list, path, item.Options.Select)
		case item.Star:
			list = append(list, path+"*")
		default:
			list = append(list, strings.TrimSuffix(path, "/"))
		}
	}
	return list
}

// keyColumns makes columns of the key, so that links and context URLs can be written without regard to $select.
func keyColumns(n *plan.Node) {
	for _, p := range n.Set.Type.Key {
		n.Key = append(n.Key, column(n, &plan.Ref{Range: n.Query.Range, Path: []*edm.Property{p}, T: p.Type}))
	}
}

// selectEntity adds one item of $select; true when it names a navigation property.
func (l *level) selectEntity(sel *selection, item *syntax.SelectItem) (bool, error) {
	t, path := l.node.Set.Type, item.Path
	if item.Star && len(path) == 1 && path[0].Name == l.binder.model.Namespace {
		l.node.Operations = true // of the schema, of which there are none
		return true, nil
	}
	if len(path) > 1 && l.isType(path[0].Name, t) {
		path = path[1:]
	}
	if !item.Star && len(path) == 1 && item.Options == nil {
		if nav := t.Nav(path[0].Name); nav != nil {
			if !slices.Contains(l.node.Links, nav) {
				l.node.Links = append(l.node.Links, nav)
			}
			return true, nil
		}
		if l.computed[path[0].Name] != nil {
			sel.names[path[0].Name] = newSelection()
			return false, nil
		}
	}
	return false, l.selectItem(sel, item, t.Properties, path)
}

// selectItem adds one item of $select over properties. path replaces the item's own when it is not nil. OData-URL 5.1.4
func (b *binding) selectItem(sel *selection, item *syntax.SelectItem, props []*edm.Property, path []syntax.Ident) error {
	if path == nil {
		path = item.Path
	}
	if item.Star {
		if len(path) > 0 {
			return plan.Errorf(plan.Malformed, item.Pos, "there is no schema %q", path[0].Name)
		}
		sel.all = true
		return nil
	}
	for i, id := range path {
		p := property(props, id.Name)
		if p == nil {
			return plan.Errorf(plan.Malformed, id.Pos, "there is no property %q%s", id.Name, didYouMean(id.Name, propertyNames(props)))
		}
		last := i == len(path)-1
		if !last && p.Type.Kind != edm.Complex {
			return plan.Errorf(plan.Malformed, path[i+1].Pos, "there is nothing to select below %q", id.Name)
		}
		below, known := sel.names[p.Name]
		if !known {
			below = newSelection()
			sel.names[p.Name] = below
		}
		if last {
			return b.selectOptions(below, item, p)
		}
		if known && len(below.names) == 0 {
			return nil // all of it was chosen before
		}
		sel, props = below, p.Type.Complex.Properties
	}
	return nil
}

func (b *binding) selectOptions(sel *selection, item *syntax.SelectItem, p *edm.Property) error {
	if item.Options == nil {
		sel.all = true
		return nil
	}
	if p.Type.Kind != edm.Complex {
		return plan.Errorf(plan.Malformed, item.Pos, "%q takes no options", p.Name)
	}
	for _, o := range item.Options.Options {
		if strings.HasPrefix(o.Name, "$") && o.Name != "$select" {
			return plan.Errorf(plan.NotImplemented, o.Pos, "%s is not supported here", o.Name)
		}
	}
	for i := range item.Options.Select {
		if err := b.selectItem(sel, &item.Options.Select[i], p.Type.Complex.Properties, nil); err != nil {
			return err
		}
	}
	return nil
}

// column gives the index of an expression's cell and adds it when it is new.
func column(n *plan.Node, e plan.Expr) int {
	switch e.(type) {
	case *plan.Ref, *plan.Cell:
		if i := slices.IndexFunc(n.Columns, func(c plan.Column) bool { return plan.Same(c.Expr, e) }); i >= 0 {
			return i
		}
	}
	n.Columns = append(n.Columns, plan.Column{Expr: e, T: e.Type()})
	return len(n.Columns) - 1
}

// leafColumn makes a column of the property at the end of a path, unless it is one, and returns its index.
func leafColumn(n *plan.Node, path []*edm.Property) int {
	i := findLeaf(n, path)
	if i < 0 {
		i = column(n, n.Query.Range.Leaf(path))
	}
	return i
}

// findLeaf returns the index of the column of the property at the end of a path; -1 for none.
func findLeaf(n *plan.Node, path []*edm.Property) int {
	return slices.IndexFunc(n.Columns, func(c plan.Column) bool {
		ref, ok := c.Expr.(*plan.Ref)
		return ok && ref.Range == n.Query.Range && slices.Equal(ref.Path, path)
	})
}

func topField(n *plan.Node, p *edm.Property, sel *selection) plan.Field {
	path := []*edm.Property{p}
	if p.Type.Kind == edm.Complex {
		return complexField(n, path, sel)
	}
	return field(n, path)
}

func field(n *plan.Node, path []*edm.Property) plan.Field {
	p := path[len(path)-1]
	return plan.Field{Name: p.Name, T: p.Type, Column: column(n, n.Query.Range.Leaf(path))}
}

func complexField(n *plan.Node, path []*edm.Property, sel *selection) plan.Field {
	p := path[len(path)-1]
	f := plan.Field{Name: p.Name, T: p.Type, Column: -1}
	for _, sub := range p.Type.Complex.Properties {
		below, ok := sel.has(sub.Name)
		if !ok {
			continue
		}
		full := append(append([]*edm.Property(nil), path...), sub)
		if sub.Type.Kind == edm.Complex {
			f.Fields = append(f.Fields, complexField(n, full, below))
		} else {
			f.Fields = append(f.Fields, field(n, full))
		}
	}
	return f
}

// names are those of compute, in $apply and beside it.
func (l *level) names(q *syntax.Query) []string {
	var out []string
	if l.shape != nil {
		out = slices.Clone(l.shape.Names)
	}
	for _, item := range q.Compute {
		out = append(out, item.As)
	}
	return out
}

// appliedFields marks the fields that are no properties of the set's type, and those that not every row has, and adds the
// column that holds the number of groups.
func (l *level) appliedFields() {
	n := l.node
	var mark func(list []plan.Field, path string)
	mark = func(list []plan.Field, path string) {
		for i := range list {
			f := &list[i]
			if path == "" && l.shape.Dynamic[f.Name] {
				f.Computed = true
			}
			if f.Column < 0 {
				mark(f.Fields, path+f.Name+"/")
			} else if bit, optional := l.shape.Optional[path+f.Name]; optional {
				f.Defined = &plan.Defined{Column: column(n, l.shape.Mask), Bit: bit}
			}
		}
	}
	mark(n.Fields, "")
	n.Extended = len(l.shape.Names) > 0 && !n.Applied
	if l.shape.Groups != nil {
		n.Groups, n.MaxGroups = column(n, l.shape.Groups), l.Limits.ApplyGroups
	}
}
