package csdl

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// XML writes the $metadata document as XML.
func XML(to io.Writer, m *edm.Model, o Options) error {
	w := &xmlWriter{b: bufio.NewWriter(to), namespace: m.Namespace, speaker: newSpeaker(m, o.Language)}
	w.b.WriteString(xml.Header)
	w.open("edmx:Edmx", "xmlns:edmx", "http://docs.oasis-open.org/odata/ns/edmx", "Version", o.version())
	for _, v := range vocabularies() {
		w.open("edmx:Reference", "Uri", v.uri+".xml")
		w.leaf("edmx:Include", "Namespace", v.namespace, "Alias", v.alias)
		w.close("edmx:Reference")
	}
	w.open("edmx:DataServices")
	w.open("Schema", "xmlns", "http://docs.oasis-open.org/odata/ns/edm", "Namespace", m.Namespace)
	for _, t := range m.Types {
		w.entityType(t)
	}
	for _, c := range m.Complexes {
		w.open("ComplexType", "Name", c.Name)
		w.annotations(w.describe(c.Description))
		w.properties(c.Properties)
		w.close("ComplexType")
	}
	for _, e := range m.Enums {
		w.enumType(e)
	}
	w.container(m)
	for _, g := range outside(m, o) {
		w.open("Annotations", "Target", g.target)
		w.annotations(g.list)
		w.close("Annotations")
	}
	w.close("Schema")
	w.close("edmx:DataServices")
	w.close("edmx:Edmx")
	return w.b.Flush()
}

type xmlWriter struct {
	depth     int
	b         *bufio.Writer
	namespace string
	speaker
}

func (w *xmlWriter) entityType(t *edm.EntityType) {
	w.open("EntityType", "Name", t.Name)
	if len(t.Key) > 0 {
		w.open("Key")
		for _, k := range t.Key {
			w.leaf("PropertyRef", "Name", k.Name)
		}
		w.close("Key")
	}
	w.annotations(w.ofType(t))
	w.properties(t.Properties)
	for _, n := range t.Navigation {
		w.navigation(n)
	}
	w.close("EntityType")
}

func (w *xmlWriter) properties(list []*edm.Property) {
	for _, p := range list {
		attrs := []string{"Name", p.Name, "Type", p.Type.QualifiedName(w.namespace)}
		if !p.Nullable {
			attrs = append(attrs, "Nullable", "false")
		}
		for _, f := range facets(p.Type) {
			attrs = append(attrs, f.name, fmt.Sprint(f.value))
		}
		w.element("Property", attrs, w.ofProperty(p))
	}
}

func (w *xmlWriter) navigation(n *edm.Navigation) {
	t := edm.Type{Kind: edm.Entity, Entity: n.Target.Type, Collection: n.Collection}
	attrs := []string{"Name", n.Name, "Type", t.QualifiedName(w.namespace)}
	if !n.Collection && !n.Nullable {
		attrs = append(attrs, "Nullable", "false")
	}
	if n.Partner != "" {
		attrs = append(attrs, "Partner", n.Partner)
	}
	if !n.Constrained {
		w.element("NavigationProperty", attrs, w.lookOfNavigation(n))
		return
	}
	w.open("NavigationProperty", attrs...)
	for _, p := range n.Pairs {
		w.leaf("ReferentialConstraint", "Property", p.Own[0].Name, "ReferencedProperty", p.Other[0].Name)
	}
	w.annotations(w.lookOfNavigation(n))
	w.close("NavigationProperty")
}

func (w *xmlWriter) enumType(e *edm.EnumType) {
	attrs := []string{"Name", e.Name}
	if e.Underlying != edm.Invalid && e.Underlying != edm.Int32 {
		attrs = append(attrs, "UnderlyingType", "Edm."+e.Underlying.String())
	}
	if e.Flags {
		attrs = append(attrs, "IsFlags", "true")
	}
	w.open("EnumType", attrs...)
	w.annotations(w.describe(e.Description))
	for _, m := range e.Members {
		w.element("Member", []string{"Name", m.Name, "Value", fmt.Sprint(m.Value)}, w.lookOfMember(m))
	}
	w.close("EnumType")
}

func (w *xmlWriter) container(m *edm.Model) {
	w.open("EntityContainer", "Name", m.Container)
	for _, s := range m.Sets {
		w.entitySet("EntitySet", "EntityType", s)
	}
	for _, s := range m.Singletons {
		w.entitySet("Singleton", "Type", s)
	}
	w.close("EntityContainer")
}

