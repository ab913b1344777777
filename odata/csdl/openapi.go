package csdl

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// OpenAPI writes the model as an OpenAPI 3.1 document in JSON, as the committee's OData
// to OpenAPI Mapping 1.0 has it: a path for each set, each entity by its key, each
// navigation property of one, $count and $batch, with the query options as parameters,
// and a schema for each type. root is the URL of the service, relative to the document
// or absolute. Only the sets that show admits appear, and only ways that lead to them.
func OpenAPI(to io.Writer, m *edm.Model, root string, o Options, show func(*edm.EntitySet) bool) error {
	a := &api{speaker: newSpeaker(m, o.Language), show: show, security: o.Security, applies: len(o.Transformations) > 0, tokens: o.KeyLinks, shown: map[string]bool{}}
	var tags []any
	for _, s := range a.sets() {
		tag := record{{"name", s.Name}}
		tags = append(tags, described(tag, cmp.Or(a.say(s.Description), a.say(s.Type.Look.Plural))))
		a.paths(s)
	}
	a.batch()
	server := strings.TrimSuffix(root, "/")
	if server == "" {
		server = "/"
	}
	w := &jsonWriter{b: bufio.NewWriter(to), namespace: m.Namespace}
	w.value(record{
		{"openapi", "3.1.0"},
		{"info", record{
			{"title", "Service for namespace " + m.Namespace},
			{"description", "An OData " + o.version() + " service" + a.readOnly() + ". Its model is also in $metadata."},
			{"version", "1.0"},
		}},
		{"servers", []any{record{{"url", server}}}},
		{"tags", append(tags, record{{"name", batchTag}})},
		{"paths", a.all},
		{"components", append(record{
			{"schemas", append(a.schemas(), commonSchemas()...)},
			{"parameters", append(a.common(), a.parameters...)},
			{"responses", a.commonResponses()},
		}, a.security.schemes()...)},
	})
	return w.b.Flush()
}

const batchTag = "Batch Requests"

// api collects the parts of one document.
type api struct {
	speaker
	show     func(*edm.EntitySet) bool
	security Security
	// asks tells that there is a guard that asks who it is.
	asks bool
	// applies tells that there is $apply.
	applies bool
	// tokens reports whether next links carry $skiptoken.
	tokens bool
	// all are the paths; parameters those that belong to one type.
	all, parameters record
	// shown are the names of parameters.
	shown map[string]bool
}

// sets are the sets and singletons that appear.
func (a *api) sets() []*edm.EntitySet {
	return slices.DeleteFunc(a.model.All(), func(s *edm.EntitySet) bool { return !a.show(s) })
}

// ways are the navigation properties of a type that lead to what appears.
func (a *api) ways(t *edm.EntityType) []*edm.Navigation {
	return slices.DeleteFunc(slices.Clone(t.Navigation), func(n *edm.Navigation) bool { return !a.show(n.Target) })
}

// paths adds those of a set or a singleton.
func (a *api) paths(s *edm.EntitySet) {
	of := operation{path: "/" + url.PathEscape(s.Name), names: []string{s.Name}, tags: []any{s.Name}, guards: []edm.Guard{s.Guard}}
	if s.Single() {
		of.does, of.summary = "get", "Get "+s.Name
	} else {
		of.does, of.summary = "list", "Get entities from "+s.Name
		a.get(of, a.forMany(s), a.many(s.Type))
		if s.Write != nil && s.Write.Create {
			a.creates(of, s, "Add new entity to "+s.Name)
		}
		a.count(of, s)
		of.path, of.keys = keyed(of.path, s.Type.Key)
		of.does, of.summary = "get", "Get entity from "+s.Name+" by key"
	}
	a.get(of, a.forOne(s), one(a.schema(s.Type)))
	a.changes(of, s)
	a.related(of.path, of.keys, s)
}

// related adds the paths of the navigation properties below an entity.
func (a *api) related(path string, keys []any, s *edm.EntitySet) {
	for _, n := range a.ways(s.Type) {
		below := path + "/" + url.PathEscape(n.Name)
		tags := []any{s.Name}
		if n.Target.Name != s.Name {
			tags = append(tags, n.Target.Name)
		}
		of := operation{path: below, keys: keys, names: []string{s.Name, n.Name}, tags: tags, guards: []edm.Guard{s.Guard, n.Target.Guard}}
		if !n.Collection {
			of.does, of.summary = "get", "Get related "+n.Name
			a.get(of, a.forOne(n.Target), one(a.schema(n.Target.Type)))
			continue
		}
		of.does, of.summary = "list", "Get entities from related "+n.Name
		a.get(of, a.forMany(n.Target), a.many(n.Target.Type))
		if s.CreatesBelow(n) {
			a.creates(of, n.Target, "Add new entity to related "+n.Name)
		}
		a.count(of, n.Target)
	}
}

// count adds the path of the number of entities in a collection.
func (a *api) count(of operation, s *edm.EntitySet) {
	options := []any{ref("parameters", "filter")}
	if s.Searchable {
		options = append([]any{ref("parameters", "search")}, options...)
	}
	of.does, of.summary = "count", "Count entities of "+strings.TrimPrefix(of.path, "/")
	of.path += "/$count"
	a.get(of, options, record{
		{"description", "The number of entities"},
		{"content", record{{"text/plain", record{{"schema", record{{"type", "integer"}, {"minimum", 0}}}}}}},
	})
}

