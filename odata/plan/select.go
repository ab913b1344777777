package plan

import (
	"strings"

	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/syntax"
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
func (s *scope) fields(n *Node, q *syntax.Query) error {
	t := n.Set.Type
	for _, p := range t.Key {
		n.Key = append(n.Key, n.column(&Ref{Range: n.Query.Range, Path: []*edm.Property{p}, T: p.Type}))
	}
	if n.Ref || n.CountOnly {
		return nil
	}
	sel := newSelection()
	n.Explicit = len(q.Select) > 0
	links := 0
	for i := range q.Select {
		nav, err := s.selectEntity(sel, &q.Select[i], n.Set.Type)
		if err != nil {
			return err
		}
		if nav {
			links++
		}
	}
	if n.Explicit && links == len(q.Select) {
		// Only navigation properties were chosen: their links are no data, and nothing else is wanted.
		sel.names[""] = nil
	}
	for _, p := range t.Properties {
		if below, ok := sel.has(p.Name); ok {
			n.Fields = append(n.Fields, n.topField(p, below))
		}
	}
	for _, item := range q.Compute {
		if _, ok := sel.has(item.As); ok {
			e := s.computed[item.As]
			n.Fields = append(n.Fields, Field{Name: item.As, T: e.Type(), Column: n.column(e), Computed: true})
		}
	}
	return nil
}

// selectEntity adds one item of $select; true when it names a navigation property.
func (s *scope) selectEntity(sel *selection, item *syntax.SelectItem, t *edm.EntityType) (bool, error) {
	b, path := s.b, item.Path
	if item.Star && len(path) == 1 && path[0].Name == b.model.Namespace {
		return true, nil // all operations of the schema, of which there are none
	}
	if len(path) > 1 && b.isType(path[0].Name, t) {
		path = path[1:]
	}
	if !item.Star && len(path) == 1 && item.Options == nil {
		if t.Nav(path[0].Name) != nil {
			return true, nil
		}
		if s.computed[path[0].Name] != nil {
			sel.names[path[0].Name] = newSelection()
			return false, nil
		}
	}
	return false, b.selectItem(sel, item, t.Properties, path)
}

// selectItem adds one item of $select over properties. path replaces the item's own when it is not nil. OData-URL 5.1.3
func (b *builder) selectItem(sel *selection, item *syntax.SelectItem, props []*edm.Property, path []syntax.Ident) error {
	if path == nil {
		path = item.Path
	}
	if item.Star {
		if len(path) > 0 {
			return fail(Malformed, item.Pos, "there is no schema %q", path[0].Name)
		}
		sel.all = true
		return nil
	}
	for i, id := range path {
		p := property(props, id.Name)
		if p == nil {
			return fail(Malformed, id.Pos, "there is no property %q", id.Name)
		}
		last := i == len(path)-1
		if !last && p.Type.Kind != edm.Complex {
			return fail(Malformed, path[i+1].Pos, "there is nothing to select below %q", id.Name)
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

func (b *builder) selectOptions(sel *selection, item *syntax.SelectItem, p *edm.Property) error {
	if item.Options == nil {
		sel.all = true
		return nil
	}
	if p.Type.Kind != edm.Complex {
		return fail(Malformed, item.Pos, "%q takes no options", p.Name)
	}
	for _, o := range item.Options.Options {
		if strings.HasPrefix(o.Name, "$") && o.Name != "$select" {
			return fail(NotImplemented, o.Pos, "%s is not supported here", o.Name)
		}
	}
	for i := range item.Options.Select {
		if err := b.selectItem(sel, &item.Options.Select[i], p.Type.Complex.Properties, nil); err != nil {
			return err
		}
	}
	return nil
}

func property(list []*edm.Property, name string) *edm.Property {
	for _, p := range list {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// column gives the index of an expression's cell and adds it when it is new.
func (n *Node) column(e Expr) int {
	if ref, ok := e.(*Ref); ok {
		for i, c := range n.Columns {
			if old, ok := c.Expr.(*Ref); ok && old.Range == ref.Range && samePath(old.Path, ref.Path) {
				return i
			}
		}
	}
	n.Columns = append(n.Columns, Column{Expr: e, T: e.Type()})
	return len(n.Columns) - 1
}

func samePath(a, b []*edm.Property) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (n *Node) topField(p *edm.Property, sel *selection) Field {
	path := []*edm.Property{p}
	if p.Type.Kind == edm.Complex {
		return n.complexField(path, sel)
	}
	return n.field(path)
}

func (n *Node) field(path []*edm.Property) Field {
	p := path[len(path)-1]
	return Field{Name: p.Name, T: p.Type, Column: n.column(&Ref{Range: n.Query.Range, Path: path, T: p.Type})}
}

func (n *Node) complexField(path []*edm.Property, sel *selection) Field {
	p := path[len(path)-1]
	f := Field{Name: p.Name, T: p.Type, Column: -1}
	for _, sub := range p.Type.Complex.Properties {
		below, ok := sel.has(sub.Name)
		if !ok {
			continue
		}
		full := append(append([]*edm.Property(nil), path...), sub)
		if sub.Type.Kind == edm.Complex {
			f.Fields = append(f.Fields, n.complexField(full, below))
		} else {
			f.Fields = append(f.Fields, n.field(full))
		}
	}
	return f
}
