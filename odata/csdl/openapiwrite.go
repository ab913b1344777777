package csdl

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// The bodies of requests that write, by the ends of the names of their schemas. No name of a type has a hyphen.
const create, update = "create", "update"

// bodyName gives the name of the schema of a body.
func (a *api) bodyName(s *edm.EntitySet, does string) string {
	return component(a.model.Namespace) + "." + component(s.Name) + "-" + does
}

// readOnly says so of a service of which nothing that appears can be written.
func (a *api) readOnly() string {
	if slices.ContainsFunc(a.sets(), func(s *edm.EntitySet) bool { return s.Write != nil }) {
		return ""
	}
	return " that is read only"
}

// batched are the methods of the parts of a batch.
func (a *api) batched() []any {
	if a.readOnly() != "" {
		return []any{"get"}
	}
	return []any{"get", "post", "patch", "put", "delete"}
}

// creates adds the POST of a set, or of a collection below an entity, to its path (mapping 4.5.3).
func (a *api) creates(of operation, s *edm.EntitySet, summary string) {
	of.does, of.summary = create, summary
	do := a.write(of, nil, record{{"requestBody", body("New entity", ref("schemas", a.bodyName(s, create)))}})
	made := record{{"description", "Created entity"}, {"content", jsonContent(a.schema(s.Type))}}
	a.add("post", append(do, field{"responses", a.answers(field{"201", made}, of.guards...)}))
}

// changes adds PATCH and DELETE of an entity to its path (mapping 4.5.5).
func (a *api) changes(of operation, s *edm.EntitySet) {
	if s.Write == nil {
		return
	}
	done := field{"204", record{{"description", "Success"}}}
	if s.Write.Update {
		of.does, of.summary = update, "Update entity in "+s.Name
		tag, answers := matchHeader(true, "The @odata.etag of the entity, or * for any"), record{{"200", one(a.schema(s.Type))}}
		if s.Upserts() {
			of.summary = "Update entity in " + s.Name + ", or create it"
			tag = matchHeader(false, "The @odata.etag of the entity, or * for any; none creates the entity")
			answers = append(answers, field{"201", record{{"description", "Created entity"}, {"content", jsonContent(a.schema(s.Type))}}})
		}
		do := a.write(of, tag, record{{"requestBody", body("New property values", ref("schemas", a.bodyName(s, update)))}})
		a.add("patch", append(do, field{"responses", append(answers, a.answers(done, of.guards...)...)}))
	}
	if s.Write.Delete {
		of.does, of.summary = "delete", "Delete entity from "+s.Name
		tag := matchHeader(true, "The @odata.etag of the entity, or * for any")
		a.add("delete", append(a.write(of, tag, nil), field{"responses", a.answers(done, of.guards...)}))
	}
}

func matchHeader(required bool, text string) []any {
	return []any{record{
		{"name", "If-Match"},
		{"in", "header"},
		{"required", required},
		{"description", text},
		{"schema", record{{"type", "string"}}},
	}}
}

// write gives an operation that changes something, but for its responses. Its caller needs a session or a token, whatever the
// guard is.
func (a *api) write(of operation, parameters []any, more record) record {
	do := record{{"summary", of.summary}, {"operationId", of.id()}, {"tags", of.tags}}
	do = append(do, a.needs(append(of.guards, edm.GuardSettled)...)...)
	if parameters != nil {
		do = append(do, field{"parameters", parameters})
	}
	return append(do, more...)
}

func body(text string, schema record) record {
	return record{{"required", true}, {"description", text}, {"content", jsonContent(schema)}}
}

// written is the schema of a body: the properties that a client may give (mapping 4.6.1).
func (a *api) written(s *edm.EntitySet, does string) record {
	p := pathsOf(s)
	left := p.computed
	if does == update {
		left = append(left, p.immutable...)
	}
	properties := slices.DeleteFunc(slices.Clone(s.Type.Properties), func(p *edm.Property) bool {
		return slices.Contains(left, any(propertyPath(p.Name)))
	})
	shown := append(a.properties(properties), a.links(s, does)...)
	out := record{{"title", s.Type.Name}, {"type", "object"}, {"properties", shown}}
	var required []any
	for _, path := range p.required {
		name, _ := path.(propertyPath)
		if p := s.Type.Property(string(name)); does == create && p != nil && !linked(s, p) {
			required = append(required, string(name))
		}
	}
	return append(out, listed("required", required)...)
}

// linked reports whether a link can give a property of a new entity its value.
func linked(s *edm.EntitySet, p *edm.Property) bool {
	return slices.ContainsFunc(s.Type.Navigation, func(n *edm.Navigation) bool {
		return s.Binds(n) && slices.ContainsFunc(n.HeldPaths(), func(path []*edm.Property) bool { return len(path) == 1 && path[0] == p })
	})
}

// links are the navigation properties in a body: entities to be created with a new one, and addresses of others.
func (a *api) links(s *edm.EntitySet, does string) record {
	var out record
	for _, n := range a.ways(s.Type) {
		if does == create && s.DeepInserts(n) {
			of := ref("schemas", a.bodyName(n.Target, create))
			if n.Collection {
				of = record{{"type", "array"}, {"items", of}}
			}
			out = append(out, field{n.Name, of})
		}
		if s.Relinks(n) || does == create && !n.Collection && s.Binds(n) {
			of := record{{"type", "string"}, {"format", "uri-reference"}}
			if n.Collection {
				of = record{{"type", "array"}, {"items", of}}
			}
			out = append(out, field{n.Name + "@odata.bind", of})
		}
	}
	return out
}
