package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// An hclParser is the koanf.Parser for one file of HCL 2. It checks names and
// values against the schema while it reads, so that every fault has a position;
// values that are at fault are left out.
type hclParser struct {
	file, dir string
	schema    block
	eval      *hcl.EvalContext

	origins  origins
	findings Findings
	// broken tells that the syntax was wrong, so that parts may be missing.
	broken bool
}

// Unmarshal reads src. Faults are collected, not returned.
func (p *hclParser) Unmarshal(src []byte) (map[string]any, error) {
	p.origins = origins{}
	parsed, diags := hclsyntax.ParseConfig(src, p.file, hcl.InitialPos)
	p.broken = diags.HasErrors()
	p.report(diags)
	if parsed == nil {
		return map[string]any{}, nil
	}
	body, ok := parsed.Body.(*hclsyntax.Body)
	if !ok {
		return nil, fmt.Errorf("%s: not in the native syntax of HCL", p.file)
	}
	return p.body(p.schema, body, nil), nil
}

// report turns what HCL says into findings.
func (p *hclParser) report(diags hcl.Diagnostics) {
	for _, d := range diags {
		at := Position{File: p.file}
		if d.Subject != nil {
			at = p.position(*d.Subject).Position
		}
		p.findings.add(at, lowerFirst(d.Summary), strings.Join(strings.Fields(d.Detail), " "))
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// body reads the inside of a block.
func (p *hclParser) body(b block, body *hclsyntax.Body, path []string) map[string]any {
	values := map[string]any{}
	for _, attr := range inOrder(body.Attributes) {
		p.attribute(b, attr, path, values)
	}
	seen := map[string]hcl.Range{}
	for _, inner := range body.Blocks {
		p.block(b, inner, path, values, seen)
	}
	return values
}

func inOrder(attributes hclsyntax.Attributes) []*hclsyntax.Attribute {
	var list []*hclsyntax.Attribute
	for _, attr := range attributes {
		list = append(list, attr)
	}
	slices.SortFunc(list, func(a, b *hclsyntax.Attribute) int {
		return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte)
	})
	return list
}

func (p *hclParser) attribute(b block, attr *hclsyntax.Attribute, path []string, values map[string]any) {
	at := p.position(attr.NameRange).Position
	k, ok := b.key(attr.Name)
	if !ok {
		if inner, isBlock := b.block(attr.Name); isBlock {
			p.findings.add(at, fmt.Sprintf("%q is a block", attr.Name), "write "+inner.opening()+" { … } without an equals sign")
			return
		}
		p.findings.add(at, unknown(b, attr.Name, path), p.schema.remedyFor(b, attr.Name))
		return
	}
	v, diags := attr.Expr.Value(p.eval)
	p.report(diags)
	if diags.HasErrors() {
		return
	}
	below := append(path[:len(path):len(path)], attr.Name)
	p.note(below, attr.Expr, v)
	value, ok := k.convert(v, func(element []string, f fault) {
		p.findings.add(p.origins.at(append(below, element...)...), f.what, f.remedy)
	})
	if ok {
		values[attr.Name] = value
	}
}

func (p *hclParser) block(b block, found *hclsyntax.Block, path []string, values map[string]any, seen map[string]hcl.Range) {
	at := p.position(found.TypeRange)
	at.block = true
	inner, ok := b.block(found.Type)
	if !ok {
		if _, isKey := b.key(found.Type); isKey {
			p.findings.add(at.Position, fmt.Sprintf("%q is no block", found.Type), fmt.Sprintf("write %s = …", found.Type))
			return
		}
		p.findings.add(at.Position, unknown(b, found.Type, path), p.schema.remedyFor(b, found.Type))
		return
	}
	below := append(path[:len(path):len(path)], found.Type)
	name := found.Type
	if !p.labels(inner, found) {
		return
	}
	if inner.label != "" {
		label := found.Labels[0]
		below = append(below, label)
		name = fmt.Sprintf("%s %q", found.Type, label)
		at.Position = p.position(found.LabelRanges[0]).Position
		if inner.labelCheck != nil {
			if what, remedy := inner.labelCheck(label); what != "" {
				p.findings.add(at.Position, what, remedy)
			}
		}
	}
	key := join(below)
	if first, twice := seen[key]; twice {
		p.findings.add(p.position(found.TypeRange).Position, fmt.Sprintf("duplicate block %s", name),
			fmt.Sprintf("merge it into the one at line %d", first.Start.Line))
		values = map[string]any{}
	} else {
		seen[key] = found.TypeRange
		p.origins[key] = at
	}
	into := values
	if inner.label != "" {
		into = child(values, found.Type)
		name = found.Labels[0]
	}
	if inner.free {
		into[name] = p.free(found.Body, below)
		return
	}
	into[name] = p.body(inner, found.Body, below)
}

// labels checks that a block has the labels that its schema wants.
func (p *hclParser) labels(b block, found *hclsyntax.Block) bool {
	switch {
	case b.label == "" && len(found.Labels) > 0:
		p.findings.add(p.position(found.LabelRanges[0]).Position, fmt.Sprintf("%s has no label", b.name), fmt.Sprintf("write %s { … }", b.name))
		return false
	case b.label != "" && len(found.Labels) == 0:
		p.findings.add(p.position(found.TypeRange).Position, fmt.Sprintf("%s has no %s", b.name, b.label), fmt.Sprintf("write %s { … }", b.opening()))
		return false
	case len(found.Labels) > 1:
		p.findings.add(p.position(found.LabelRanges[1]).Position, fmt.Sprintf("%s has more than one label", b.name), fmt.Sprintf("write %s { … }", b.opening()))
		return false
	}
	return true
}

func child(values map[string]any, name string) map[string]any {
	inner, ok := values[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		values[name] = inner
	}
	return inner
}

// opening is how the block begins in a file.
func (b block) opening() string {
	if b.label == "" {
		return b.name
	}
	return fmt.Sprintf("%s %q", b.name, b.label)
}

func unknown(b block, name string, path []string) string {
	if b.name == "" {
		return fmt.Sprintf("unknown block or key %q", name)
	}
	return fmt.Sprintf("unknown key %q in %s", name, strings.Join(path, "."))
}

// remedyFor helps with a name that is not known in b: a slip of the pen, or a
// setting that belongs elsewhere.
func (root block) remedyFor(b block, name string) string {
	if near := closest(name, b.names()); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if holder, ok := b.holder(name); ok {
		return fmt.Sprintf("it belongs into the block %s", holder)
	}
	if holder, ok := root.holder(name); ok {
		return fmt.Sprintf("it belongs into the block %s", holder)
	}
	if _, ok := root.block(name); ok {
		return "it belongs to the top level of the file"
	}
	return "take it out; what can stand here: " + strings.Join(b.names(), ", ")
}
