package configblock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
)

// A Key documents one key of a plugin's config block.
type Key struct {
	// Path is names joined by dots; [] stands for the elements of a list.
	Path string `json:"path"`
	// Type is string, bool, int, float, duration, list, map, block or any.
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	// Default is the default as text; empty when there is none.
	Default string `json:"default,omitempty"`
	Doc     string `json:"doc,omitempty"`
}

// A configField is a struct field with its tags read.
type configField struct {
	index    int
	name     string
	required bool
	preset   string
	oneof    []string
	doc      string
}

func fieldsOf(t reflect.Type) ([]configField, error) {
	var fields []configField
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("config"), ",")
		if !sf.IsExported() || name == "-" {
			continue
		}
		if !decodable(sf.Type) {
			return nil, fmt.Errorf("field %s has the type %s, which config cannot fill", sf.Name, sf.Type)
		}
		fields = append(fields, configField{
			index:    i,
			name:     cmp.Or(name, Snake(sf.Name)),
			required: options == "required",
			preset:   sf.Tag.Get("default"),
			oneof:    strings.Fields(sf.Tag.Get("oneof")),
			doc:      sf.Tag.Get("doc"),
		})
	}
	return fields, nil
}

func decodable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return decodable(t.Elem())
	case reflect.Map:
		return t.Key().Kind() == reflect.String && decodable(t.Elem())
	case reflect.Interface:
		return t.NumMethod() == 0
	case reflect.Chan, reflect.Func, reflect.Array, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return false
	}
	return true
}

// KeysOf documents the struct that config points to.
func KeysOf(config any) ([]Key, error) {
	if config == nil {
		return nil, nil
	}
	t := reflect.TypeOf(config)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, errNotStruct
	}
	return keysOf("", t.Elem(), nil)
}

func keysOf(path string, t reflect.Type, above []reflect.Type) ([]Key, error) {
	if slices.Contains(above, t) {
		return nil, nil // a type that holds itself is told once
	}
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	var keys []Key
	for _, f := range fields {
		ft := t.Field(f.index).Type
		at := join(path, f.name)
		doc := f.doc
		if len(f.oneof) > 0 {
			doc = strings.TrimSpace(doc + " One of: " + strings.Join(f.oneof, ", ") + ".")
		}
		keys = append(keys, Key{Path: at, Type: kindOf(ft), Required: f.required, Default: f.preset, Doc: doc})
		if ft.Kind() == reflect.Slice || ft.Kind() == reflect.Map {
			at += "[]"
		}
		if e := elem(ft); e.Kind() == reflect.Struct {
			below, err := keysOf(at, e, append(above, t))
			if err != nil {
				return nil, err
			}
			keys = append(keys, below...)
		}
	}
	return keys, nil
}

func kindOf(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "duration"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Slice:
		return "list"
	case reflect.Map:
		return "map"
	case reflect.Struct:
		return "block"
	case reflect.Interface:
		return "any"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Float32, reflect.Float64:
		return "float"
	}
	return "int"
}

// elem looks through pointers, lists and maps.
func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Snake turns a Go name into the form of config.hcl: DirectoryURL becomes
// directory_url.
func Snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func hint(doc string) string {
	if doc == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(doc, ".")
}

// Plain turns decoded JSON into values as plugins know them: integers are int64.
func Plain(in any) any {
	switch v := in.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64() // infinite when out of range
		return f
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Plain(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = Plain(item)
		}
		return out
	}
	return in
}

func jsonKind(in any) string {
	switch in.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "a block"
}

// suggestion names the known key that is closest to a misspelt one.
func suggestion(key string, names []string) string {
	if near := words.Nearest(key, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(names) == 0 {
		return "; the plugin takes no configuration"
	}
	return "; known are: " + strings.Join(names, ", ")
}
