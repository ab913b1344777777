package configblock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Decode fills the struct that into points to from a config block, and reports
// every mistake at once as a [*Error]. What structs may look like is told where
// pluginsdk.Setup.Decode is.
func Decode(config []byte, into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("config is %T, not a pointer to a struct", into)
	}
	if len(bytes.TrimSpace(config)) == 0 {
		config = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return Bad("", "it is not JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Bad("", "it is not JSON: something follows the object")
	}
	fresh := reflect.New(target.Elem().Type())
	dec := &configDecoder{}
	dec.value("", tree, fresh.Elem())
	if len(dec.problems) > 0 {
		return &Error{Problems: dec.problems}
	}
	if dec.err != nil {
		return dec.err
	}
	target.Elem().Set(fresh.Elem())
	return nil
}

type configDecoder struct {
	problems []Problem
	err      error
}

func (d *configDecoder) bad(path, format string, args ...any) {
	d.problems = append(d.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// value decodes one JSON value. A null has been dealt with by the caller.
func (d *configDecoder) value(path string, in any, out reflect.Value) {
	if out.Type() == reflect.TypeFor[time.Duration]() {
		d.duration(path, in, out)
		return
	}
	switch out.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		d.value(path, in, out.Elem())
	case reflect.Interface:
		out.Set(reflect.ValueOf(Plain(in)))
	case reflect.Struct:
		if m, ok := as[map[string]any](d, path, in, "a block"); ok {
			d.block(path, m, out)
		}
	case reflect.Slice:
		d.list(path, in, out)
	case reflect.Map:
		d.table(path, in, out)
	case reflect.String:
		if s, ok := as[string](d, path, in, "a text"); ok {
			out.SetString(s)
		}
	case reflect.Bool:
		if b, ok := as[bool](d, path, in, "true or false"); ok {
			out.SetBool(b)
		}
	default:
		d.number(path, in, out)
	}
}

// as is a type assertion that reports what was wanted.
func as[T any](d *configDecoder, path string, in any, wanted string) (T, bool) {
	v, ok := in.(T)
	if !ok {
		d.bad(path, "%s is wanted here, not %s", wanted, jsonKind(in))
	}
	return v, ok
}

func (d *configDecoder) number(path string, in any, out reflect.Value) {
	n, ok := as[json.Number](d, path, in, "a number")
	if !ok {
		return
	}
	switch {
	case out.CanInt():
		i, err := strconv.ParseInt(n.String(), 10, out.Type().Bits())
		if err != nil {
			d.bad(path, "%s is not a whole number of %d bits", n, out.Type().Bits())
		}
		out.SetInt(i)
	case out.CanUint():
		i, err := strconv.ParseUint(n.String(), 10, out.Type().Bits())
		if err != nil {
			d.bad(path, "%s is not a positive whole number of %d bits", n, out.Type().Bits())
		}
		out.SetUint(i)
	default:
		f, err := n.Float64()
		if err != nil {
			d.bad(path, "%s is out of range", n)
		}
		out.SetFloat(f)
	}
}

func (d *configDecoder) duration(path string, in any, out reflect.Value) {
	s, ok := as[string](d, path, in, `a duration such as "3s"`)
	if !ok {
		return
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		d.bad(path, `%q is not a duration; write it as in "3s" or "1h30m"`, s)
	}
	out.SetInt(int64(v))
}

func (d *configDecoder) list(path string, in any, out reflect.Value) {
	items, ok := in.([]any)
	if m, single := in.(map[string]any); single && elem(out.Type()).Kind() == reflect.Struct {
		items, ok = []any{m}, true // one block where several may stand
	}
	if !ok {
		d.bad(path, "a list is wanted here, not %s", jsonKind(in))
		return
	}
	out.Set(reflect.MakeSlice(out.Type(), len(items), len(items)))
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item == nil {
			d.bad(at, "null cannot stand in a list")
			continue
		}
		d.value(at, item, out.Index(i))
	}
}

func (d *configDecoder) table(path string, in any, out reflect.Value) {
	m, ok := as[map[string]any](d, path, in, "a map")
	if !ok {
		return
	}
	out.Set(reflect.MakeMapWithSize(out.Type(), len(m)))
	for _, key := range sortedKeys(m) {
		v := reflect.New(out.Type().Elem()).Elem()
		if m[key] != nil {
			d.value(join(path, key), m[key], v)
		} else if v.Kind() != reflect.Interface && v.Kind() != reflect.Pointer {
			continue // an absent entry
		}
		out.SetMapIndex(reflect.ValueOf(key), v)
	}
}

func (d *configDecoder) block(path string, m map[string]any, out reflect.Value) {
	fields, err := fieldsOf(out.Type())
	if err != nil {
		d.err = err
		return
	}
	before := len(d.problems)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
		d.field(join(path, f.name), m[f.name], f, out.Field(f.index))
	}
	for _, key := range sortedKeys(m) {
		if !slices.Contains(names, key) {
			d.bad(join(path, key), "this key is unknown%s", suggestion(key, names))
		}
	}
	if v, ok := out.Addr().Interface().(interface{ Validate() error }); ok && len(d.problems) == before {
		d.validate(path, v.Validate())
	}
}

func (d *configDecoder) field(path string, in any, f configField, out reflect.Value) {
	switch {
	case in == nil && f.preset != "":
		var preset any = f.preset
		if k := out.Kind(); k != reflect.String && out.Type() != reflect.TypeFor[time.Duration]() {
			dec := json.NewDecoder(strings.NewReader(f.preset))
			dec.UseNumber()
			if err := dec.Decode(&preset); err != nil {
				d.err = fmt.Errorf("default of %s: %w", path, err)
				return
			}
		}
		in = preset
	case in == nil && f.required:
		d.bad(path, "this key is required%s", hint(f.doc))
		return
	case in == nil && elem(out.Type()).Kind() == reflect.Struct && out.Kind() == reflect.Struct:
		in = map[string]any{} // defaults of an absent block
	case in == nil:
		return
	}
	d.value(path, in, out)
	if s, ok := in.(string); ok && len(f.oneof) > 0 && !slices.Contains(f.oneof, s) {
		d.bad(path, "%q is none of: %s", s, strings.Join(f.oneof, ", "))
	}
	if s, ok := in.(string); ok && f.required && s == "" {
		d.bad(path, "it must not be empty%s", hint(f.doc))
	}
}

func (d *configDecoder) validate(path string, err error) {
	if err == nil {
		return
	}
	problems := ProblemsOf(err)
	if problems == nil {
		problems = []Problem{{Message: err.Error()}}
	}
	for _, p := range problems {
		d.bad(strings.TrimSuffix(join(path, p.Path), "."), "%s", p.Message)
	}
}

// errNotStruct is about a Config that the author set wrongly.
var errNotStruct = errors.New("it must be a pointer to a struct")
