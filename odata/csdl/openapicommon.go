package csdl

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// common are the query options that mean the same for every set (mapping 4.5.2).
func (a *api) common() record {
	option := func(name, does string, schema record) field {
		return field{name, record{{"name", "$" + name}, {"in", "query"}, {"description", see(does, name)}, {"schema", schema}}}
	}
	text := record{{"type", "string"}}
	number := record{{"type", "integer"}, {"minimum", 0}}
	out := record{
		option("top", "Show only the first n items", number),
		option("skip", "Skip the first n items", number),
		option("count", "Include count of items", record{{"type", "boolean"}}),
		option("filter", "Filter items by property values", text),
		option("search", "Search items by search phrases", text),
		option("compute", "Compute values of items", text),
	}
	if a.tokens {
		out = append(out, field{"skiptoken", record{
			{"name", "$skiptoken"},
			{"in", "query"},
			{"description", "Where the page begins, as @odata.nextLink of the page before has it, beside the same options but for $skip"},
			{"schema", text},
		}})
	}
	if a.applies {
		out = append(out, field{"apply", record{
			{"name", "$apply"},
			{"in", "query"},
			{"description", "Aggregate items, see [$apply](https://docs.oasis-open.org/odata/odata-data-aggregation-ext/v4.0/odata-data-aggregation-ext-v4.0.html)"},
			{"schema", text},
		}})
	}
	return out
}

// commonSchemas are the schemas of counts and errors (OData-JSON 21.1).
func commonSchemas() record {
	text := record{{"type", "string"}}
	return record{
		{"count", record{
			{"type", []any{"integer", "string"}},
			{"description", "The number of entities in the collection; text under IEEE754Compatible=true"},
		}},
		{"error", record{
			{"type", "object"},
			{"required", []any{"error"}},
			{"properties", record{{"error", record{
				{"type", "object"},
				{"required", []any{"code", "message"}},
				{"properties", record{
					{"code", text},
					{"message", text},
					{"target", record{{"type", "string"}, {"description", "The query option at fault"}}},
					{"innererror", record{
						{"type", "object"},
						{"properties", record{
							{"request_id", record{{"type", "string"}, {"description", "Stands in the log of the service, too"}}},
							{"next", record{{"type", "object"}, {"description", "The step of the sign-in that is open, under the code unsettled"}}},
						}},
					}},
				}},
			}}}},
		}},
	}
}

// batch adds the path for several requests at once (mapping 4.5.6).
func (a *api) batch() {
	first := "Products"
	if sets := a.sets(); len(sets) > 0 {
		first = sets[0].Name
	}
	multipart := "--request-separator\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\nGET " + first + " HTTP/1.1\nAccept: application/json\n\n\n--request-separator--"
	requests := record{
		{"type", "object"},
		{"required", []any{"requests"}},
		{"properties", record{{"requests", record{{"type", "array"}, {"items", record{
			{"type", "object"},
			{"required", []any{"id", "method", "url"}},
			{"properties", record{
				{"id", record{{"type", "string"}}},
				{"method", record{{"type", "string"}, {"enum", a.batched()}}},
				{"url", record{{"type", "string"}}},
			}},
		}}}}}},
	}
	example := record{{"requests", []any{record{{"id", "1"}, {"method", "get"}, {"url", first}}}}}
	do := append(record{
		{"summary", "Sends a group of requests"},
		{"operationId", "batch"},
		{"description", "Group multiple requests into a single request payload, see [Batch Requests](https://docs.oasis-open.org/odata/odata/v4.01/odata-v4.01-part1-protocol.html#sec_BatchRequests)."},
		{"tags", []any{batchTag}},
	}, a.needs()...)
	do = append(do, record{
		{"requestBody", record{
			{"required", true},
			{"description", "Batch request"},
			{"content", record{
				{"multipart/mixed;boundary=request-separator", record{{"schema", record{{"type", "string"}}}, {"example", multipart}}},
				{"application/json", record{{"schema", requests}, {"example", example}}},
			}},
		}},
		{"responses", a.responses(record{{"description", "Batch response"}, {"content", record{
			{"multipart/mixed", record{{"schema", record{{"type", "string"}}}}},
			{"application/json", record{{"schema", record{{"type", "object"}}}}},
		}}})},
	}...)
	a.all = append(a.all, field{"/$batch", record{{"post", do}}})
}

// schemes are the ways in which callers come in, as the last part of components.
func (s Security) schemes() record {
	var list record
	if s.Cookie != "" {
		list = append(list, field{"session", record{
			{"type", "apiKey"}, {"in", "cookie"}, {"name", s.Cookie}, {"description", "The session of a person who has signed in with a browser"},
		}})
	}
	if s.Bearer {
		list = append(list, field{"token", record{
			{"type", "http"}, {"scheme", "bearer"}, {"description", "A token that was made for a person or a program"},
		}})
	}
	if list == nil {
		return nil
	}
	return record{{"securitySchemes", list}}
}

// guarded reports whether the guard of the service, or a further one, asks who it is.
func (a *api) guarded(further []edm.Guard) bool {
	asks := func(g edm.Guard) bool { return g != edm.GuardNone }
	return asks(a.model.Guard) || slices.ContainsFunc(further, asks)
}

// needs lists how the caller of an operation comes in: by any of the ways, or by none.
func (a *api) needs(guards ...edm.Guard) record {
	ways, guarded := []any{}, a.guarded(guards)
	if a.security.Cookie != "" && guarded {
		ways = append(ways, record{{"session", []any{}}})
	}
	if a.security.Bearer && guarded {
		ways = append(ways, record{{"token", []any{}}})
	}
	if len(ways) == 0 && guarded {
		return nil // there is one, but the service does not tell
	}
	return record{{"security", ways}}
}

// responses are those of an operation.
func (a *api) responses(ok record, guards ...edm.Guard) record {
	return a.answers(field{"200", ok}, guards...)
}

func (a *api) answers(ok field, guards ...edm.Guard) record {
	out := record{ok}
	if a.guarded(guards) {
		a.asks = true
		out = append(out, field{"401", ref("responses", "unauthenticated")})
	}
	return append(out,
		field{"429", ref("responses", "busy")}, field{"4XX", ref("responses", "error")},
		field{"503", ref("responses", "unavailable")}, field{"5XX", ref("responses", "error")},
	)
}

// commonResponses are the answers that operations have in common (mapping 4.6.11).
func (a *api) commonResponses() record {
	fault := func(text string, more ...field) record {
		return append(append(record{{"description", text}}, more...), field{"content", jsonContent(ref("schemas", "error"))})
	}
	later := field{"headers", record{{"Retry-After", record{
		{"description", "In how many seconds it makes sense to ask again"}, {"schema", record{{"type", "integer"}, {"minimum", 1}}},
	}}}}
	out := record{
		{"error", fault("Error")},
		{"busy", fault("This client uses its share of the database, or had too many credentials that are not valid", later)},
		{"unavailable", fault("The database is too slow, away, or in use by others", later)},
	}
	if a.asks {
		out = append(out, field{"unauthenticated", fault("Nobody has signed in, or the credentials are not valid")})
	}
	return out
}
