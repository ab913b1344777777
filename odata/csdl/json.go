package csdl

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// JSON writes the $metadata document as JSON.
func JSON(to io.Writer, m *edm.Model, o Options) error {
	w := &jsonWriter{b: bufio.NewWriter(to), namespace: m.Namespace, speaker: newSpeaker(m, o.Language)}
	w.open("")
	w.member("$Version", o.version())
	w.member("$EntityContainer", m.Namespace+"."+m.Container)
	w.open("$Reference")
	for _, v := range vocabularies() {
		w.member(v.uri+".json", record{{"$Include", []any{record{{"$Namespace", v.namespace}, {"$Alias", v.alias}}}}})
	}
	w.close()
	w.open(m.Namespace)
	for _, t := range m.Types {
		w.entityType(t)
	}
	for _, c := range m.Complexes {
		w.open(c.Name)
		w.member("$Kind", "ComplexType")
		w.annotations(w.describe(c.Description))
		w.properties(c.Properties)
		w.close()
	}
	for _, e := range m.Enums {
		w.enumType(e)
	}
	w.container(m)
	w.open("$Annotations")
	for _, g := range outside(m, o) {
		w.open(g.target)
		w.annotations(g.list)
		w.close()
	}
	w.close()
	w.close()
	w.close()
	return w.b.Flush()
}

type jsonWriter struct {
	b         *bufio.Writer
	namespace string
	speaker
	inner bool // a member was written in the object that is open
}

func (w *jsonWriter) entityType(t *edm.EntityType) {
	w.open(t.Name)
	w.member("$Kind", "EntityType")
	var key []any
	for _, k := range t.Key {
		key = append(key, k.Name)
	}
	if key != nil {
		w.member("$Key", key)
	}
	w.annotations(w.ofType(t))
	w.properties(t.Properties)
	for _, n := range t.Navigation {
		w.navigation(n)
	}
	w.close()
}

func (w *jsonWriter) properties(list []*edm.Property) {
	for _, p := range list {
		w.open(p.Name)
		item := p.Type
		item.Collection = false
		w.member("$Type", item.QualifiedName(w.namespace))
		w.flag("$Collection", p.Type.Collection)
		w.flag("$Nullable", p.Nullable)
		for _, f := range facets(p.Type) {
			w.member("$"+f.name, f.value)
		}
		w.annotations(w.ofProperty(p))
		w.close()
	}
}

func (w *jsonWriter) navigation(n *edm.Navigation) {
	w.open(n.Name)
	w.member("$Kind", "NavigationProperty")
	w.member("$Type", w.namespace+"."+n.Target.Type.Name)
	w.flag("$Collection", n.Collection)
	w.flag("$Nullable", !n.Collection && n.Nullable)
	if n.Partner != "" {
		w.member("$Partner", n.Partner)
	}
	if n.Constrained {
		var pairs record
		for _, p := range n.Pairs {
			pairs = append(pairs, field{p.Own[0].Name, p.Other[0].Name})
		}
		w.member("$ReferentialConstraint", pairs)
	}
	w.annotations(w.lookOfNavigation(n))
	w.close()
}

func (w *jsonWriter) enumType(e *edm.EnumType) {
	w.open(e.Name)
	w.member("$Kind", "EnumType")
	if e.Underlying != edm.Invalid && e.Underlying != edm.Int32 {
		w.member("$UnderlyingType", "Edm."+e.Underlying.String())
	}
	w.flag("$IsFlags", e.Flags)
	w.annotations(w.describe(e.Description))
	for _, m := range e.Members {
		w.member(m.Name, m.Value)
		for _, a := range w.lookOfMember(m) {
			w.member(m.Name+"@"+a.term, a.value) // OData-CSDLJSON 10.3
		}
	}
	w.close()
}

func (w *jsonWriter) container(m *edm.Model) {
	w.open(m.Container)
	w.member("$Kind", "EntityContainer")
	for _, s := range m.All() {
		w.entitySet(s)
	}
	w.close()
}

// entitySet writes an entity set or a singleton.
func (w *jsonWriter) entitySet(s *edm.EntitySet) {
	w.open(s.Name)
	w.flag("$Collection", !s.Single())
	w.member("$Type", w.namespace+"."+s.Type.Name)
	var pairs record
	for _, b := range bindings(s) {
		pairs = append(pairs, field{b[0], b[1]})
	}
	if pairs != nil {
		w.member("$NavigationPropertyBinding", pairs)
	}
	w.annotations(w.describe(s.Description))
	w.close()
}

func (w *jsonWriter) annotations(list []annotation) {
	for _, a := range list {
		if v, ok := a.value.(noted); ok {
			w.member("@"+a.term, v.value)
			for _, n := range v.notes {
				w.member("@"+a.term+"@"+n.term, n.value)
			}
			continue
		}
		w.member("@"+a.term, a.value)
	}
}

// flag writes a boolean member, which is left out when it is false.
func (w *jsonWriter) flag(name string, value bool) {
	if value {
		w.member(name, true)
	}
}

func (w *jsonWriter) open(name string) {
	if name != "" {
		w.name(name)
	}
	w.b.WriteByte('{')
	w.inner = false
}

func (w *jsonWriter) close() {
	w.b.WriteByte('}')
	w.inner = true
}

func (w *jsonWriter) member(name string, value any) {
	w.name(name)
	w.value(value)
	w.inner = true
}

func (w *jsonWriter) name(name string) {
	if w.inner {
		w.b.WriteByte(',')
	}
	w.value(name)
	w.b.WriteByte(':')
}

func (w *jsonWriter) value(value any) {
	switch v := value.(type) {
	case enumMember:
		w.value(v.name)
	case path:
		w.value(record{{"$Path", string(v)}})
	case typed:
		w.value(append(record{{"@type", typeURL(v.name)}}, v.record...))
	case record:
		w.open("")
		for _, f := range v {
			w.member(f.name, f.value)
		}
		w.close()
	case []any:
		w.b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.value(item)
		}
		w.b.WriteByte(']')
	default: // a boolean, a number, or a string, which always marshal
		text, _ := json.Marshal(v)
		w.b.Write(text)
	}
}
