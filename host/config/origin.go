package config

import (
	"maps"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// separator joins the steps of a path; it cannot be typed into a label by accident.
const separator = "\x1f"

func join(path []string, more ...string) string {
	return strings.Join(append(path[:len(path):len(path)], more...), separator)
}

// An origin is where a value came from.
type origin struct {
	Position
	// dir is what relative paths in the value are relative to.
	dir string
	// secret values are shown as ***.
	secret bool
	// block tells that this is a block, into which higher layers merge.
	block bool
}

// origins are the origins of blocks and values, down to the elements of lists
// and maps, by joined path.
type origins map[string]origin

// at finds the position of the path, or of the nearest block around it.
func (o origins) at(path ...string) Position {
	for n := len(path); n > 0; n-- {
		if found, ok := o[join(path[:n])]; ok {
			return found.Position
		}
	}
	return o[""].Position
}

// dir is what the paths in the value are relative to.
func (o origins) dir(path ...string) string {
	for n := len(path); n >= 0; n-- {
		if found, ok := o[join(path[:n])]; ok && found.dir != "" {
			return found.dir
		}
	}
	return ""
}

// has tells whether a layer above the defaults set the value.
func (o origins) has(path ...string) bool {
	_, ok := o[join(path)]
	return ok
}

// secret tells whether the value, or a value around it, is not to be shown.
func (o origins) secret(path ...string) bool {
	for n := len(path); n > 0; n-- {
		if o[join(path[:n])].secret {
			return true
		}
	}
	return false
}

// cover lays the origins of a higher layer over o. A value takes the place of
// everything that stood below its path; a block stays where it was opened first.
func (o origins) cover(higher origins) {
	for path, from := range higher {
		if !from.block {
			maps.DeleteFunc(o, func(old string, _ origin) bool { return strings.HasPrefix(old, path+separator) })
		}
	}
	for path, from := range higher {
		if old, ok := o[path]; !ok || !old.block || !from.block {
			o[path] = from
		}
	}
}

// note writes down where the value of expr stands, and where its elements do.
func (p *hclParser) note(path []string, expr hclsyntax.Expression, v cty.Value) {
	v, marks := v.Unmark()
	from := p.position(expr.Range())
	from.secret = len(marks) > 0
	p.origins[join(path)] = from
	if v.IsNull() || !v.IsKnown() {
		return
	}
	inner := elementExpressions(expr)
	each := func(name string, element cty.Value) {
		below := append(path[:len(path):len(path)], name)
		if e := inner[name]; e != nil {
			p.note(below, e, element)
			return
		}
		whole := from
		whole.secret = whole.secret || element.ContainsMarked()
		p.origins[join(below)] = whole
	}
	switch t := v.Type(); {
	case t.IsTupleType(), t.IsListType():
		for i, element := range v.AsValueSlice() {
			each(strconv.Itoa(i), element)
		}
	case t.IsObjectType(), t.IsMapType():
		for name, element := range v.AsValueMap() {
			each(name, element)
		}
	}
}

// elementExpressions are the expressions of a list's or map's elements.
func elementExpressions(expr hclsyntax.Expression) map[string]hclsyntax.Expression {
	found := map[string]hclsyntax.Expression{}
	switch expr := expr.(type) {
	case *hclsyntax.TupleConsExpr:
		for i, element := range expr.Exprs {
			found[strconv.Itoa(i)] = element
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range expr.Items {
			if name, diags := item.KeyExpr.Value(nil); !diags.HasErrors() && !name.IsNull() && name.Type() == cty.String {
				found[name.AsString()] = item.ValueExpr
			}
		}
	}
	return found
}

func (p *hclParser) position(r hcl.Range) origin {
	return origin{Position: Position{File: p.file, Line: r.Start.Line, Column: r.Start.Column}, dir: p.dir}
}
