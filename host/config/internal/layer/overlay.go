package layer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
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

// Environment finds the settings among the variables: VESTIBULE_A__B=value. A
// variable without two underscores is none, but if it looks like a setting that
// was spelled wrong, that is a warning.
func Environment(environ []string, root schema.Block, findings *Findings) (list []Setting) {
	found := map[string]string{}
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		found[name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		rest, ours := strings.CutPrefix(name, prefix)
		if ours && strings.Contains(rest, "__") {
			list = append(list, Setting{name: name, path: strings.Split(rest, "__"), text: found[name], fold: true})
			continue
		}
		block, key, _ := strings.Cut(strings.ToLower(rest), "_")
		if _, ok := root.Block(block); ours && ok && key != "" {
			findings.Warn(Position{Name: name}, "is not a setting", fmt.Sprintf("write two underscores between block and key: %s%s__…", prefix, strings.ToUpper(block)))
		}
	}
	return list
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

// Apply reads one setting as if it stood in a file of its own, in the blocks that its key
// names. below are the values of all lower layers.
func (p *Parser) Apply(s Setting, below map[string]any) map[string]any {
	p.name, p.Origins = s.name, &Origins{}
	b, path := p.Schema, []string(nil)
	root := &hclsyntax.Body{}
	body := root
	open := func(name string, labels ...string) {
		inner := &hclsyntax.Block{Type: name, Labels: labels, LabelRanges: make([]hcl.Range, len(labels)), Body: &hclsyntax.Body{}}
		body.Blocks, body = append(body.Blocks, inner), inner.Body
		path, below = append(path, name), schema.Sub(below, name)
		for _, label := range labels {
			path, below = append(path, label), schema.Sub(below, label)
		}
	}
	set := func(name string, v cty.Value) map[string]any {
		body.Attributes = hclsyntax.Attributes{name: {Name: name, Expr: &hclsyntax.LiteralValueExpr{Val: v}}}
		return p.body(p.Schema, root, nil)
	}
	for i := 0; i < len(s.path); i++ {
		step := s.fitted(i, b.Names())
		if b.Free {
			step = s.fitted(i, slices.Sorted(maps.Keys(below)))
			if i == len(s.path)-1 {
				return set(step, looksLike(s.text, below[step]))
			}
			open(step)
			continue
		}
		if k, ok := b.Key(step); ok {
			return p.key(s, k, s.path[i+1:], append(path, step), below[step], set)
		}
		inner, ok := b.Block(step)
		if !ok {
			p.Findings.Add(Position{Name: s.name}, unknown(b, step, path), b.Remedy(p.Schema, step))
			return nil
		}
		if b = inner; b.Label == "" {
			open(step)
		} else if i++; i < len(s.path) {
			open(step, s.fitted(i, slices.Sorted(maps.Keys(schema.Sub(below, step)))))
		} else {
			path = append(path, step)
		}
	}
	p.Findings.Add(Position{Name: s.name}, fmt.Sprintf("%s is a block", strings.Join(path, ".")), "name one of its keys: "+strings.Join(b.Names(), ", "))
	return p.body(p.Schema, root, nil)
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

// key sets a key, or adds one element to the map that old is.
func (p *Parser) key(s Setting, k schema.Key, rest, path []string, old any, set func(string, cty.Value) map[string]any) map[string]any {
	element := (k.Kind == schema.Table || k.Kind == schema.Numbers) && len(rest) == 1
	if len(rest) > 0 && !element {
		p.Findings.Add(Position{Name: s.name}, strings.Join(path, ".")+" is no block", fmt.Sprintf("write %s=value", strings.TrimRight(strings.TrimSuffix(s.name, rest[len(rest)-1]), "._")))
		return nil
	}
	if !element {
		v, wrong := parse(k, s.text)
		if wrong.What == "" {
			return set(k.Name, v)
		}
		p.Findings.Add(Position{Name: s.name}, wrong.What, wrong.Remedy)
		p.Origins.refuse(path...)
		return nil
	}
	values := set(k.Name, cty.ObjectVal(map[string]cty.Value{rest[0]: cty.StringVal(s.text).Mark(schema.FromEnv)}))
	p.Origins.forget(path...) // the other elements stay where they were written
	into := values
	for _, step := range path[:len(path)-1] {
		into = schema.Sub(into, step)
	}
	if one, ok := into[k.Name].(schema.Object); ok {
		whole := schema.Object{}
		lower, _ := old.(schema.Object)
		maps.Copy(whole, lower)
		maps.Copy(whole, one)
		into[k.Name] = whole
	}
	return values
}

// parse reads the text of a variable or flag: null, what could stand in the file for
// lists and maps, or a text, as env() gives it.
func parse(k schema.Key, s string) (cty.Value, Finding) {
	switch {
	case s == "null":
		return cty.NullVal(cty.DynamicPseudoType), Finding{}
	case k.Kind == schema.Table || k.Kind == schema.Numbers || k.Kind == schema.Texts && strings.HasPrefix(strings.TrimSpace(s), "["):
		expr, diags := hclsyntax.ParseExpression([]byte(s), k.Name, hcl.InitialPos)
		if diags.HasErrors() {
			return cty.NilVal, Finding{What: k.Name + " is not written as in the file", Remedy: `write {name="value"} or ["a","b"]`}
		}
		v, diags := expr.Value(nil)
		if diags.HasErrors() {
			return cty.NilVal, Finding{What: k.Name + ": " + lowerFirst(diags[0].Summary), Remedy: diags[0].Detail}
		}
		return v.Mark(schema.FromEnv), Finding{}
	}
	return cty.StringVal(s).Mark(schema.FromEnv), Finding{}
}

// looksLike is the value of text that has no schema. It stays text where it replaces
// text; otherwise it gets the type that it looks like.
func looksLike(s string, old any) cty.Value {
	if _, ok := old.(string); !ok {
		if expr, diags := hclsyntax.ParseExpression([]byte(s), "value", hcl.InitialPos); !diags.HasErrors() {
			if v, diags := expr.Value(nil); !diags.HasErrors() && v.Type() != cty.String {
				return v.Mark(schema.FromEnv)
			}
		}
	}
	return cty.StringVal(s).Mark(schema.FromEnv)
}
