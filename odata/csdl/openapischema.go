package csdl

import (
	"cmp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// schema refers to that of a type of the model.
func (a *api) schema(t *edm.EntityType) record { return a.named(t.Name) }

func (a *api) named(name string) record {
	return ref("schemas", component(a.model.Namespace)+"."+component(name))
}

// schemas are those of all types that appear (mapping 4.6).
func (a *api) schemas() record {
	var out record
	seen := map[*edm.EntityType]bool{}
	add := func(name string, schema record) {
		out = append(out, field{component(a.model.Namespace) + "." + component(name), schema})
	}
	for _, s := range a.sets() {
		if !seen[s.Type] {
			seen[s.Type] = true
			add(s.Type.Name, a.entity(s.Type))
		}
		if w := s.Write; w != nil && w.Create {
			out = append(out, field{a.bodyName(s, create), a.written(s, create)})
		}
		if w := s.Write; w != nil && w.Update {
			out = append(out, field{a.bodyName(s, update), a.written(s, update)})
		}
	}
	complexes, enums := a.used(seen)
	for _, c := range a.model.Complexes {
		if complexes[c] {
			add(c.Name, described(record{{"title", c.Name}, {"type", "object"}, {"properties", a.properties(c.Properties)}}, a.say(c.Description)))
		}
	}
	for _, e := range a.model.Enums {
		if enums[e] {
			add(e.Name, enumSchema(e))
		}
	}
	return out
}

// used are the complex types and enumerations that the properties of entity types have.
func (a *api) used(types map[*edm.EntityType]bool) (map[*edm.ComplexType]bool, map[*edm.EnumType]bool) {
	complexes, enums := map[*edm.ComplexType]bool{}, map[*edm.EnumType]bool{}
	var walk func([]*edm.Property)
	walk = func(list []*edm.Property) {
		for _, p := range list {
			if c := p.Type.Complex; c != nil && !complexes[c] {
				complexes[c] = true
				walk(c.Properties)
			}
			if e := p.Type.Enum; e != nil {
				enums[e] = true
			}
		}
	}
	for t := range types {
		walk(t.Properties)
	}
	return complexes, enums
}

func (a *api) entity(t *edm.EntityType) record {
	properties := a.properties(t.Properties)
	for _, n := range a.ways(t) {
		of := a.schema(n.Target.Type)
		if n.Collection {
			properties = append(properties,
				field{n.Name, described(record{{"type", "array"}, {"items", of}}, a.say(n.Description))},
				field{n.Name + "@odata.count", ref("schemas", "count")},
			)
			continue
		}
		if n.Nullable {
			of = orNull(of)
		}
		properties = append(properties, field{n.Name, described(of, a.say(n.Description))})
	}
	title := cmp.Or(a.say(t.Look.Title), t.Name)
	return described(record{{"title", title}, {"type", "object"}, {"properties", properties}}, a.say(t.Description))
}

func (a *api) properties(list []*edm.Property) record {
	out := record{}
	for _, p := range list {
		if p.Type.Kind == edm.Stream { // its value has a URL of its own
			continue
		}
		out = append(out, field{p.Name, described(append(a.property(p), field{"title", a.say(p.Label())}), a.say(p.Description))})
	}
	return out
}

// property is the schema of a value (mapping 4.6.2 to 4.6.8). Numbers of arbitrary
// precision are text for clients that ask for IEEE754Compatible.
func (a *api) property(p *edm.Property) record {
	switch p.Type.Kind { // the others are primitive
	case edm.Enum:
		return orNullIf(p.Nullable, a.named(p.Type.Enum.Name))
	case edm.Complex:
		return orNullIf(p.Nullable, a.named(p.Type.Complex.Name))
	}
	types, format := jsonTypes(p.Type.Kind)
	if p.Nullable {
		types = append(types, "null")
	}
	out := record{{"type", types}}
	if len(types) == 1 {
		out = record{{"type", types[0]}}
	}
	if format != "" {
		out = append(out, field{"format", format})
	}
	if least, greatest := p.Type.Kind.Bounds(); p.Type.Kind.Integer() && p.Type.Kind != edm.Int64 {
		out = append(out, field{"minimum", least}, field{"maximum", greatest})
	}
	if p.Type.Kind == edm.String && p.Type.MaxLength > 0 {
		out = append(out, field{"maxLength", p.Type.MaxLength})
	}
	return out
}

// jsonTypes are the JSON types of a primitive kind, with a format of the OpenAPI
// registry.
func jsonTypes(k edm.Kind) (types []any, format string) {
	switch k { // the others are text
	case edm.Boolean:
		return []any{"boolean"}, ""
	case edm.Byte:
		return []any{"integer"}, "uint8"
	case edm.SByte:
		return []any{"integer"}, "int8"
	case edm.Int16:
		return []any{"integer"}, "int16"
	case edm.Int32:
		return []any{"integer"}, "int32"
	case edm.Int64:
		return []any{"integer", "string"}, "int64"
	case edm.Decimal:
		return []any{"number", "string"}, "decimal"
	case edm.Single:
		return []any{"number", "string"}, "float"
	case edm.Double:
		return []any{"number", "string"}, "double"
	}
	formats := map[edm.Kind]string{
		edm.Guid: "uuid", edm.Date: "date", edm.DateTimeOffset: "date-time", edm.TimeOfDay: "time-local", edm.Duration: "duration", edm.Binary: "base64url",
	}
	return []any{"string"}, formats[k]
}

// keySchema is that of a key in a path, where numbers need no quotes.
func keySchema(t edm.Type) record {
	types, format := jsonTypes(t.Kind)
	out := record{{"type", types[0]}}
	if format != "" {
		out = append(out, field{"format", format})
	}
	return out
}

// enumSchema has the names of the members; a value without a name is its number.
func enumSchema(e *edm.EnumType) record {
	var names []any
	for _, m := range e.Members {
		names = append(names, m.Name)
	}
	if e.Flags {
		text := "Names of members, separated by commas; a value without a name is its number."
		if e.Description != "" {
			text = e.Description + " " + text
		}
		return record{{"title", e.Name}, {"type", "string"}, {"description", text}, {"examples", names}}
	}
	out := record{{"title", e.Name}, {"anyOf", []any{
		record{{"type", "string"}, {"enum", names}},
		record{{"type", "string"}, {"pattern", "^-?[0-9]+$"}, {"description", "A value without a name"}},
	}}}
	return described(out, e.Description)
}

func orNullIf(nullable bool, r record) record {
	if nullable {
		return orNull(r)
	}
	return r
}

func orNull(r record) record {
	return record{{"anyOf", []any{r, record{{"type", "null"}}}}}
}

// many is the answer with a collection, one that with an entity.
func (a *api) many(t *edm.EntityType) record {
	return record{
		{"description", "Retrieved entities"},
		{"content", record{
			{"application/json", record{{"schema", record{
				{"type", "object"},
				{"title", "Collection of " + t.Name},
				{"properties", record{
					{"@odata.count", ref("schemas", "count")},
					{"value", record{{"type", "array"}, {"items", a.schema(t)}}},
					{"@odata.nextLink", record{{"type", "string"}, {"format", "uri"}, {"description", "The next page; absent on the last one"}}},
				}},
			}}}},
			{"text/csv", record{{"schema", record{{"type", "string"}}}}},
		}},
	}
}

func one(schema record) record {
	return record{{"description", "Retrieved entity"}, {"content", jsonContent(schema)}}
}

func jsonContent(schema record) record {
	return record{{"application/json", record{{"schema", schema}}}}
}
