package csdl

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// Options are what the document tells besides the model.
type Options struct {
	// Version is the protocol version of the document: "4.0", which is also what
	// the empty string stands for, or "4.01".
	Version string
	// ExpandDepth is the deepest $expand that the service takes; 0 is not told.
	ExpandDepth int
	// Repeats reports that requests that write can be repeated.
	Repeats bool
	// FilterFunctions are the functions that $filter knows.
	FilterFunctions []string
	// Transformations are those of $apply; empty where there is no $apply.
	Transformations []string
	// Language is one of the languages of the model's texts; the first where it is none.
	Language string
	// KeyLinks reports whether next links carry $skiptoken.
	KeyLinks bool
	// Security is for the OpenAPI document alone.
	Security Security
}

// Security is how callers show who they are where a guard asks for it. The zero value tells of no way.
type Security struct {
	// Cookie is the name of the cookie of a session; empty where there are none.
	Cookie string
	// Bearer tells that tokens in the header Authorization are taken (RFC 6750).
	Bearer bool
}

func (o Options) version() string {
	if o.Version == "" {
		return "4.0"
	}
	return o.Version
}

// level is the conformance level, for both versions (OData-Protocol 13.1, 13.2):
// odata/odatatest/CONFORMANCE.md has the requirements with their tests. Of Advanced, $search on
// every set is missing.
const level = "Intermediate"

// annotation is a term, with "#" and its qualifier behind it where it has one, and its value: a bool, an int, a string, an enumMember,
// a record, or a collection (a slice of such values).
type annotation struct {
	term  string
	value any
}

// enumMember is the value of an enumeration type of a vocabulary.
type enumMember struct{ typ, name string }

// record is a structured value in a fixed order.
type record []field

type field struct {
	name  string
	value any
}

// The vocabularies that the annotations come from, by alias.
type vocabulary struct{ alias, namespace, uri string }

func vocabularies() []vocabulary {
	const (
		base = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/"
		sap  = "https://sap.github.io/odata-vocabularies/vocabularies/"
	)
	return []vocabulary{
		{"Core", "Org.OData.Core.V1", base + "Org.OData.Core.V1"},
		{"Capabilities", "Org.OData.Capabilities.V1", base + "Org.OData.Capabilities.V1"},
		{"Aggregation", "Org.OData.Aggregation.V1", base + "Org.OData.Aggregation.V1"},
		{"Repeatability", "Org.OData.Repeatability.V1", base + "Org.OData.Repeatability.V1"},
		{"Measures", "Org.OData.Measures.V1", base + "Org.OData.Measures.V1"},
		{"Common", "com.sap.vocabularies.Common.v1", sap + "Common"},
		{"UI", "com.sap.vocabularies.UI.v1", sap + "UI"},
	}
}

// ofContainer gives the annotations of the service as a whole.
func ofContainer(m *edm.Model, o Options) []annotation {
	list := func(items ...string) []any {
		out := make([]any, len(items))
		for i, s := range items {
			out[i] = s
		}
		return out
	}
	out := []annotation{
		{"Core.ODataVersions", "4.0 4.01"},
		{"Core.ConventionalIDs", true},
		{"Capabilities.ConformanceLevel", enumMember{"Capabilities.ConformanceLevelType", level}},
		{"Capabilities.SupportedFormats", list(
			"application/json;odata.metadata=minimal",
			"application/json;odata.metadata=none",
			"application/json;odata.metadata=full",
			"application/json;odata.metadata=minimal;IEEE754Compatible=true",
			"application/json;odata.metadata=none;IEEE754Compatible=true",
			"application/json;odata.metadata=full;IEEE754Compatible=true",
			"text/csv",
		)},
		{"Capabilities.AcceptableEncodings", list("gzip")},
		{"Capabilities.AsynchronousRequestsSupported", false},
		{"Capabilities.BatchContinueOnErrorSupported", true},
		{"Capabilities.BatchSupport", record{
			{"Supported", true},
			{"ContinueOnErrorSupported", true},
			{"ReferencesInRequestBodiesSupported", slices.ContainsFunc(m.Sets, func(s *edm.EntitySet) bool { return s.Write != nil })},
			{"ReferencesAcrossChangeSetsSupported", false},
			{"EtagReferencesSupported", false},
			{"RequestDependencyConditionsSupported", false},
			{"SupportedFormats", list("multipart/mixed", "application/json")},
		}},
		{"Capabilities.FilterFunctions", list(o.FilterFunctions...)},
		{"Capabilities.CrossJoinSupported", false},
		{"Capabilities.KeyAsSegmentSupported", true},
		{"Capabilities.QuerySegmentSupported", true},
	}
	if o.Repeats {
		out = append(out, annotation{"Repeatability.Supported", true})
	}
	if o.KeyLinks { // the vocabularies have no term for it
		out = append(out, annotation{"Core.LongDescription", "Next links carry $skiptoken: rows that come and go between two pages neither repeat nor lose others."})
	}
	return out
}

