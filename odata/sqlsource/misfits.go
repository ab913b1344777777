package sqlsource

import (
	"context"
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// Misfit tells of stored values of a property that its type cannot hold.
type Misfit struct {
	// Set is the name of the set or, with Single, of the singleton. Property is a path where it is inside a complex one.
	Set, Property string
	Single        bool
	// Column is where the values are stored, Type what they should be, such as "Edm.Date".
	Column, Type string
	// Nullable tells that null takes their place; else they end the answer.
	Nullable bool
	// Shown reports whether answers show the values all the same: texts that are no UTF-8, with replacement characters, and decimals with
	// more digits than their type.
	Shown bool
	// Rows is how many of All rows have such a value. Key is the key of the first of them that was read.
	Rows, All int64
	Key       string
}

// Misfits reads all rows of all sets and singletons once, and tells which values their types cannot hold. Row policies do
// not count, and hidden columns are not looked at. It keeps one row in memory, and ends early with ctx.
func (s *Source) Misfits(ctx context.Context) ([]Misfit, error) {
	var list []Misfit
	for _, set := range s.model.All() {
		found, err := s.misfits(ctx, set)
		if err != nil {
			return list, err
		}
		list = append(list, found...)
	}
	return list, nil
}

func (s *Source) misfits(ctx context.Context, set *edm.EntitySet) ([]Misfit, error) {
	r := &plan.Range{Set: set}
	n := &plan.Node{Set: set, Many: true, Query: &plan.Query{Range: r}}
	var columns []*sqltext.Column
	add := func(c *sqltext.Column, path ...*edm.Property) {
		t := path[len(path)-1].Type
		n.Columns = append(n.Columns, plan.Column{Expr: &plan.Ref{Range: r, Path: path, T: t}, T: t})
		columns = append(columns, c)
	}
	for _, p := range set.Type.Properties {
		c := s.shape.mapping.Tables[set].Columns[p]
		if p.Type.Kind != edm.Complex {
			add(c, p)
			continue
		}
		for _, member := range p.Type.Complex.Properties {
			if sub := c.Sub[member]; sub != nil {
				add(sub, p, member)
			}
		}
	}
	for _, k := range set.Type.Key {
		for i, c := range n.Columns {
			if ref, ok := c.Expr.(*plan.Ref); ok && len(ref.Path) == 1 && ref.Path[0] == k {
				n.Key = append(n.Key, i)
			}
		}
	}
	found, all, err := cursor.Misfits(ctx, s.db, s.gen, n)
	if err != nil {
		return nil, fmt.Errorf("read the rows of %s: %w", set.Name, err)
	}
	var list []Misfit
	for i, m := range found {
		ref, ok := n.Columns[i].Expr.(*plan.Ref)
		if !ok {
			continue
		}
		var path []string
		for _, p := range ref.Path {
			path = append(path, p.Name)
		}
		of := Misfit{
			Set: set.Name, Single: set.Single(), Property: strings.Join(path, "/"), Column: columns[i].Name, Type: ref.T.QualifiedName(s.model.Namespace),
			Nullable: ref.Path[len(ref.Path)-1].Nullable, Rows: m.Rows, All: all, Key: m.Key,
		}
		if m.Rows > 0 {
			list = append(list, of)
		}
		if of.Shown, of.Rows, of.Key = true, m.Shown, m.ShownKey; m.Shown > 0 {
			list = append(list, of)
		}
	}
	return list, nil
}
