package odatatest_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// applied checks that each annotation is of a term that the vocabularies have, that the
// term goes with what it is applied to, and that its value is of the term's type: records
// have the properties of their types, enumerations their members. The schemas do not
// know terms.
func applied(t *testing.T, doc []byte) {
	t.Helper()
	faults, seen := faultsOfTerms(t, doc)
	if seen < 20 {
		t.Errorf("only %d annotations", seen)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// faultsOfTerms are what applied reports, and how many annotations there are.
func faultsOfTerms(t *testing.T, doc []byte) (faults []string, seen int) {
	t.Helper()
	var root element
	if err := xml.Unmarshal(doc, &root); err != nil {
		t.Fatal(err)
	}
	v := &vocabularies{T: t, all: map[string]map[string]json.RawMessage{}, kinds: map[string]string{}}
	for alias, file := range map[string]string{
		"Core": "Org.OData.Core.V1", "Capabilities": "Org.OData.Capabilities.V1", "Aggregation": "Org.OData.Aggregation.V1", "Measures": "Org.OData.Measures.V1",
		"Common": "com.sap.vocabularies.Common.v1", "UI": "com.sap.vocabularies.UI.v1",
	} {
		v.load(alias, file)
	}
	v.walk(root, nil)
	return v.faults, v.seen
}

// element is any element of the document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// definition is a term, a type, or a property of one, in CSDL JSON.
type definition struct {
	Kind       string   `json:"$Kind"`
	Type       string   `json:"$Type"`
	Base       string   `json:"$BaseType"`
	Collection bool     `json:"$Collection"`
	Nullable   bool     `json:"$Nullable"`
	Default    any      `json:"$DefaultValue"`
	To         []string `json:"$AppliesTo"`
	Requires   string   `json:"@Core.RequiresType"`
}

type vocabularies struct {
	*testing.T

	all   map[string]map[string]json.RawMessage
	kinds map[string]string // what a target is, by its name
	// faults are those found, seen is the number of annotations.
	faults []string
	seen   int
}

func (v *vocabularies) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

func (v *vocabularies) load(alias, namespace string) {
	v.Helper()
	text, err := os.ReadFile("testdata/" + namespace + ".json")
	if err != nil {
		v.Fatal(err)
	}
	var doc, elements map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		v.Fatal(err)
	}
	if err := json.Unmarshal(doc[namespace], &elements); err != nil {
		v.Fatal(err)
	}
	v.all[alias] = elements
}

func (v *vocabularies) raw(name string) json.RawMessage {
	alias, local, _ := strings.Cut(name, ".")
	return v.all[alias][local]
}

func (v *vocabularies) definition(name string) (d definition, ok bool) {
	raw := v.raw(name)
	return d, raw != nil && json.Unmarshal(raw, &d) == nil
}

// walk looks at an element and all below it; above leads to it.
func (v *vocabularies) walk(e element, above []element) {
	switch e.XMLName.Local {
	case "EntityContainer", "EntitySet", "Singleton":
		v.kinds[e.attr("Name")] = e.XMLName.Local
	case "Annotation":
		v.annotation(e, above[len(above)-1])
	}
	for _, c := range e.Children {
		v.walk(c, append(above[:len(above):len(above)], e))
	}
}

func (v *vocabularies) annotation(e, on element) {
	v.seen++
	name, target := e.attr("Term"), on.XMLName.Local
	if target == "Annotations" {
		path := on.attr("Target")
		target = v.kinds[path[strings.LastIndexAny(path, "./")+1:]]
	}
	term, known := v.definition(name)
	if !known || term.Kind != "Term" || len(term.To) > 0 && !slices.Contains(term.To, target) {
		v.fault("%s is applied to a %s, and goes with %v", name, target, term.To)
		return
	}
	if term.Requires != "" && target == "Property" && on.attr("Type") != term.Requires {
		v.fault("%s is applied to %s, and goes with %s", name, on.attr("Type"), term.Requires)
	}
	v.value(name, e, term)
}

// value checks the expression of an annotation or of a property value.
func (v *vocabularies) value(where string, e element, want definition) {
	if want.Collection {
		if len(e.Children) == 0 || e.Children[0].XMLName.Local != "Collection" {
			v.fault("%s is no collection", where)
			return
		}
		want.Collection = false
		for _, item := range e.Children[0].Children {
			v.item(where, item, want)
		}
		return
	}
	for _, c := range e.Children {
		if c.XMLName.Local == "Record" {
			v.record(where, c, want)
			return
		}
	}
	v.scalar(where, e, want)
}

func (v *vocabularies) item(where string, e element, want definition) {
	switch kind := e.XMLName.Local; {
	case kind == "Record":
		v.record(where, e, want)
	case kind == "String" && (want.Type == "" || v.primitive(want.Type) == "Edm.String"), "Edm."+kind == want.Type:
	default:
		v.fault("%s has a %s, and should have %s", where, kind, want.Type)
	}
}

// primitive is what a type definition stands for.
func (v *vocabularies) primitive(name string) string {
	var d struct {
		Kind       string `json:"$Kind"`
		Underlying string `json:"$UnderlyingType"`
	}
	if raw := v.raw(name); raw != nil && json.Unmarshal(raw, &d) == nil && d.Kind == "TypeDefinition" {
		if d.Underlying == "" {
			return "Edm.String"
		}
		return d.Underlying
	}
	return name
}

func (v *vocabularies) scalar(where string, e element, want definition) {
	is := func(attr string) bool {
		return slices.ContainsFunc(e.Attrs, func(a xml.Attr) bool { return a.Name.Local == attr })
	}
	if is("Path") && (want.Type == "" || strings.HasPrefix(want.Type, "Edm.") && !strings.HasSuffix(want.Type, "Path")) {
		return
	}
	kind := v.primitive(want.Type)
	d, isEnum := v.definition(want.Type)
	ok := false
	switch {
	case isEnum && d.Kind == "EnumType":
		typ, member, _ := strings.Cut(e.attr("EnumMember"), "/")
		var members map[string]any
		_ = json.Unmarshal(v.raw(want.Type), &members)
		_, has := members[member]
		ok = typ == want.Type && has
	case kind == "", kind == "Edm.String", strings.HasPrefix(kind, "Edm.") && is("String") && kind == "Edm.Untyped":
		ok = is("String")
	case kind == "Edm.Boolean":
		ok = is("Bool")
	case strings.HasPrefix(kind, "Edm.Int"):
		ok = is("Int")
	default:
		ok = is(strings.TrimPrefix(kind, "Edm."))
	}
	if !ok {
		v.fault("%s is of the type %q, and has %v", where, want.Type, e.Attrs)
	}
}

// record checks that each property of a record is one of its type, and that none is
// missing that must be there.
func (v *vocabularies) record(where string, e element, want definition) {
	name := e.attr("Type")
	if name == "" {
		name = want.Type
	}
	properties := map[string]definition{}
	isKind := false
	for at := name; at != ""; {
		isKind = isKind || at == want.Type
		d, ok := v.definition(at)
		if !ok || d.Kind != "ComplexType" {
			v.fault("%s: there is no type %s", where, at)
			return
		}
		var members map[string]json.RawMessage
		_ = json.Unmarshal(v.raw(at), &members)
		for name, raw := range members {
			var p definition
			if !strings.ContainsAny(name, "$@") && json.Unmarshal(raw, &p) == nil {
				properties[name] = p
			}
		}
		at = d.Base
	}
	if !isKind {
		v.fault("%s: %s is no %s", where, name, want.Type)
	}
	for _, c := range e.Children {
		property := c.attr("Property")
		d, ok := properties[property]
		if !ok {
			v.fault("%s: %s has no property %q", where, name, property)
			continue
		}
		delete(properties, property)
		v.value(where+" "+property, c, d)
	}
	for property, d := range properties {
		if !d.Nullable && d.Default == nil && !d.Collection && (strings.HasPrefix(name, "UI.") || strings.HasPrefix(name, "Common.")) {
			v.fault("%s: %s lacks %s", where, name, property)
		}
	}
}

// TestTermsAreLookedAt holds the check of terms to its word: it finds each of these.
func TestTermsAreLookedAt(t *testing.T) {
	t.Parallel()
	on := func(annotation string) string {
		return `<Property Name="x" Type="Edm.Int32">` + annotation + `</Property>`
	}
	for name, wrong := range map[string]string{
		"unknown term":     on(`<Annotation Term="Common.Lable" String="x"/>`),
		"wrong target":     on(`<Annotation Term="UI.LineItem"><Collection/></Annotation>`),
		"wrong type":       on(`<Annotation Term="Common.Label" Bool="true"/>`),
		"required type":    on(`<Annotation Term="Core.IsURL" Bool="true"/>`),
		"no collection":    `<EntityType Name="T"><Annotation Term="UI.LineItem" Path="x"/></EntityType>`,
		"unknown property": `<EntityType Name="T"><Annotation Term="UI.LineItem"><Collection><Record Type="UI.DataField"><PropertyValue Property="Value" Path="x"/><PropertyValue Property="Walue" Path="x"/></Record></Collection></Annotation></EntityType>`,
		"missing property": `<EntityType Name="T"><Annotation Term="UI.HeaderInfo"><Record><PropertyValue Property="TypeName" String="x"/></Record></Annotation></EntityType>`,
		"another type":     `<EntityType Name="T"><Annotation Term="UI.LineItem"><Collection><Record Type="UI.ReferenceFacet"><PropertyValue Property="Target" AnnotationPath="x"/></Record></Collection></Annotation></EntityType>`,
		"unknown member":   on(`<Annotation Term="Common.Text" Path="x"><Annotation Term="UI.TextArrangement" EnumMember="UI.TextArrangementType/First"/></Annotation>`),
		"text for a path":  `<EntityType Name="T"><Annotation Term="Common.SemanticKey"><Collection><String>x</String></Collection></Annotation></EntityType>`,
	} {
		if faults, _ := faultsOfTerms(t, []byte(wrong)); len(faults) != 1 {
			t.Errorf("%s: %q", name, faults)
		}
	}
}
