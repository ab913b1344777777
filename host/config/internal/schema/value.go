package schema

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/vestibule-dev/vestibule/v2/internal/finding"
)

// An Object is the value of an attribute that is a map. It is a type of its own
// so that a higher layer replaces it: koanf merges plain maps, which here are
// blocks.
type Object map[string]any

// Marks of values. What comes out of env() or file() is shown as ***, and what
// comes out of env() may stand for a number or boolean.
const (
	FromEnv  = "env"
	FromFile = "file"
)

// A Report takes what is wrong with a value, at a path below the key.
type Report func(finding.Finding)

// Convert turns a value as HCL has it into what the key's kind is in Go: string,
// int64, bool, time.Duration, Bytes, []any of strings, Object, or nil. It passes
// faults of elements to report, with the element's path below the key.
func (k Key) Convert(v cty.Value, report Report) (any, bool) {
	v, marks := v.UnmarkDeep()
	_, loose := marks[FromEnv]
	if v.IsNull() || !v.IsKnown() {
		if k.Null {
			return nil, true
		}
		hint := ""
		if k.Def != "" {
			hint = " for the default " + k.Def
		}
		report(finding.Finding{What: k.Name + " must not be null", Remedy: "give " + k.Kind.article() + ", or leave the line out" + hint})
		return nil, false
	}
	switch k.Kind {
	case Texts:
		return k.list(v, loose, report)
	case Table, Numbers:
		return k.object(v, loose, report)
	}
	return k.scalar(k.Kind, v, loose, nil, report)
}

func (k Kind) article() string {
	switch k {
	case Number:
		return "an integer"
	case Span:
		return `a duration such as "60s"`
	case Size:
		return `a size such as "4GiB"`
	}
	return "a " + k.String()
}

func (k Key) list(v cty.Value, loose bool, report Report) (any, bool) {
	if loose && v.Type() == cty.String {
		v = splitList(v.AsString())
	}
	if !v.Type().IsTupleType() && !v.Type().IsListType() && !v.Type().IsSetType() {
		report(wrongType(k.Name, v, `a list of strings, such as ["a", "b"]`))
		return nil, false
	}
	elements, good := []any{}, true
	for i, element := range v.AsValueSlice() {
		one, ok := k.scalar(Text, element, loose, []string{strconv.Itoa(i)}, report)
		elements, good = append(elements, one), good && ok
	}
	return elements, good
}

func (k Key) object(v cty.Value, loose bool, report Report) (any, bool) {
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		report(wrongType(k.Name, v, "a map, such as { name = value }"))
		return nil, false
	}
	kind := Text
	if k.Kind == Numbers {
		kind = Number
	}
	m, good := Object{}, true
	for name, value := range v.AsValueMap() {
		one, ok := k.scalar(kind, value, loose, []string{name}, report)
		m[name], good = one, good && ok
	}
	return m, good
}

// splitList returns the list of texts that a variable or flag has as a,b,c.
func splitList(s string) cty.Value {
	elements := []cty.Value{}
	for one := range strings.SplitSeq(s, ",") {
		if one = strings.TrimSpace(one); one != "" {
			elements = append(elements, cty.StringVal(one))
		}
	}
	return cty.TupleVal(elements)
}

// scalar converts a single value of the key, or of the element at path.
func (k Key) scalar(kind Kind, v cty.Value, loose bool, path []string, report Report) (any, bool) {
	name := strings.Join(append([]string{k.Name}, path...), ".")
	fail := func(what, remedy string) (any, bool) {
		report(finding.Finding{Path: path, What: what, Remedy: remedy})
		return nil, false
	}
	if v.IsNull() || !v.IsKnown() {
		return fail(name+" must not be null", "give "+kind.article()+", or take it out")
	}
	value, ok := plainScalar(kind, v, loose)
	if !ok {
		f := wrongType(name, v, kind.article())
		if kind == Number && v.Type() == cty.Number { // a number for another kind may be a secret without quotes
			f.What = name + " is the number " + v.AsBigFloat().Text('g', 20)
		}
		return fail(f.What, f.Remedy)
	}
	if kind == Span {
		d, err := ParseSpan(value.(string))
		if err != nil {
			return fail(fmt.Sprintf("%s: %q is no duration", name, value), `write a number with a unit, such as "90s", "60m", "24h" or "90d"`)
		}
		value = d
	}
	if kind == Size {
		b, ok := ParseBytes(value.(string))
		if !ok {
			return fail(fmt.Sprintf("%s: %q is no size", name, value), `write an integer with a unit: "4KiB", "16MiB", "4GiB"`)
		}
		value = b
	}
	what, remedy := checkOneOf(k, value)
	if what == "" && k.Check != nil {
		what, remedy = k.Check(value)
	}
	if what != "" {
		if k.Secret {
			what = "the value is not usable"
		}
		return fail(name+": "+what, remedy)
	}
	return value, true
}

// plainScalar gives string, int64 or bool. Text from the environment may stand
// for the other two; text in the file may not.
func plainScalar(kind Kind, v cty.Value, loose bool) (any, bool) {
	t := v.Type()
	parse := loose && t == cty.String
	switch {
	case kind == Number && parse:
		n, err := strconv.ParseInt(v.AsString(), 10, 64)
		return n, err == nil && !strings.HasPrefix(v.AsString(), "+")
	case kind == Number && t == cty.Number:
		n, accuracy := v.AsBigFloat().Int64()
		return n, accuracy == big.Exact
	case kind == Flag && parse:
		return v.AsString() == "true", v.AsString() == "true" || v.AsString() == "false"
	case kind == Flag && t == cty.Bool:
		return v.True(), true
	case kind != Number && kind != Flag && t == cty.String:
		return v.AsString(), true
	}
	return nil, false
}

func wrongType(name string, v cty.Value, want string) finding.Finding {
	return finding.Finding{What: fmt.Sprintf("%s is %s", name, describe(v)), Remedy: "give " + want}
}

// describe names the type of a value without showing it.
func describe(v cty.Value) string {
	switch t := v.Type(); {
	case t == cty.String:
		return "a string"
	case t == cty.Number:
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
