package csdl

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

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

// guarded tells whether the guard of the service, or a further one, asks who it is.
func (a *api) guarded(further []edm.Guard) bool {
	asks := func(g edm.Guard) bool { return g != edm.GuardNone }
	return asks(a.model.Guard) || slices.ContainsFunc(further, asks)
}

// needs tells how the caller of an operation comes in: by any of the ways, or by none.
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
	out := record{{"200", ok}}
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
