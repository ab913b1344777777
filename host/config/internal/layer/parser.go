package layer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// A Parser is the koanf.Parser for one file of HCL 2. It checks names and values
// against the schema while it reads, so that every fault has a position; values
// that are at fault are left out.
type Parser struct {
	// File is the name for positions, Dir what paths are relative to.
	File, Dir string
	Schema    schema.Block
	// Lookup finds environment variables for env().
	Lookup func(name string) (value string, ok bool)

	// Origins and Findings are filled by Unmarshal.
	Origins  *Origins
	Findings Findings
	// Broken tells that the syntax was wrong, so that parts may be missing.
	Broken bool
	// Empty reports a file without a setting or a block.
	Empty bool

	// name is the variable or flag that is read, empty for a file.
	name string
	// functions are those of EvalContext, once an expression was evaluated.
	functions *hcl.EvalContext
}

func (p *Parser) eval() *hcl.EvalContext {
	if p.functions == nil {
		p.functions = EvalContext(p.Dir, p.Lookup)
	}
	return p.functions
}

// Unmarshal reads src. Faults are collected, not returned.
func (p *Parser) Unmarshal(src []byte) (map[string]any, error) {
	p.Origins = &Origins{}
	parsed, diags := hclsyntax.ParseConfig(src, p.File, hcl.InitialPos)
	p.Broken = diags.HasErrors()
	p.report(diags)
	if parsed == nil {
		return map[string]any{}, nil
	}
	body, ok := parsed.Body.(*hclsyntax.Body)
	if !ok {
		return nil, fmt.Errorf("%s: not in the native syntax of HCL", p.File)
	}
	p.Empty = !p.Broken && len(body.Attributes) == 0 && len(body.Blocks) == 0
	return p.body(p.Schema, body, nil), nil
}

// report turns diagnostics of HCL into findings.
func (p *Parser) report(diags hcl.Diagnostics) {
	for _, d := range diags {
		at := p.position(hcl.Range{}).Position
		if d.Subject != nil {
			at = p.position(*d.Subject).Position
		}
		p.Findings.Add(at, lowerFirst(d.Summary), strings.Join(strings.Fields(d.Detail), " "))
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// body reads the inside of a block.
func (p *Parser) body(b schema.Block, body *hclsyntax.Body, path []string) map[string]any {
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

func (p *Parser) attribute(b schema.Block, attr *hclsyntax.Attribute, path []string, values map[string]any) {
	at := p.position(attr.NameRange).Position
	k, ok := b.Key(attr.Name)
	if !ok {
		if inner, isBlock := b.Block(attr.Name); isBlock {
			p.Findings.Add(at, fmt.Sprintf("%q is a block", attr.Name), "write "+inner.Opening()+" { … } without an equals sign")
			return
		}
		p.Findings.Add(at, unknown(b, attr.Name, path), b.Remedy(p.Schema, attr.Name))
		return
	}
	v, diags := attr.Expr.Value(p.eval())
	p.report(diags)
	below := append(path[:len(path):len(path)], attr.Name)
	if diags.HasErrors() || !v.IsWhollyKnown() { // unknown is what is left of wrong syntax
		p.Origins.Set(p.position(attr.Expr.Range()), below...)
		p.Origins.refuse(below...)
		return
	}
	p.note(below, attr.Expr, v)
	value, ok := k.Convert(v, func(f Finding) {
		p.Findings.Add(p.Origins.At(append(below, f.Path...)...), f.What, f.Remedy)
	})
	if !ok {
		p.Origins.refuse(below...)
		return
	}
	values[attr.Name] = value
}

func (p *Parser) block(b schema.Block, found *hclsyntax.Block, path []string, values map[string]any, seen map[string]hcl.Range) {
	at := p.position(found.TypeRange)
	at.Block = true
	inner, ok := b.Block(found.Type)
	if !ok {
		if _, isKey := b.Key(found.Type); isKey {
			p.Findings.Add(at.Position, fmt.Sprintf("%q is no block", found.Type), fmt.Sprintf("write %s = …", found.Type))
			return
		}
		p.Findings.Add(at.Position, unknown(b, found.Type, path), b.Remedy(p.Schema, found.Type))
		return
	}
	below := append(path[:len(path):len(path)], found.Type)
	name := found.Type
	if !p.labels(inner, found) {
		return
	}
	if inner.Label != "" {
		label := found.Labels[0]
		below = append(below, label)
		name = fmt.Sprintf("%s %q", found.Type, label)
		at.Position = p.position(found.LabelRanges[0]).Position
		if inner.LabelCheck != nil {
			if what, remedy := inner.LabelCheck(label); what != "" {
				p.Findings.Add(at.Position, what, remedy)
			}
		}
	}
	if first, twice := seen[name]; twice {
		remedy := fmt.Sprintf("merge it into the one at line %d", first.Start.Line)
		if inner.Label != "" {
			remedy += ", or rename one of them"
		}
		p.Findings.Add(p.position(found.TypeRange).Position, fmt.Sprintf("duplicate block %s", name), remedy)
		values = map[string]any{}
	} else {
		seen[name] = found.TypeRange
		if p.name == "" || inner.Label != "" {
			p.Origins.Set(at, below...)
		}
	}
	into := values
	if inner.Label != "" {
		into = schema.Child(values, found.Type)
		name = found.Labels[0]
	}
	if inner.Free {
		into[name] = p.free(found.Body, below)
		return
	}
	into[name] = p.body(inner, found.Body, below)
}

// labels checks that a block has the labels that its schema wants.
func (p *Parser) labels(b schema.Block, found *hclsyntax.Block) bool {
	switch {
	case b.Label == "" && len(found.Labels) > 0:
		p.Findings.Add(p.position(found.LabelRanges[0]).Position, fmt.Sprintf("%s has no label", b.Name), fmt.Sprintf("write %s { … }", b.Name))
		return false
	case b.Label != "" && len(found.Labels) == 0:
		p.Findings.Add(p.position(found.TypeRange).Position, fmt.Sprintf("%s has no %s", b.Name, b.Label), fmt.Sprintf("write %s { … }", b.Opening()))
		return false
	case len(found.Labels) > 1:
		p.Findings.Add(p.position(found.LabelRanges[1]).Position, fmt.Sprintf("%s has more than one label", b.Name), fmt.Sprintf("write %s { … }", b.Opening()))
		return false
	}
	return true
}

func unknown(b schema.Block, name string, path []string) string {
	if b.Name == "" {
		return fmt.Sprintf("unknown block or key %q", name)
	}
	return fmt.Sprintf("unknown key %q in %s", name, strings.Join(path, "."))
}
