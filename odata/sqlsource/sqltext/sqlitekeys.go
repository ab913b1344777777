package sqltext

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// among hands the values over as one JSON text, so that the statement stays the same for any number of them.
func (sqlite) among(column frag, _ *Column, values []any) frag {
	if list, ok := jsonList(values, values); ok {
		return fill("$1 IN (SELECT value FROM json_each($2))", column, list)
	}
	return fill("$1 IN ($2)", column, params(values))
}

// amongRows is among for keys of several values: a chain of OR would nest deeper than SQLite allows.
func (sqlite) amongRows(columns []frag, _ []*Column, keys [][]any) frag {
	row := fill("($1)", join(", ", columns...))
	if list, ok := jsonList(keys, keys...); ok {
		parts := make([]frag, len(columns))
		for i := range parts {
			parts[i] = text("json_extract(value, '$[" + strconv.Itoa(i) + "]')")
		}
		return fill("$1 IN (SELECT $2 FROM json_each($3))", row, join(", ", parts...), list)
	}
	rows := make([]frag, len(keys))
	for i, k := range keys {
		rows[i] = fill("($1)", params(k))
	}
	return fill("$1 IN (VALUES $2)", row, join(", ", rows...))
}

// jsonList is a list as one JSON text, where that holds all values of its keys as they are. A column of SQLite stores
// what it is given, whatever its type: one value in it may be a blob, or a text that is no UTF-8, and others not.
func jsonList(list any, keys ...[]any) (frag, bool) {
	for _, k := range keys {
		if slices.ContainsFunc(k, beyondJSON) {
			return frag{}, false
		}
	}
	b, err := json.Marshal(list)
	return param(string(b)), err == nil
}

func beyondJSON(v any) bool {
	s, isText := v.(string)
	_, blob := v.([]byte)
	return blob || isText && !utf8.ValidString(s)
}

func params(values []any) frag {
	parts := make([]frag, len(values))
	for i, v := range values {
		parts[i] = param(v)
	}
	return join(", ", parts...)
}
