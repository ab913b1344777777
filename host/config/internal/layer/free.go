package layer

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
)

// free reads a block that has no schema here, such as a plugin's config.
// Attributes may be anything; a block inside is a map, and a labelled one a map
// by label. The same block twice is a fault: its shape would depend on how often
// it is written.
func (p *Parser) free(body *hclsyntax.Body, path []string) map[string]any {
	values := map[string]any{}
	for _, attr := range inOrder(body.Attributes) {
		v, diags := attr.Expr.Value(p.eval())
		p.report(diags)
		if diags.HasErrors() || !v.IsWhollyKnown() {
			continue
		}
		below := append(path[:len(path):len(path)], attr.Name)
		p.note(below, attr.Expr, v)
		values[attr.Name] = jsonable(v)
	}
	for _, inner := range body.Blocks {
		at := p.position(inner.TypeRange)
		at.Block = true
		into, below := values, append(path[:len(path):len(path)], inner.Type)
		name := inner.Type
		for _, label := range inner.Labels {
			if _, isMap := into[name].(map[string]any); into[name] != nil && !isMap {
				break
			}
			into = schema.Child(into, name)
			name, below = label, append(below, label)
		}
		if _, twice := into[name]; twice {
			p.Findings.Add(at.Position, fmt.Sprintf("%s stands here twice", name), fmt.Sprintf("write a list: %s = [{ … }, { … }]", inner.Type))
			continue
		}
		p.Origins.Set(at, below...)
		into[name] = p.free(inner.Body, below)
	}
	return values
}

// jsonable turns a value into what encoding/json writes.
func jsonable(v cty.Value) any {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	switch t := v.Type(); {
	case t == cty.String:
		return v.AsString()
	case t == cty.Bool:
		return v.True()
	case t == cty.Number:
		n := v.AsBigFloat()
		if whole, accuracy := n.Int64(); accuracy == big.Exact {
			return whole
		}
		f, _ := n.Float64()
		return f
	case t.IsObjectType(), t.IsMapType():
		m := schema.Object{}
		for name, element := range v.AsValueMap() {
			m[name] = jsonable(element)
		}
		return m
	}
	list := []any{}
	for _, element := range v.AsValueSlice() {
		list = append(list, jsonable(element))
	}
	return list
}
