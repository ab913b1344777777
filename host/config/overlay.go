package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/zclconf/go-cty/cty"
)

// prefix is what the names of environment variables with settings begin with.
const prefix = "VESTIBULE_"

// A setting is one value from outside the files, with its key as text.
type setting struct {
	// name is the variable or flag.
	name string
	path []string
	text string
	// fold compares names without regard to case, as variables are in capitals.
	fold bool
}

// An overlay is a layer of such settings.
type overlay struct {
	schema block
	// below are the values of all lower layers.
	below    map[string]any
	dir      string
	values   map[string]any
	origins  origins
	findings Findings
}

// environment finds the settings among the variables: VESTIBULE_A__B=value. A
// variable without two underscores is none, but if it looks like a setting that
// was spelled wrong, that is a warning.
func environment(environ []string, schema block, findings *Findings) ([]setting, error) {
	found, err := env.Provider("", env.Opt{Prefix: prefix, EnvironFunc: func() []string { return environ }}).Read()
	if err != nil {
		return nil, fmt.Errorf("read the environment: %w", err)
	}
	var list []setting
	for _, name := range slices.Sorted(maps.Keys(found)) {
		rest := strings.TrimPrefix(name, prefix)
		if strings.Contains(rest, "__") {
			list = append(list, setting{name: name, path: strings.Split(rest, "__"), text: found[name].(string), fold: true})
			continue
		}
		block, key, _ := strings.Cut(strings.ToLower(rest), "_")
		if _, ok := schema.block(block); ok && key != "" {
			findings.warn(Position{Name: name}, "is not a setting", fmt.Sprintf("write two underscores between block and key: %s%s__…", prefix, strings.ToUpper(block)))
		}
	}
	return list, nil
}

// flags reads --set a.b.c=value. A label with a dot stands in double quotes.
func flagSettings(set []string, findings *Findings) []setting {
	var list []setting
	for _, s := range set {
		key, value, ok := strings.Cut(s, "=")
		name := "--set " + key
		if !ok || key == "" {
			findings.add(Position{Name: name}, "has no value", "write --set block.key=value")
			continue
		}
		list = append(list, setting{name: name, path: splitPath(key), text: value})
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

func newOverlay(schema block, below map[string]any, dir string) *overlay {
	return &overlay{schema: schema, below: below, dir: dir, values: map[string]any{}, origins: origins{}}
}

// apply puts the setting into the layer, or adds a finding.
func (o *overlay) apply(s setting) {
	at := Position{Name: s.name}
	b, existing, into := o.schema, o.below, o.values
	var path []string
	for i := 0; i < len(s.path); i++ {
		step := s.fitted(i, b.names())
		if b.free {
			o.free(s, s.path[i:], existing, into, path)
			return
		}
		if k, ok := b.key(step); ok {
			o.key(s, k, s.path[i+1:], existing, into, append(path, step))
			return
		}
		inner, ok := b.block(step)
		if !ok {
			o.findings.add(at, unknown(b, step, path), o.schema.remedyFor(b, step))
			return
		}
		path, existing, into = append(path, step), sub(existing, step), child(into, step)
		if b = inner; b.label == "" {
			continue
		}
		if i++; i == len(s.path) {
			break
		}
		label := s.fitted(i, slices.Sorted(maps.Keys(existing)))
		if _, known := existing[label]; !known && b.labelCheck != nil {
			if what, remedy := b.labelCheck(label); what != "" {
				o.findings.add(at, what, remedy)
				return
			}
		}
		path, existing, into = append(path, label), sub(existing, label), child(into, label)
		if _, known := o.origins[join(path)]; !known {
			o.origins[join(path)] = origin{Position: at, dir: o.dir, block: true}
		}
	}
	o.findings.add(at, fmt.Sprintf("%s is a block", strings.Join(path, ".")), "name one of its keys: "+strings.Join(b.names(), ", "))
}

// fitted is the i-th step as one of the names, where it means one.
func (s setting) fitted(i int, names []string) string {
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

func sub(values map[string]any, name string) map[string]any {
	inner, _ := values[name].(map[string]any)
	return inner
}

// key sets a key, or one element of a map.
func (o *overlay) key(s setting, k key, rest []string, existing, into map[string]any, path []string) {
	at := origin{Position: Position{Name: s.name}, dir: o.dir, secret: k.kind == table}
	element := (k.kind == table || k.kind == numbers) && len(rest) == 1
	if len(rest) > 0 && !element {
		o.findings.add(at.Position, strings.Join(path, ".")+" is no block", fmt.Sprintf("write %s=value", strings.TrimSuffix(s.name, rest[len(rest)-1])))
		return
	}
	report := func(_ []string, f fault) { o.findings.add(at.Position, f.what, f.remedy) }
	o.origins[join(path)] = at
	if element {
		if value, ok := k.scalar(k.elementKind(), cty.StringVal(s.text), true, rest, report); ok {
			whole := object{}
			for _, layer := range []map[string]any{existing, into} {
				if lower, ok := layer[k.name].(object); ok {
					maps.Copy(whole, lower)
				}
			}
			whole[rest[0]] = value
			into[k.name] = whole
		}
		return
	}
	v, f := k.parse(s.text)
	if f.what != "" {
		report(nil, f)
		return
	}
	if value, ok := k.convert(v, report); ok {
		into[k.name] = value
	}
}

// parse reads the text of a variable or flag: null, a word, a,b,c for a list, or
// what could stand in the file for lists and maps.
func (k key) parse(s string) (cty.Value, fault) {
	switch trimmed := strings.TrimSpace(s); {
	case s == "null":
		return cty.NullVal(cty.DynamicPseudoType), fault{}
	case k.kind == table || k.kind == numbers || k.kind == texts && strings.HasPrefix(trimmed, "["):
		expr, diags := hclsyntax.ParseExpression([]byte(s), k.name, hcl.InitialPos)
		if diags.HasErrors() {
			return cty.NilVal, fault{k.name + " is not written as in the file", `write {name="value"} or ["a","b"]`}
		}
		v, diags := expr.Value(nil)
		if diags.HasErrors() {
			return cty.NilVal, fault{k.name + ": " + lowerFirst(diags[0].Summary), diags[0].Detail}
		}
		return v.Mark(fromEnv), fault{}
	case k.kind == texts:
		list := []cty.Value{}
		for _, one := range strings.Split(trimmed, ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, cty.StringVal(one))
			}
		}
		return cty.TupleVal(list), fault{}
	}
	return cty.StringVal(s).Mark(fromEnv), fault{}
}

// free sets a value that somebody else checks: with the type of what it takes
// the place of, or else as it looks.
func (o *overlay) free(s setting, rest []string, existing, into map[string]any, path []string) {
	for ; len(rest) > 1; rest = rest[1:] {
		step := setting{path: rest, fold: s.fold}.fitted(0, slices.Sorted(maps.Keys(existing)))
		path, existing, into = append(path, step), sub(existing, step), child(into, step)
	}
	name := setting{path: rest, fold: s.fold}.fitted(0, slices.Sorted(maps.Keys(existing)))
	into[name] = looksLike(s.text, existing[name])
	o.origins[join(append(path, name))] = origin{Position: Position{Name: s.name}, dir: o.dir, secret: true}
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