// operation is one method of a path.
type operation struct {
	path string
	keys []any
	// does and names make the id: what is done, and the names of the set and of the navigation property.
	does    string
	names   []string
	summary string
	tags    []any
	guards  []edm.Guard
}

// id is stable as long as the names are, and belongs to one operation: no name has a hyphen in it. Generators of clients make
// a method of it, such as listProducts.
func (o operation) id() string {
	id := o.does
	for _, name := range o.names {
		id += "-" + component(name)
	}
	return id
}

func (a *api) get(of operation, options []any, ok record) {
	var item record
	if len(of.keys) > 0 {
		item = append(item, field{"parameters", of.keys})
	}
	do := record{{"summary", of.summary}, {"operationId", of.id()}, {"tags", of.tags}}
	do = append(do, a.needs(of.guards...)...)
	do = append(do, field{"parameters", options}, field{"responses", a.responses(ok, of.guards...)})
	a.all = append(a.all, field{of.path, append(item, field{"get", do})})
}

// add adds a further method to the path that was added last.
func (a *api) add(method string, do record) {
	last := &a.all[len(a.all)-1]
	item, _ := last.value.(record)
	last.value = append(item, field{method, do})
}

// keyed gives the path of an entity, with a parameter for each key property (mapping
// 4.5.1): by value alone where there is one of them.
func keyed(path string, key []*edm.Property) (string, []any) {
	var pairs []string
	var list []any
	for _, p := range key {
		value := "{" + p.Name + "}"
		if k := p.Type.Kind; k == edm.String || k == edm.Enum || k == edm.Duration || k == edm.Binary {
			value = "'" + value + "'"
			switch k { // the others have no prefix
			case edm.Duration:
				value = "duration" + value
			case edm.Binary:
				value = "binary" + value
			}
		}
		if len(key) > 1 {
			value = url.PathEscape(p.Name) + "=" + value
		}
		pairs = append(pairs, value)
		list = append(list, record{
			{"name", p.Name}, {"in", "path"}, {"required", true}, {"description", "key: " + p.Name}, {"schema", keySchema(p.Type)},
		})
	}
	return path + "(" + strings.Join(pairs, ",") + ")", list
}

// forMany are the query options of a collection, forOne those of an entity.
func (a *api) forMany(s *edm.EntitySet) []any {
	out := []any{ref("parameters", "top"), ref("parameters", "skip")}
	if a.tokens {
		out = append(out, ref("parameters", "skiptoken"))
	}
	if s.Searchable {
		out = append(out, ref("parameters", "search"))
	}
	out = append(out, ref("parameters", "filter"), ref("parameters", "count"), ref("parameters", "compute"))
	if a.applies && !s.NoApply {
		out = append(out, ref("parameters", "apply"))
	}
	return append(append(out, ref("parameters", a.own(s.Type, "orderby"))), a.forOne(s)...)
}

func (a *api) forOne(s *edm.EntitySet) []any {
	out := []any{ref("parameters", a.own(s.Type, "select"))}
	if len(a.ways(s.Type)) > 0 {
		out = append(out, ref("parameters", a.own(s.Type, "expand")))
	}
	return out
}

// own gives the name of a parameter that belongs to a type, and adds it where it comes
// up for the first time.
func (a *api) own(t *edm.EntityType, option string) string {
	name := component(t.Name) + "-" + option
	if a.shown[name] {
		return name
	}
	a.shown[name] = true
	var values []any
	does := ""
	switch option {
	case "orderby":
		does = "Order items by property values"
		for _, p := range t.Properties {
			if p.Type.Kind != edm.Complex && p.Type.Kind != edm.Stream {
				values = append(values, p.Name, p.Name+" desc")
			}
		}
	case "select":
		does = "Select properties to be returned"
		for _, p := range t.Properties {
			values = append(values, p.Name)
		}
	case "expand":
		does, values = "Expand related entities", []any{"*"}
		for _, n := range a.ways(t) {
			values = append(values, n.Name)
		}
	}
	a.parameters = append(a.parameters, field{name, record{
		{"name", "$" + option},
		{"in", "query"},
		{"description", see(does, option)},
		{"explode", false},
		{"schema", record{{"type", "array"}, {"uniqueItems", true}, {"items", record{{"type", "string"}, {"enum", values}}}}},
	}})
	return name
}

func see(does, section string) string {
	return fmt.Sprintf("%s, see [$%s](https://docs.oasis-open.org/odata/odata/v4.01/odata-v4.01-part1-protocol.html#sec_SystemQueryOption%s)", does, section, section)
}

// component makes a name for a place in components, which holds letters of ASCII,
// digits, and -._ only.
func component(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r < 0x80 && (r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, ".%X", r)
		}
	}
	return b.String()
}

func ref(kind, name string) record { return record{{"$ref", "#/components/" + kind + "/" + name}} }

func described(r record, text string) record {
	if text == "" {
		return r
	}
	return append(r, field{"description", text})
}
