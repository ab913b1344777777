package memory

import (
	"maps"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// write makes what may be written of a set's Write.
func (b *builder) write(place string, t *edm.EntityType, w *Write) *edm.Write {
	out := &edm.Write{Create: w.Create, Update: w.Update, Delete: w.Delete, Filter: w.Filter, Validator: w.Validator}
	for _, list := range []struct {
		values map[string]string
		to     *[]edm.Given
	}{{w.Set, &out.Set}, {w.Touch, &out.Touch}} {
		for _, name := range slices.Sorted(maps.Keys(list.values)) {
			if path := b.path(place, t, name); path != nil {
				*list.to = append(*list.to, edm.Given{Path: path, Value: list.values[name]})
			}
		}
	}
	for _, name := range w.Fixed {
		if path := b.path(place, t, name); path != nil {
			out.Fixed = append(out.Fixed, path)
		}
	}
	if w.Version != "" {
		if path := b.path(place, t, w.Version); path != nil {
			out.Version = path[0]
		}
	}
	return out
}

// path finds the property that a path names, hidden ones included.
func (b *builder) path(place string, t *edm.EntityType, name string) []*edm.Property {
	in := slices.Concat(t.Properties, t.Hidden)
	var path []*edm.Property
	for part := range strings.SplitSeq(name, "/") {
		i := slices.IndexFunc(in, func(p *edm.Property) bool { return p.Name == part })
		if i < 0 {
			b.fault(place, "Write: there is no property %q", name)
			return nil
		}
		p := in[i]
		path, in = append(path, p), nil
		if p.Type.Kind == edm.Complex {
			in = p.Type.Complex.Properties
		}
	}
	return path
}

// writes notes what a new row has in a property, and whether other rows may have the same.
func (b *builder) writes(place string, s *set, t *edm.EntityType, p *edm.Property, of tag, at int) {
	p.Defaulted = of.hasStandard
	if of.auto {
		if !p.Type.Kind.Integer() || s.auto >= 0 {
			b.fault(place, "property %q: one integer can be auto", p.Name)
		}
		s.auto, p.Computed = at, s.cfg.Write != nil
	}
	if !of.unique {
		return
	}
	s.unique = append(s.unique, at)
	if !of.hide {
		t.AlternateKeys = append(t.AlternateKeys, []*edm.Property{p})
	}
}

// standardValue reads a default; false where the type cannot have it.
func standardValue(text string, t edm.Type) (plan.Value, bool) {
	switch t.Kind {
	case edm.String:
		return textValue(text), true
	case edm.Enum:
		n, ok := t.Enum.Parse(text)
		return plan.Value{Int: n}, ok
	}
	r, ok := scalar.FromText(t.Kind, []byte(text))
	return plan.Value{Int: r.Int, Float: r.Float, Bytes: []byte(r.Text)}, ok
}
