package csdl

import (
	"cmp"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// path is a path expression, propertyPath, navigationPath and annotationPath are those that name an
// element of the model (OData-CSDL 14.4.1).
type (
	path           string
	propertyPath   string
	navigationPath string
	annotationPath string
)

// typed is a record whose type the term leaves open: name is that of the type with the
// alias of its vocabulary.
type typed struct {
	name   string
	record record
}

// noted is a path that is the value of an annotation, which is annotated itself
// (OData-CSDL 14.2.2).
type noted struct {
	value path
	notes []annotation
}

// speaker gives texts in the language of a document.
type speaker struct {
	model    *edm.Model
	language string
	access   map[*edm.Property]edm.Access
}

func newSpeaker(m *edm.Model, language string) speaker { return speaker{m, language, accesses(m)} }

func (s speaker) say(text string) string { return s.model.Text(s.language, text) }

func (s speaker) describe(text string) []annotation { return describe(s.say(text)) }

// lookOf gives what tables and forms want to know of a property.
func (s speaker) lookOf(p *edm.Property) []annotation {
	l := &p.Look
	out := []annotation{{"Common.Label", s.say(p.Label())}}
	if l.Text != "" {
		first := annotation{"UI.TextArrangement", enumMember{"UI.TextArrangementType", "TextFirst"}}
		out = append(out, annotation{"Common.Text", noted{path(l.Text), []annotation{first}}})
	}
	out = append(out, measure("Measures.ISOCurrency", l.Currency)...)
	out = append(out, measure("Measures.Unit", l.Unit)...)
	if l.ValueList != nil {
		out = append(out, annotation{"Common.ValueList", s.valueList(p, l.ValueList)})
	}
	if l.Hidden {
		out = append(out, annotation{"UI.Hidden", true})
	}
	if term := formatTerm(l.Format); term != "" {
		out = append(out, annotation{term, true})
	}
	return out
}

// lookOfNavigation gives the label of a navigation property where the model's texts have the
// words of its name, which is all that there is to call it by.
func (s speaker) lookOfNavigation(n *edm.Navigation) []annotation {
	out := s.describe(n.Description)
	if name := edm.Readable(n.Name); s.say(name) != name {
		out = append(out, annotation{"Common.Label", s.say(name)})
	}
	return out
}

// lookOfMember gives what people see for a member of an enumeration.
func (s speaker) lookOfMember(m edm.EnumMember) []annotation {
	return []annotation{{"Common.Label", s.say(cmp.Or(m.Label, edm.Readable(m.Name)))}}
}

func measure(term string, m edm.Measure) []annotation {
	switch {
	case m.Path != "":
		return []annotation{{term, path(m.Path)}}
	case m.Constant != "":
		return []annotation{{term, m.Constant}}
	}
	return nil
}

// valueList names the rows of a set, and what people see of them.
func (s speaker) valueList(p *edm.Property, v *edm.ValueList) record {
	parameters := []any{typed{"Common.ValueListParameterInOut", record{
		{"LocalDataProperty", propertyPath(p.Name)}, {"ValueListProperty", v.Key.Name},
	}}}
	if v.Text != "" {
		parameters = append(parameters, typed{"Common.ValueListParameterDisplayOnly", record{{"ValueListProperty", v.Text}}})
	}
	title := v.Set.Type.Look.Plural
	if title == "" {
		title = edm.Readable(v.Set.Name)
	}
	return record{{"Label", s.say(title)}, {"CollectionPath", v.Set.Name}, {"Parameters", parameters}}
}

// formatTerm is the term for one of edm.Formats.
func formatTerm(format string) string {
	return map[string]string{
		"multiline": "UI.MultiLineText", "url": "Core.IsURL", "image_url": "UI.IsImageURL",
		"upper": "Common.IsUpperCase", "digits": "Common.IsDigitSequence", "masked": "Common.Masked",
		"year": "Common.IsCalendarYear", "quarter": "Common.IsCalendarQuarter", "month": "Common.IsCalendarMonth",
		"week": "Common.IsCalendarWeek", "year_month": "Common.IsCalendarYearMonth",
		"currency": "Common.IsCurrency", "unit": "Common.IsUnit", "timezone": "Common.IsTimezone", "language": "Common.IsLanguageIdentifier",
	}[format]
}

// lookOfType gives what tables and forms want to know of a type.
func (s speaker) lookOfType(t *edm.EntityType) []annotation {
	l := &t.Look
	var out []annotation
	if l.Title != "" || l.Plural != "" {
		head := record{{"TypeName", s.say(cmp.Or(l.Title, l.Plural))}, {"TypeNamePlural", s.say(cmp.Or(l.Plural, l.Title))}}
		if shown := titleOf(t); shown != "" {
			head = append(head, field{"Title", dataField(shown)})
		}
		out = append(out, annotation{"UI.HeaderInfo", head})
	}
	if len(l.SemanticKey) > 0 {
		var keys []any
		for _, p := range l.SemanticKey {
			keys = append(keys, propertyPath(p.Name))
		}
		out = append(out, annotation{"Common.SemanticKey", keys})
	}
	if len(l.Search) > 0 {
		var fields []any
		for _, p := range l.Search {
			fields = append(fields, propertyPath(p))
		}
		out = append(out, annotation{"UI.SelectionFields", fields})
	}
	if len(l.List) > 0 {
		out = append(out, annotation{"UI.LineItem", dataFields(l.List)})
	}
	if len(l.Fields) > 0 {
		facet := typed{"UI.ReferenceFacet", record{{"Label", s.say(cmp.Or(l.Title, edm.Readable(t.Name)))}, {"Target", annotationPath("@UI.FieldGroup")}}}
		out = append(out,
			annotation{"UI.FieldGroup", record{{"Data", dataFields(l.Fields)}}},
			annotation{"UI.Facets", []any{facet}},
		)
	}
	return out
}

// titleOf is the path of what names one entity: its semantic key, the text of that or
// of its key, or else nothing.
func titleOf(t *edm.EntityType) string {
	for _, keys := range [][]*edm.Property{t.Look.SemanticKey, t.Key} {
		if len(keys) != 1 {
			continue
		}
		if text := keys[0].Look.Text; text != "" {
			return text
		}
		if keys[0].Type.Kind == edm.String {
			return keys[0].Name
		}
	}
	return ""
}

func dataFields(paths []string) []any {
	var out []any
	for _, p := range paths {
		out = append(out, dataField(p))
	}
	return out
}

func dataField(p string) typed { return typed{"UI.DataField", record{{"Value", path(p)}}} }

// typeURL is how a record of a type says it in JSON (OData-CSDLJSON 14.4.12).
func typeURL(name string) string {
	alias, local, _ := strings.Cut(name, ".")
	for _, v := range vocabularies() {
		if v.alias == alias {
			return v.uri + ".json#" + v.namespace + "." + local
		}
	}
	return "#" + name
}
