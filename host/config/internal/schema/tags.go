package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// Of returns the settings that a struct holds, from the types and tags of its fields.
// A struct is a block, a map of structs the blocks by label, a map of any a block
// without a schema here, and every other field a key. A pointer may be null. The tags:
//
//   - koanf: the name
//   - default: in HCL, texts without quotes. A pointer without it is null by default;
//     any other key without it is required. The empty text is no default.
//   - is: some of live, path, secret, and size for a number written as "4GiB"
//   - oneof: the words that are allowed, or the name of a list of [wordsOf]
//   - check: a name of [checks], for the value or the label
//   - label: what the label of a block stands for
//   - in: the only block that has the key, where two blocks share a struct
//   - sample, doc: for the documentation
func Of(t reflect.Type) Block {
	var root Block
	root.fill(t)
	return root
}

func (b *Block) fill(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, only := f.Tag.Get("koanf"), f.Tag.Get("in")
		if name == "" || only != "" && only != b.Name {
			continue
		}
		inner := Block{Name: name, Label: f.Tag.Get("label"), Live: b.Live || has(f, "live"), Doc: f.Tag.Get("doc"), Sample: samples()[name]}
		switch held := f.Type; {
		case held == reflect.TypeFor[map[string]any]():
			inner.Free = true
		case held.Kind() == reflect.Struct:
			inner.fill(held)
		case held.Kind() == reflect.Map && held.Elem().Kind() == reflect.Struct:
			inner.LabelCheck = checkNamed(f.Tag.Get("check"))
			inner.fill(held.Elem())
		default:
			b.Keys = append(b.Keys, keyOf(f))
			continue
		}
		b.Blocks = append(b.Blocks, inner)
	}
}

func keyOf(f reflect.StructField) Key {
	def, given := f.Tag.Lookup("default")
	pointer := f.Type.Kind() == reflect.Pointer
	if pointer && !given {
		def = "null"
	}
	k := Key{
		Name: f.Tag.Get("koanf"), Kind: kindOf(f), Null: pointer || def == "null", Required: !given && !pointer,
		Secret: has(f, "secret"), Path: has(f, "path"), Live: has(f, "live"),
		OneOf: wordsOf(f.Tag.Get("oneof")), Check: checkNamed(f.Tag.Get("check")), Doc: f.Tag.Get("doc"),
	}
	k.Def, k.Sample = k.written(def), k.written(f.Tag.Get("sample"))
	return k
}

func has(f reflect.StructField, word string) bool {
	return slices.Contains(strings.Fields(f.Tag.Get("is")), word)
}

func kindOf(f reflect.StructField) Kind {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return Span
	case reflect.TypeFor[[]string]():
		return Texts
	case reflect.TypeFor[map[string]string]():
		return Table
	case reflect.TypeFor[map[string]int64]():
		return Numbers
	}
	switch {
	case has(f, "size"):
		return Size
	case t.Kind() == reflect.String:
		return Text
	case t.Kind() == reflect.Bool:
		return Flag
	}
	return Number
}

// written is the text of a tag as HCL: texts get quotes there, calls and null do not.
func (k Key) written(s string) string {
	if s == "" || s == "null" || strings.HasPrefix(s, "env(") || k.Kind != Text && k.Kind != Span && k.Kind != Size {
		return s
	}
	return strconv.Quote(s)
}

// wordsOf returns the words of a tag oneof.
func wordsOf(tag string) []string {
	switch tag {
	case "":
		return nil
	case "guards":
		return []string{"settled", "session", "none"}
	case "drivers":
		return Drivers()
	case "roles":
		return pluginsdk.Roles()
	}
	return strings.Fields(tag)
}

// Drivers are the engines that a database may have.
func Drivers() []string { return []string{"sqlite", "postgres", "mysql"} }
