package layer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// prefix is what the names of environment variables with settings begin with.
const prefix = "VESTIBULE_"

// A Setting is one value from outside the files, with its key as text.
type Setting struct {
	// name is the variable or flag.
	name string
	path []string
	text string
	// fold compares names without regard to case, as variables are in capitals.
	fold bool
}

// An Overlay is a layer of such settings.
type Overlay struct {
	// Values, Origins and Findings are what the settings came to.
	Values   map[string]any
	Origins  Origins
	Findings Findings

	schema schema.Block
	// below are the values of all lower layers.
	below map[string]any
	dir   string
}

// Environment finds the settings among the variables: VESTIBULE_A__B=value. A
// variable without two underscores is none, but if it looks like a setting that
// was spelled wrong, that is a warning.
func Environment(environ []string, root schema.Block, findings *Findings) ([]Setting, error) {
	found, err := env.Provider("", env.Opt{Prefix: prefix, EnvironFunc: func() []string { return environ }}).Read()
	if err != nil {
		return nil, fmt.Errorf("read the environment: %w", err)
	}
	var list []Setting
	for _, name := range slices.Sorted(maps.Keys(found)) {
		rest := strings.TrimPrefix(name, prefix)
		if strings.Contains(rest, "__") {
			list = append(list, Setting{name: name, path: strings.Split(rest, "__"), text: found[name].(string), fold: true})
			continue
		}
		block, key, _ := strings.Cut(strings.ToLower(rest), "_")
		if _, ok := root.Block(block); ok && key != "" {
			findings.Warn(Position{Name: name}, "is not a setting", fmt.Sprintf("write two underscores between block and key: %s%s__…", prefix, strings.ToUpper(block)))
		}
	}
	return list, nil
}

// Flags reads --set a.b.c=value. A label with a dot stands in double quotes.
func Flags(set []string, findings *Findings) []Setting {
	var list []Setting
	for _, s := range set {
		key, value, ok := strings.Cut(s, "=")
		name := "--set " + key
		if !ok || key == "" {
			findings.Add(Position{Name: name}, "has no value", "write --set block.key=value")
			continue
		}
		list = append(list, Setting{name: name, path: splitPath(key), text: value})
	}
	return list
}

func splitPath(key string) []string {
	quoted := false
	steps := strings.FieldsFunc(key, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == '.' && !quoted
	})
	for i, step := range steps {
		steps[i] = strings.Trim(step, `"`)
	}
	return steps
}

// NewOverlay makes an empty layer over the values below. Paths in it are
// relative to dir.
func NewOverlay(root schema.Block, below map[string]any, dir string) *Overlay {
	return &Overlay{schema: root, below: below, dir: dir, Values: map[string]any{}, Origins: Origins{}}
}

// Apply puts the setting into the layer, or adds a finding.
func (o *Overlay) Apply(s Setting) {
	at := Position{Name: s.name}
	b, existing, into := o.schema, o.below, o.Values
	var path []string
	for i := 0; i < len(s.path); i++ {
		step := s.fitted(i, b.Names())
		if b.Free {
			o.free(s, s.path[i:], existing, into, path)
			return
		}
		if k, ok := b.Key(step); ok {
			o.key(s, k, s.path[i+1:], existing, into, append(path, step))
			return
		}
		inner, ok := b.Block(step)
		if !ok {
			o.Findings.Add(at, unknown(b, step, path), b.Remedy(o.schema, step))
			return
		}
		path, existing, into = append(path, step), schema.Sub(existing, step), schema.Child(into, step)
		if b = inner; b.Label == "" {
			continue
		}
		if i++; i == len(s.path) {
			break
		}
		label := s.fitted(i, slices.Sorted(maps.Keys(existing)))
		if _, known := existing[label]; !known && b.LabelCheck != nil {
			if what, remedy := b.LabelCheck(label); what != "" {
				o.Findings.Add(at, what, remedy)
				return
			}
		}
		path, existing, into = append(path, label), schema.Sub(existing, label), schema.Child(into, label)
		if _, known := o.Origins[Join(path...)]; !known {
			o.Origins[Join(path...)] = Origin{Position: at, BaseDir: o.dir, Block: true}
		}
	}
	o.Findings.Add(at, fmt.Sprintf("%s is a block", strings.Join(path, ".")), "name one of its keys: "+strings.Join(b.Names(), ", "))
}

