package pluginsdk

import (
	"encoding/json"
	"maps"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Values are values by name: granted columns of a user, session values, fields of
// a form. They are read by type, so that no comparison compiles that could never
// be true: a column of whole numbers is an int64 whatever its width, and 2 in an
// any is an int. The zero Values is empty. Values do not change and may be shared
// between goroutines.
type Values struct{ all map[string]Value }

// ValuesOf returns values by name, for tests and hosts. Narrower integers are widened,
// and times become text of RFC 3339 in UTC, as on the way to a host.
func ValuesOf(all map[string]Value) Values {
	if all == nil {
		return Values{}
	}
	out := make(map[string]Value, len(all))
	for name, v := range all {
		out[name] = widen(v)
	}
	return Values{out}
}

// Has tells whether there is a value of this name that is not null. A column that
// user_read does not grant has none.
func (v Values) Has(name string) bool { return v.all[name] != nil }

// Int returns a whole number.
func (v Values) Int(name string) (n int64, ok bool) {
	n, ok = v.all[name].(int64)
	return n, ok
}

// Float returns a number, whole ones and decimals included, which lose digits beyond 2^53.
func (v Values) Float(name string) (f float64, ok bool) {
	switch n := v.all[name].(type) {
	case int64:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	f, ok = v.all[name].(float64)
	return f, ok
}

// Rat returns a number with all its digits, such as a decimal of a [Change]. It is the
// caller's own.
func (v Values) Rat(name string) (r *big.Rat, ok bool) {
	switch n := v.all[name].(type) {
	case int64:
		return new(big.Rat).SetInt64(n), true
	case json.Number:
		if at := strings.IndexAny(string(n), "eE"); at >= 0 {
			if exponent, err := strconv.Atoi(string(n[at+1:])); err != nil || exponent > 400 || exponent < -400 {
				return nil, false // it would fill the memory, and is no number of the data
			}
		}
		return new(big.Rat).SetString(string(n))
	case float64:
		r = new(big.Rat).SetFloat64(n)
		return r, r != nil
	}
	return nil, false
}

// Text returns a text, also one that the database keeps as bytes.
func (v Values) Text(name string) (s string, ok bool) {
	if b, raw := v.all[name].([]byte); raw && utf8.Valid(b) {
		return string(b), true
	}
	s, ok = v.all[name].(string)
	return s, ok
}

// Bool returns a truth value, also 0 or 1, as SQLite and MariaDB keep it.
func (v Values) Bool(name string) (yes, ok bool) {
	if n, whole := v.all[name].(int64); whole && (n == 0 || n == 1) {
		return n == 1, true
	}
	yes, ok = v.all[name].(bool)
	return yes, ok
}

// Bytes returns bytes, not to be changed.
func (v Values) Bytes(name string) (b []byte, ok bool) {
	b, ok = v.all[name].([]byte)
	return b, ok
}

// Raw returns the value as it is, nil where it is null: what [Effect.Replacing] takes.
func (v Values) Raw(name string) Value { return v.all[name] }

// All returns all values by name, for code that knows neither names nor types. The
// map is a copy, nil for the zero Values.
func (v Values) All() map[string]Value { return maps.Clone(v.all) }

// Equal tells whether both hold the same values under the same names; nothing and
// an empty map are the same.
func (v Values) Equal(other Values) bool {
	return maps.EqualFunc(v.all, other.all, func(a, b Value) bool { return reflect.DeepEqual(a, b) })
}

// MarshalJSON implements [json.Marshaler]: an object of the values by name.
func (v Values) MarshalJSON() ([]byte, error) { return json.Marshal(v.all) }

// widen returns what a host makes of a value: an int64 of any integer that fits, a
// float64 of a float32, a text of a time (RFC 3339 in UTC), and everything else as it is.
func widen(v Value) Value {
	switch v := v.(type) {
	case float32:
		return float64(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	if n, ok := toInt(v); ok {
		return n
	}
	return v
}
