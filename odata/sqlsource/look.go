package sqlsource

import (
	"maps"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// looks gives types and properties what the Config says for tables and forms. It comes after navigation, which paths
// lead through.
func (b *builder) looks() {
	for _, s := range b.sets {
		l, look := &s.cfg.Look, &s.edm.Type.Look
		look.Title, look.Plural = l.Title, l.Plural
		look.List = b.paths(s, l.List, "list")
		look.Fields = b.paths(s, l.Fields, "fields")
		look.Search = b.paths(s, l.Search, "search_fields")
		for _, name := range l.SemanticKey {
			p := s.edm.Type.Property(name)
			if p == nil {
				b.unknown(s, name, name, "semantic_key")
				continue
			}
			look.SemanticKey = append(look.SemanticKey, p)
		}
		for _, p := range s.cfg.Properties {
			b.look(s, p)
		}
	}
	for _, s := range b.sets { // what they show of a row depends on the looks of its own set
		for _, p := range s.cfg.Properties {
			b.valueList(s, p)
		}
	}
}

// visible finds the property that a block is about, and the type whose paths it goes by: that of the entity, or of the
// complex property that it is in. p is nil for one that is hidden or unknown.
func (b *builder) visible(s *set, column string) (p *edm.Property, on *edm.EntityType) {
	c := s.named(column)
	if c == nil {
		return nil, nil
	}
	if p := s.prop[c.Name]; p != nil {
		return p, s.edm.Type
	}
	for in, stored := range s.stored.Columns {
		for member, sub := range stored.Sub {
			if sub == s.column[c.Name] {
				return member, &edm.EntityType{Properties: in.Type.Complex.Properties}
			}
		}
	}
	return nil, nil
}

func (b *builder) look(s *set, cfg Property) {
	p, on := b.visible(s, cfg.Column)
	if p == nil {
		if cfg.Look != (Look{}) && s.table.Column(cfg.Column) != nil {
			b.report(s.at("property", cfg.Column), "the column is hidden, so that nobody sees how it looks", "take it out of hide, or take label, text and the like out here")
		}
		return
	}
	at := func(key string) []string { return s.at("property", cfg.Column, key) }
	l := &cfg.Look
	p.Look.Label, p.Look.Hidden = l.Label, l.Hidden
	if l.Text != "" && b.isText(on, l.Text, at("text")) {
		p.Look.Text = l.Text
	}
	p.Look.Currency = b.measure(on, p, l.Currency, at("currency"))
	p.Look.Unit = b.measure(on, p, l.Unit, at("unit"))
	if l.Format == "" {
		return
	}
	formats := edm.Formats()
	kind, ok := formats[l.Format]
	switch {
	case !ok:
		b.report(at("format"), "there is no format "+quoted(l.Format), finding.DidYouMean(l.Format, slices.Sorted(maps.Keys(formats))))
	case kind != edm.Invalid && kind != p.Type.Kind:
		b.report(at("format"), "the format "+quoted(l.Format)+" is for Edm."+kind.String()+", and the property is "+p.Type.QualifiedName(b.model.Namespace), "leave it out")
	default:
		p.Look.Format = l.Format
	}
}

// measure reads a currency or a unit.
func (b *builder) measure(on *edm.EntityType, p *edm.Property, value string, at []string) edm.Measure {
	if value == "" {
		return edm.Measure{}
	}
	if !p.Type.Kind.Numeric() {
		b.report(at, "only numbers have one, and the property is "+p.Type.QualifiedName(b.model.Namespace), "leave it out")
		return edm.Measure{}
	}
	if len(value) > 2 && value[0] == '\'' && value[len(value)-1] == '\'' {
		return edm.Measure{Constant: value[1 : len(value)-1]}
	}
	if !b.isText(on, value, at) {
		return edm.Measure{}
	}
	return edm.Measure{Path: value}
}

// isText tells whether a path leads to a text, and finds fault with one that does not.
func (b *builder) isText(on *edm.EntityType, path string, at []string) bool {
	p, name, ok := on.Along(path)
	if !ok {
		b.unknownAt(on, path, name, at)
		return false
	}
	if p.Type.Kind != edm.String {
		b.report(at, quoted(path)+" is "+p.Type.QualifiedName(b.model.Namespace)+", and people read Edm.String", "name a property with a text")
		return false
	}
	return true
}

// paths gives those that lead to a property, and finds fault with the others.
func (b *builder) paths(s *set, list []string, key string) []string {
	var out []string
	for _, path := range list {
		p, name, ok := s.edm.Type.Along(path)
		switch {
		case !ok:
			b.unknown(s, path, name, key)
		case p.Type.Kind == edm.Complex:
			b.report(s.at(key), quoted(path)+" has several values", "name one of its properties, such as "+quoted(path+"/"+p.Type.Complex.Properties[0].Name))
		default:
			out = append(out, path)
		}
	}
	return out
}

func (b *builder) unknown(s *set, path, name, key string) {
	b.unknownAt(s.edm.Type, path, name, s.at(key))
}

// unknownAt reports a path that leads nowhere; name is its part that is not known.
func (b *builder) unknownAt(on *edm.EntityType, path, name string, at []string) {
	what := "there is no property " + quoted(name)
	if name != path {
		what += " in the path " + quoted(path)
	}
	var known []string
	for _, p := range on.Properties {
		known = append(known, p.Name)
	}
	if n := on.Nav(name); n != nil {
		if n.Collection {
			b.report(at, "the path "+quoted(path)+" leads to many rows", "go through navigation to one only")
			return
		}
		b.report(at, what, "name one of its properties, such as "+quoted(name+"/"+n.Target.Type.Properties[0].Name))
		return
	}
	b.report(at, what, finding.DidYouMean(name, known))
}

// valueList finds the property of the set that has the values, and a text for people.
func (b *builder) valueList(s *set, cfg Property) {
	p, on := b.visible(s, cfg.Column)
	if p == nil || cfg.Look.ValueList == "" {
		return
	}
	at := s.at("property", cfg.Column, "value_list")
	target := b.model.Set(cfg.Look.ValueList)
	if target == nil {
		var names []string
		for _, other := range b.model.Sets {
			names = append(names, other.Name)
		}
		b.report(at, "there is no entity set "+quoted(cfg.Look.ValueList), finding.DidYouMean(cfg.Look.ValueList, names))
		return
	}
	key := keyFor(on, p, target)
	switch {
	case key == nil:
		b.report(at, "no property of "+quoted(target.Name)+" says which row is meant: its key has several", "name a set with a key of one property, or a navigation to it")
	case key.Type.Kind.Numeric() != p.Type.Kind.Numeric() || !key.Type.Kind.Numeric() && key.Type.Kind != p.Type.Kind:
		b.report(at, quoted(key.Name)+" of "+quoted(target.Name)+" is "+key.Type.QualifiedName(b.model.Namespace)+", and the property "+p.Type.QualifiedName(b.model.Namespace),
			"name a set whose key has the values of the property")
	default:
		p.Look.ValueList = &edm.ValueList{Set: target, Key: key, Text: rowText(target.Type, key)}
	}
}

// keyFor is the property of a set that has the values of p: what a navigation there compares p with, else the only key.
func keyFor(t *edm.EntityType, p *edm.Property, target *edm.EntitySet) *edm.Property {
	for _, n := range t.Navigation {
		if n.Target == target && !n.Collection && n.Constrained && len(n.Pairs) == 1 && n.Pairs[0].Own[0] == p {
			return n.Pairs[0].Other[0]
		}
	}
	if len(target.Type.Key) == 1 {
		return target.Type.Key[0]
	}
	return nil
}

// rowText is the path of what people see of a row: the text of its key, else its first text that is no key and not
// hidden.
func rowText(t *edm.EntityType, key *edm.Property) string {
	if key.Look.Text != "" {
		return key.Look.Text
	}
	for _, p := range t.Properties {
		if p != key && p.Type.Kind == edm.String && !p.Look.Hidden && !t.IsKey(p) {
			return p.Name
		}
	}
	return ""
}