// ofSet gives the restrictions of a set, or of a singleton, where it differs from
// the defaults of the vocabularies.
func ofSet(s *edm.EntitySet, o Options) []annotation {
	var out []annotation
	if !s.Single() {
		out = append(out,
			annotation{"Capabilities.SearchRestrictions", record{{"Searchable", s.Searchable}}},
		)
	}
	out = append(out, writing(s)...)
	if o.ExpandDepth > 0 {
		out = append(out, annotation{"Capabilities.ExpandRestrictions", record{{"MaxLevels", o.ExpandDepth}}})
	}
	return append(out, aggregation(s, o)...)
}

// group are the annotations of one target, apart from it (OData-CSDL 14.2.1).
type group struct {
	target string
	list   []annotation
}

// outside gives the annotations of the container and what is in it. Tools look for
// them by target: Fiori elements, and those that read annotation files.
func outside(m *edm.Model, o Options) []group {
	container := m.Namespace + "." + m.Container
	out := []group{{container, ofContainer(m, o)}}
	for _, s := range m.All() {
		out = append(out, group{container + "/" + s.Name, ofSet(s, o)})
	}
	return out
}

func (s speaker) ofType(t *edm.EntityType) []annotation {
	out := append(s.describe(t.Description), s.lookOfType(t)...)
	if len(t.AlternateKeys) == 0 {
		return out
	}
	var keys []any
	for _, key := range t.AlternateKeys {
		var refs []any
		for _, p := range key {
			refs = append(refs, record{{"Name", propertyPath(p.Name)}, {"Alias", p.Name}})
		}
		keys = append(keys, record{{"Key", refs}})
	}
	return append(out, annotation{"Core.AlternateKeys", keys})
}

func (s speaker) ofProperty(p *edm.Property) []annotation {
	out := append(s.describe(p.Description), s.lookOf(p)...)
	access := s.access[p]
	if p.Computed || access == edm.Computed {
		out = append(out, annotation{"Core.Computed", true})
	}
	if p.Immutable || access == edm.Immutable {
		out = append(out, annotation{"Core.Immutable", true})
	}
	return out
}

func describe(text string) []annotation {
	if text == "" {
		return nil
	}
	return []annotation{{"Core.Description", text}}
}

// facets gives the facets of a property's type, by their XML names, in order.
func facets(t edm.Type) []field {
	var out []field
	if t.MaxLength > 0 {
		out = append(out, field{"MaxLength", t.MaxLength})
	}
	if t.Precision > 0 {
		out = append(out, field{"Precision", t.Precision})
	}
	switch {
	case t.Kind != edm.Decimal:
	case t.Scale == edm.VariableScale:
		out = append(out, field{"Scale", "variable"})
	default:
		out = append(out, field{"Scale", t.Scale})
	}
	return out
}

// bindings gives the navigation property bindings of a set (OData-CSDL 13.4).
func bindings(s *edm.EntitySet) [][2]string {
	var out [][2]string
	for _, n := range s.Type.Navigation {
		out = append(out, [2]string{n.Name, n.Target.Name})
	}
	return out
}

// aggregation lists the transformations of $apply that a set takes (OData Data
// Aggregation 5.1), and the properties that can be aggregated by their names (5.2).
func aggregation(s *edm.EntitySet, o Options) []annotation {
	if len(o.Transformations) == 0 || s.Single() || s.NoApply {
		return nil
	}
	var names []any
	for _, name := range o.Transformations {
		names = append(names, name)
	}
	out := []annotation{{"Aggregation.ApplySupported", record{
		{"Transformations", names},
		{"Rollup", enumMember{"Aggregation.RollupType", "MultipleHierarchies"}},
		{"From", true},
	}}}
	for _, p := range s.Type.Properties {
		if method := s.Type.CustomAggregate(p.Name); method != "" {
			out = append(out, annotation{"Aggregation.CustomAggregate#" + p.Name, edm.Aggregated(method, p.Type).QualifiedName("")})
		}
	}
	return out
}
