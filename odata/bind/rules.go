package bind

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// Judged reports whether rules are asked about the change. They judge rows, and not the table between two rows.
func (w *Writing) Judged() bool {
	set, kind := w.Change.Set.Write, w.Change.Kind
	return set != nil && set.Validator != "" && kind != write.Link && kind != write.Unlink
}

// Links reports whether a link of the request gives the property at a path its value.
func (w *Writing) Links(path []*edm.Property) bool {
	return slices.ContainsFunc(w.linked, func(p []*edm.Property) bool { return slices.Equal(p, path) })
}

// rulesCheck makes the check that reads a row for the rules of its set; nil for a set without rules. The fields of its plan are the
// properties that rules see: the visible ones, and those of Write.Set.
func (c *change) rulesCheck() (*write.Check, error) {
	if c.Set.Write.Validator == "" {
		return nil, nil //nolint:nilnil // most sets have none
	}
	b, n, err := c.node(&syntax.Query{}, false)
	if err != nil {
		return nil, err
	}
	tagColumns(n)
	for _, p := range c.Set.Type.Properties {
		n.Fields = append(n.Fields, topField(n, p, newSelection()))
	}
	for _, p := range c.Set.Type.Hidden {
		if sel, ok := c.setBelow(p); ok {
			n.Fields = append(n.Fields, topField(n, p, sel))
		}
	}
	out := &write.Check{Plan: b.plan, Filter: -1}
	if c.Set.Write.Filter != "" {
		out.Filter = condition(n, b.holds(n.Query.Range, c.binder.filters[c.Set]))
	}
	return out, nil
}

// setBelow returns what Write.Set has of a property; false for nothing.
func (c *change) setBelow(p *edm.Property) (*selection, bool) {
	out, has := newSelection(), false
	for _, g := range c.Set.Write.Set {
		if g.Path[0] != p {
			continue
		}
		has = true
		at := out
		for _, sub := range g.Path[1:] {
			below := at.names[sub.Name]
			if below == nil {
				below = newSelection()
				at.names[sub.Name] = below
			}
			at = below
		}
	}
	return out, has
}

// Proposed returns the row as the change would leave it, in the columns of Rules.Plan. old is the row as it is, nil for a create.
// What the database fills is null. made returns the placeholder for the key of the row of an earlier change, empty for a key
// that is known; texts are the columns that have such a text.
func (w *Writing) Proposed(ch *write.Change, old []plan.Value, made func(*write.Change) string) (row []plan.Value, texts []int) {
	n := w.Rules.Plan.Top
	at := func(path []*edm.Property) int {
		return slices.IndexFunc(n.Columns, func(c plan.Column) bool {
			ref, ok := c.Expr.(*plan.Ref)
			return ok && ref.Range == n.Query.Range && slices.Equal(ref.Path, path)
		})
	}
	row = make([]plan.Value, len(n.Columns))
	for i := range row {
		if row[i].Null = true; old != nil {
			row[i] = old[i]
		}
	}
	for _, a := range ch.Values {
		i := at(a.Path)
		if i < 0 {
			continue
		}
		row[i] = a.Value
		if a.Of == nil {
			continue
		}
		row[i] = plan.Value{Null: true}
		from, isRef := a.Of.After.Plan.Top.Columns[a.Column].Expr.(*plan.Ref)
		if text := made(a.Of); text != "" && isRef && len(from.Path) == 1 && a.Of.Set.Type.IsKey(from.Path[0]) {
			row[i], texts = plan.Value{Bytes: []byte(text)}, append(texts, i)
		}
	}
	if ch.Version != nil {
		if i := at([]*edm.Property{ch.Version}); i >= 0 {
			row[i] = moved(row[i], ch.Version.Type.Kind)
		}
	}
	return row, texts
}

// moved returns the version behind another one: see write.Change.Version.
func moved(v plan.Value, k edm.Kind) plan.Value {
	if _, greatest := k.Bounds(); v.Null || v.Int >= greatest {
		return plan.Value{Int: 1}
	}
	return plan.Value{Int: v.Int + 1}
}

// KeyOf returns the key of the row that a create makes, as far as it is known; nil where a part of it is not.
func KeyOf(ch *write.Change) []plan.Value {
	if ch.Kind != write.Create {
		return ch.Key
	}
	out := make([]plan.Value, len(ch.Set.Type.Key))
	for i, p := range ch.Set.Type.Key {
		at := slices.IndexFunc(ch.Values, func(a write.Assignment) bool { return len(a.Path) == 1 && a.Path[0] == p && a.Of == nil })
		if at < 0 || ch.Values[at].Value.Null {
			return nil
		}
		out[i] = ch.Values[at].Value
	}
	return out
}

// amended returns values with those that rules have given the entity at a place.
func (o *WriteOptions) amended(place string, values []write.Assignment) []write.Assignment {
	given := o.Amended[place]
	if len(given) == 0 {
		return values
	}
	out := slices.DeleteFunc(slices.Clone(values), func(a write.Assignment) bool {
		return slices.ContainsFunc(given, func(g write.Assignment) bool { return slices.Equal(g.Path, a.Path) })
	})
	return append(out, given...)
}

// AsTexts returns fields of which those of some columns have texts.
func AsTexts(fields []plan.Field, columns []int) []plan.Field {
	if len(columns) == 0 {
		return fields
	}
	out := slices.Clone(fields)
	for i := range out {
		switch f := &out[i]; {
		case f.Column < 0:
			f.Fields = AsTexts(f.Fields, columns)
		case slices.Contains(columns, f.Column):
			f.T = edm.Of(edm.String)
		}
	}
	return out
}
