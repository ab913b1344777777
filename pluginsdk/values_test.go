package pluginsdk_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Each accessor gives what has its type, and says when nothing has.
func TestValuesAreReadByType(t *testing.T) {
	v := pluginsdk.ValuesOf(map[string]pluginsdk.Value{
		"null": nil, "int": 2, "max": uint64(math.MaxInt64), "half": float32(0.5), "text": "ü", "empty": "", "raw": []byte("ü"),
		"garbage": []byte{0xff}, "yes": true, "no": int64(0), "time": time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC),
	})
	type read struct {
		Has   bool
		Int   any
		Float any
		Text  any
		Bool  any
		Bytes any
	}
	for name, want := range map[string]read{
		"null": {}, "absent": {},
		"int": {Has: true, Int: int64(2), Float: 2.0}, "max": {Has: true, Int: int64(math.MaxInt64), Float: float64(math.MaxInt64)},
		"half": {Has: true, Float: 0.5}, "text": {Has: true, Text: "ü"}, "empty": {Has: true, Text: ""},
		"raw": {Has: true, Text: "ü", Bytes: []byte("ü")}, "garbage": {Has: true, Bytes: []byte{0xff}},
		"yes": {Has: true, Bool: true}, "no": {Has: true, Int: int64(0), Float: 0.0, Bool: false},
		"time": {Has: true, Text: "2026-03-04T05:06:07.000000008Z"},
	} {
		got := read{Has: v.Has(name)}
		if n, ok := v.Int(name); ok {
			got.Int = n
		}
		if f, ok := v.Float(name); ok {
			got.Float = f
		}
		if s, ok := v.Text(name); ok {
			got.Text = s
		}
		if yes, ok := v.Bool(name); ok {
			got.Bool = yes
		}
		if b, ok := v.Bytes(name); ok {
			got.Bytes = b
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What somebody does to a map that they gave or got stays with them.
func TestValuesDoNotChange(t *testing.T) {
	given := map[string]pluginsdk.Value{"n": 1}
	v := pluginsdk.ValuesOf(given)
	given["n"] = 2
	v.All()["n"] = 3
	if n, ok := v.Int("n"); n != 1 || !ok {
		t.Errorf("n is %d, %v", n, ok)
	}
	if !v.Equal(pluginsdk.ValuesOf(map[string]pluginsdk.Value{"n": int64(1)})) || v.Equal(pluginsdk.Values{}) {
		t.Error("equality is not that of the values")
	}
	if (pluginsdk.Values{}).All() != nil {
		t.Error("the zero Values has a map")
	}
}

// The width of an integer is no part of an effect.
func TestEffectsWidenIntegers(t *testing.T) {
	for _, e := range []pluginsdk.Effect{pluginsdk.SetUser("n", 7), pluginsdk.SetSession("n", int32(7)), pluginsdk.SetUser("n", uint8(7))} {
		if e.Value() != pluginsdk.Value(int64(7)) {
			t.Errorf("%s is %T(%v)", e.Name(), e.Value(), e.Value())
		}
	}
}
