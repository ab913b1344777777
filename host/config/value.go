package config

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// object is the value of an attribute that is a map. It is a type of its own so
// that a higher layer replaces it: koanf merges plain maps, which here are blocks.
type object map[string]any

// A fault is what is wrong with a value; the zero value is none.
type fault struct{ what, remedy string }

// marks of values. What comes out of env() or file() is shown as ***, and what
// comes out of env() may stand for a number or boolean.
const (
	fromEnv  = "env"
	fromFile = "file"
)

// convert turns a value as HCL has it into what the key's kind is in Go: string,
// int64, bool, time.Duration, []any of strings, object, or nil. An element's
// fault is told through report with the element's path below the key.
func (k key) convert(v cty.Value, report func(path []string, f fault)) (any, bool) {
	v, marks := v.UnmarkDeep()
	_, loose := marks[fromEnv]
	if v.IsNull() || !v.IsKnown() {
		if k.null {
			return nil, true
		}
		report(nil, fault{k.name + " must not be null", "give " + k.kind.article() + ", or leave the line out" + k.defaultHint()})
		return nil, false
	}
	switch k.kind {
	case texts:
		return k.list(v, loose, report)
	case table, numbers:
		return k.object(v, loose, report)
	}
	return k.scalar(k.kind, v, loose, nil, report)
}

func (k key) defaultHint() string {
	if k.def == "" || k.def == "null" {
		return ""
	}
	return " for the default " + k.def
}

func (k kind) article() string {
	switch k {
	case number:
		return "an integer"
	case span:
		return `a duration such as "60s"`
	}
	return "a " + k.String()
}

func (k key) list(v cty.Value, loose bool, report func([]string, fault)) (any, bool) {
	if !v.Type().IsTupleType() && !v.Type().IsListType() && !v.Type().IsSetType() {
		report(nil, wrongType(k.name, v, `a list of strings, such as ["a", "b"]`))
		return nil, false
	}
	list, good := []any{}, true
	i := 0
	for _, element := range v.AsValueSlice() {
		one, ok := k.scalar(text, element, loose, []string{strconv.Itoa(i)}, report)
		list, good = append(list, one), good && ok
		i++
	}
	return list, good
}

func (k key) object(v cty.Value, loose bool, report func([]string, fault)) (any, bool) {
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		report(nil, wrongType(k.name, v, "a map, such as { name = value }"))
		return nil, false
	}
	m, good := object{}, true
	for name, value := range v.AsValueMap() {
		one, ok := k.scalar(k.elementKind(), value, loose, []string{name}, report)
		m[name], good = one, good && ok
	}
	return m, good
}

// elementKind is the kind of the elements of a list or map.
func (k key) elementKind() kind {
	if k.kind == numbers {
		return number
	}
	return text
}

// scalar converts a single value of the key, or of the element at path.
func (k key) scalar(kind kind, v cty.Value, loose bool, path []string, report func([]string, fault)) (any, bool) {
	name := strings.Join(append([]string{k.name}, path...), ".")
	fail := func(f fault) (any, bool) {
		report(path, f)
		return nil, false
	}
	if v.IsNull() || !v.IsKnown() {
		return fail(fault{name + " must not be null", "give " + kind.article() + ", or take it out"})
	}
	value, ok := plainScalar(kind, v, loose)
	if !ok {
		return fail(wrongType(name, v, kind.article()))
	}
	if kind == span {
		d, err := time.ParseDuration(value.(string))
		if err != nil {
			return fail(fault{fmt.Sprintf("%s: %q is no duration", name, value), `write a number with a unit, such as "90s", "60m" or "24h"`})
		}
		value = d
	}
	what, remedy := checkOneOf(k, value)
	if what == "" && k.check != nil {
		what, remedy = k.check(value)
	}
	if what != "" {
		if k.secret {
			what = "the value is not usable"
		}
		return fail(fault{name + ": " + what, remedy})
	}
	return value, true
}

// plainScalar gives string, int64 or bool. Text from the environment may stand
// for the other two; text in the file may not.
func plainScalar(kind kind, v cty.Value, loose bool) (any, bool) {
	t := v.Type()
	if loose && t == cty.String && kind != text && kind != span {
		return parseScalar(kind, v.AsString())
	}
	switch {
	case (kind == text || kind == span) && t == cty.String:
		return v.AsString(), true
	case kind == number && t == cty.Number:
		n, accuracy := v.AsBigFloat().Int64()
		return n, accuracy == big.Exact
	case kind == flag && t == cty.Bool:
		return v.True(), true
	}
	return nil, false
}

// parseScalar reads a number or boolean from a variable or flag.
func parseScalar(kind kind, s string) (any, bool) {
	switch kind {
	case number:
		n, err := strconv.ParseInt(s, 10, 64)
		return n, err == nil && !strings.HasPrefix(s, "+")
	case flag:
		return s == "true", s == "true" || s == "false"
	}
	return s, true
}

func wrongType(name string, v cty.Value, want string) fault {
	return fault{fmt.Sprintf("%s is %s", name, describe(v)), "give " + want}
}

// describe names the type of a value without showing it.
func describe(v cty.Value) string {
	switch t := v.Type(); {
	case t == cty.String:
		return "a string"
	case t == cty.Number:
		if n, accuracy := v.AsBigFloat().Int64(); accuracy != big.Exact || n < 0 {
			return "the number " + v.AsBigFloat().Text('g', 20)
		}
		return "a number"
	case t == cty.Bool:
		return "a boolean"
	case t.IsTupleType(), t.IsListType(), t.IsSetType():
		return "a list"
	case t.IsObjectType(), t.IsMapType():
		return "a map"
	}
	return "of another type"
}
