package memory

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
)

// field is a field of a struct type, with the options of its tag.
type field struct {
	name string
	// index leads to the field, through embedded structs.
	index []int
	typ   reflect.Type
	tag   tag
	// members are the fields of a complex property; nil for a single value.
	members []field
}

// tag is the text behind the name in an odata tag.
type tag struct {
	key, search, hide bool
	typ, aggregate    string
	currency, unit    string
	precision, scale  int
	// scaled tells that a scale is given.
	scaled       bool
	auto, unique bool
	length       int
	// standard is the text of the default value, hasStandard whether there is one.
	standard    string
	hasStandard bool
}

// rowType finds the struct type of a slice of rows.
func rowType(rows any) (reflect.Type, error) {
	if rows == nil {
		return nil, errors.New("there are no rows: give a slice of structs, an empty one too")
	}
	t := reflect.TypeOf(rows)
	if t.Kind() == reflect.Slice {
		t = t.Elem()
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct && !single(t) {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%T is no slice of structs", rows)
}

// single tells whether a struct type holds one value and is no structure of several.
func single(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[apd.Decimal]() || optional(t)
}

// optional tells whether a type is like sql.NullString: a value, and whether it is there.
func optional(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(1).Name == "Valid" && t.Field(1).Type.Kind() == reflect.Bool &&
		t.Field(0).IsExported()
}

// fieldsOf reads the exported fields of a struct type.
func fieldsOf(t reflect.Type) ([]field, error) { return readFields(t, nil, map[reflect.Type]bool{}) }

func readFields(t reflect.Type, index []int, open map[reflect.Type]bool) ([]field, error) {
	if open[t] {
		return nil, fmt.Errorf("%v contains itself: leave the field out with `odata:\"-\"` and add a Navigation", t)
	}
	open[t] = true
	defer delete(open, t)
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int(nil), index...), i)
		name, options, skip := tagOf(sf)
		if skip || !sf.IsExported() && !sf.Anonymous {
			continue
		}
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct && !single(sf.Type) && name == "" {
			inner, err := readFields(sf.Type, at, open)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
			continue
		}
		if !sf.IsExported() {
			continue
		}
		f, err := fieldOf(sf, at, name, options, open)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", sf.Name, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// tagOf returns the name and the options in the tag odata, with the name of the tag json where it has none, and
// whether the field is left out. The name may be empty.
func tagOf(sf reflect.StructField) (name string, options []string, skip bool) {
	own, tagged := sf.Tag.Lookup("odata")
	json, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if own == "-" || !tagged && json == "-" {
		return "", nil, true
	}
	parts := strings.Split(own, ",")
	if name = parts[0]; name == "" && json != "-" {
		name = json
	}
	return name, parts[1:], false
}

func fieldOf(sf reflect.StructField, index []int, name string, options []string, open map[reflect.Type]bool) (field, error) {
	f := field{name: name, index: index, typ: sf.Type}
	if f.name == "" {
		f.name = sf.Name
	}
	var err error
	if f.tag, err = parseTag(options); err != nil {
		return f, err
	}
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && !single(t) {
		f.members, err = readFields(t, nil, open)
		if err == nil && len(f.members) == 0 {
			err = fmt.Errorf("%v has no exported fields: leave it out with `odata:\"-\"`", t)
		}
		for _, m := range f.members {
			if m.members != nil || m.tag.key || m.tag.hide || m.tag.search || m.tag.auto || m.tag.unique {
				err = fmt.Errorf("member %s: a complex property holds single values without key, hide, search, auto and unique", m.name)
			}
		}
	}
	return f, err
}

func parseTag(options []string) (tag, error) {
	var t tag
	for _, o := range options {
		word, value, _ := strings.Cut(strings.TrimSpace(o), "=")
		var err error
		switch word {
		case "key":
			t.key = true
		case "search":
			t.search = true
		case "hide":
			t.hide = true
		case "type":
			t.typ = strings.TrimPrefix(value, "Edm.")
		case "aggregate":
			t.aggregate = value
		case "currency":
			t.currency = value
		case "unit":
			t.unit = value
		case "precision":
			t.precision, err = strconv.Atoi(value)
		case "scale":
			t.scaled = true
			t.scale, err = strconv.Atoi(value)
		case "auto":
			t.auto = true
		case "unique":
			t.unique = true
		case "default":
			t.standard, t.hasStandard = value, true
		case "length":
			t.length, err = strconv.Atoi(value)
		default:
			err = errors.New("there are key, search, hide, type, precision, scale, aggregate, currency, unit, auto, default, unique, and length")
		}
		if err != nil {
			return t, fmt.Errorf("the odata tag has an unknown option %q: %w", o, err)
		}
	}
	return t, nil
}
