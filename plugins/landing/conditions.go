package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// conditions are what a rule wants of a user, by column.
type conditions map[string]any

func (c conditions) columns() []string { return slices.Sorted(maps.Keys(c)) }

// Validate refuses rules without conditions, and malformed conditions.
func (r rule) Validate() error {
	var errs []error
	if len(r.When) == 0 {
		errs = append(errs, pluginsdk.BadConfig("when", "it has no condition: name a column, or use otherwise"))
	}
	for _, column := range r.When.columns() {
		object, ok := r.When[column].(map[string]any)
		if !ok {
			continue
		}
		for key, bound := range object {
			_, isText := bound.(string)
			switch {
			case key != "not" && key != "min" && key != "max":
				errs = append(errs, pluginsdk.BadConfig("when."+column+"."+key, "this is unknown: use not, min and max"))
			case key != "not" && !isText && !isNumber(bound):
				errs = append(errs, pluginsdk.BadConfig("when."+column+"."+key, "it must be a number or a text"))
			}
		}
		if len(object) == 0 {
			errs = append(errs, pluginsdk.BadConfig("when."+column, "it says nothing: use not, min or max"))
		}
	}
	return errors.Join(errs...)
}

func (c conditions) hold(user pluginsdk.User) bool {
	for column, want := range c {
		if !holds(want, valueOf(user, column)) {
			return false
		}
	}
	return true
}

// holds tests one condition.
func holds(want any, got pluginsdk.Value) bool {
	switch want := want.(type) {
	case []any:
		return slices.ContainsFunc(want, func(one any) bool { return holds(one, got) })
	case map[string]any:
		if unwanted, ok := want["not"]; ok && holds(unwanted, got) {
			return false
		}
		if least, ok := want["min"]; ok && !atMost(least, got) {
			return false
		}
		if most, ok := want["max"]; ok && !atMost(got, most) {
			return false
		}
		return true
	}
	return equal(want, got)
}

// equal compares values as people mean them: databases without booleans keep them
// as 0 and 1, and decimals arrive as text.
func equal(want any, got pluginsdk.Value) bool {
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	if b, ok := want.(bool); ok {
		n, isInt := got.(int64)
		return got == want || isInt && (n != 0) == b
	}
	if isNumber(want) && isNumber(got) {
		return order(want, got) == 0
	}
	return text(want) == text(got)
}

// atMost tells whether a <= b. Null, and a number against a text that is none,
// are in no order.
func atMost(a, b any) bool {
	if isNumber(a) && isNumber(b) {
		return order(a, b) <= 0
	}
	s, okS := a.(string)
	t, okT := b.(string)
	return okS && okT && strings.Compare(s, t) <= 0
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

// order compares numbers; integers exactly.
func order(a, b any) int {
	x, okX := a.(int64)
	y, okY := b.(int64)
	if okX && okY {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(float(a), float(b))
}

func float(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}