// fitted is the i-th step as one of the names, where it means one.
func (s Setting) fitted(i int, names []string) string {
	step := s.path[i]
	if !s.fold || slices.Contains(names, step) {
		return step
	}
	plain := func(name string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '.' || r == ' ' {
				return '_'
			}
			return r
		}, strings.ToLower(name))
	}
	for _, name := range names {
		if plain(name) == plain(step) {
			return name
		}
	}
	return strings.ToLower(step)
}

// key sets a key, or one element of a map.
func (o *Overlay) key(s Setting, k schema.Key, rest []string, existing, into map[string]any, path []string) {
	at := Origin{Position: Position{Name: s.name}, BaseDir: o.dir, Hidden: k.Kind == schema.Table}
	element := (k.Kind == schema.Table || k.Kind == schema.Numbers) && len(rest) == 1
	if len(rest) > 0 && !element {
		o.Findings.Add(at.Position, strings.Join(path, ".")+" is no block", fmt.Sprintf("write %s=value", strings.TrimRight(strings.TrimSuffix(s.name, rest[len(rest)-1]), "._")))
		return
	}
	if element {
		path = append(path, rest[0])
	}
	o.Origins[Join(path...)] = at
	report := func(f Finding) {
		o.Findings.Add(at.Position, f.What, f.Remedy)
		o.Origins.refuse(path...)
	}
	if element {
		if value, ok := k.Scalar(k.ElementKind(), cty.StringVal(s.text), true, rest, report); ok {
			whole := schema.Object{}
			for _, layer := range []map[string]any{existing, into} {
				if lower, ok := layer[k.Name].(schema.Object); ok {
					maps.Copy(whole, lower)
				}
			}
			whole[rest[0]] = value
			into[k.Name] = whole
		}
		return
	}
	v, f := parse(k, s.text)
	if f.What != "" {
		report(f)
		return
	}
	if value, ok := k.Convert(v, report); ok {
		into[k.Name] = value
	}
}

// parse reads the text of a variable or flag: null, a word, a,b,c for a list, or
// what could stand in the file for lists and maps.
func parse(k schema.Key, s string) (cty.Value, Finding) {
	switch trimmed := strings.TrimSpace(s); {
	case s == "null":
		return cty.NullVal(cty.DynamicPseudoType), Finding{}
	case k.Kind == schema.Table || k.Kind == schema.Numbers || k.Kind == schema.Texts && strings.HasPrefix(trimmed, "["):
		expr, diags := hclsyntax.ParseExpression([]byte(s), k.Name, hcl.InitialPos)
		if diags.HasErrors() {
			return cty.NilVal, Finding{What: k.Name + " is not written as in the file", Remedy: `write {name="value"} or ["a","b"]`}
		}
		v, diags := expr.Value(nil)
		if diags.HasErrors() {
			return cty.NilVal, Finding{What: k.Name + ": " + lowerFirst(diags[0].Summary), Remedy: diags[0].Detail}
		}
		return v.Mark(schema.FromEnv), Finding{}
	case k.Kind == schema.Texts:
		return schema.SplitList(trimmed), Finding{}
	}
	return cty.StringVal(s).Mark(schema.FromEnv), Finding{}
}

// free sets a value that has no schema here. It stays text where it replaces
// text; otherwise it gets the type that it looks like.
func (o *Overlay) free(s Setting, rest []string, existing, into map[string]any, path []string) {
	for ; len(rest) > 1; rest = rest[1:] {
		step := Setting{path: rest, fold: s.fold}.fitted(0, slices.Sorted(maps.Keys(existing)))
		path, existing, into = append(path, step), schema.Sub(existing, step), schema.Child(into, step)
	}
	name := Setting{path: rest, fold: s.fold}.fitted(0, slices.Sorted(maps.Keys(existing)))
	into[name] = looksLike(s.text, existing[name])
	o.Origins[Join(append(path, name)...)] = Origin{Position: Position{Name: s.name}, BaseDir: o.dir, Hidden: true}
}

func looksLike(s string, old any) any {
	if _, ok := old.(string); ok {
		return s
	}
	expr, diags := hclsyntax.ParseExpression([]byte(s), "value", hcl.InitialPos)
	if diags.HasErrors() {
		return s
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.Type() == cty.String {
		return s
	}
	return jsonable(v)
}