// entitySet writes an entity set or a singleton.
func (w *xmlWriter) entitySet(element, typeAttr string, s *edm.EntitySet) {
	w.open(element, "Name", s.Name, typeAttr, w.namespace+"."+s.Type.Name)
	for _, b := range bindings(s) {
		w.leaf("NavigationPropertyBinding", "Path", b[0], "Target", b[1])
	}
	w.annotations(w.describe(s.Description))
	w.close(element)
}

func (w *xmlWriter) annotations(list []annotation) {
	for _, a := range list {
		term, qualifier, qualified := strings.Cut(a.term, "#")
		attrs := []string{"Term", term}
		if qualified {
			attrs = append(attrs, "Qualifier", qualifier)
		}
		w.valued("Annotation", attrs, a.value)
	}
}

// valued writes an element with a constant or dynamic expression, as attribute
// where the format has one (OData-CSDLXML 14.3, 14.4).
func (w *xmlWriter) valued(element string, attrs []string, value any) {
	switch v := value.(type) {
	case bool:
		w.leaf(element, append(attrs, "Bool", fmt.Sprint(v))...)
	case int:
		w.leaf(element, append(attrs, "Int", fmt.Sprint(v))...)
	case string:
		w.leaf(element, append(attrs, "String", v)...)
	case enumMember:
		w.leaf(element, append(attrs, "EnumMember", v.typ+"/"+v.name)...)
	case path:
		w.leaf(element, append(attrs, "Path", string(v))...)
	case propertyPath:
		w.leaf(element, append(attrs, "PropertyPath", string(v))...)
	case navigationPath:
		w.leaf(element, append(attrs, "NavigationPropertyPath", string(v))...)
	case annotationPath:
		w.leaf(element, append(attrs, "AnnotationPath", string(v))...)
	case noted:
		w.open(element, append(attrs, "Path", string(v.value))...)
		w.annotations(v.notes)
		w.close(element)
	default:
		w.open(element, attrs...)
		w.nested(value)
		w.close(element)
	}
}

func (w *xmlWriter) nested(value any) {
	switch v := value.(type) {
	case string:
		w.text("String", v)
	case propertyPath:
		w.text("PropertyPath", string(v))
	case navigationPath:
		w.text("NavigationPropertyPath", string(v))
	case typed:
		w.record(v.record, "Type", v.name)
	case record:
		w.record(v)
	case []any:
		w.open("Collection")
		for _, item := range v {
			w.nested(item)
		}
		w.close("Collection")
	}
}

// text writes an element that holds text.
func (w *xmlWriter) text(element, text string) {
	w.indent()
	w.b.WriteString("<" + element + ">")
	w.escape(text)
	w.b.WriteString("</" + element + ">\n")
}

func (w *xmlWriter) record(r record, attrs ...string) {
	w.open("Record", attrs...)
	for _, f := range r {
		w.valued("PropertyValue", []string{"Property", f.name}, f.value)
	}
	w.close("Record")
}

// element writes an element that holds annotations only.
func (w *xmlWriter) element(name string, attrs []string, list []annotation) {
	if len(list) == 0 {
		w.leaf(name, attrs...)
		return
	}
	w.open(name, attrs...)
	w.annotations(list)
	w.close(name)
}

// open writes a start tag; attrs alternate between name and value.
func (w *xmlWriter) open(name string, attrs ...string) {
	w.tag(name, attrs)
	w.b.WriteString(">\n")
	w.depth++
}

func (w *xmlWriter) leaf(name string, attrs ...string) {
	w.tag(name, attrs)
	w.b.WriteString("/>\n")
}

func (w *xmlWriter) close(name string) {
	w.depth--
	w.indent()
	w.b.WriteString("</" + name + ">\n")
}

func (w *xmlWriter) tag(name string, attrs []string) {
	w.indent()
	w.b.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		w.b.WriteString(" " + attrs[i] + `="`)
		w.escape(attrs[i+1])
		w.b.WriteByte('"')
	}
}

func (w *xmlWriter) indent() {
	for range w.depth {
		w.b.WriteString("  ")
	}
}

// escape writes text for an attribute or an element; the buffer keeps the error.
func (w *xmlWriter) escape(s string) { _ = xml.EscapeText(w.b, []byte(s)) }
