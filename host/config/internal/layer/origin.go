package layer

import (
	"maps"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Separator joins the steps of a path; it cannot be typed into a label by accident.
const Separator = "\x1f"

// Join makes a path of its steps.
func Join(path ...string) string {
	return strings.Join(path, Separator)
}

// An Origin is where a value came from.
type Origin struct {
	Position
	// BaseDir is what relative paths in the value are relative to.
	BaseDir string
	// Hidden values are shown as ***.
	Hidden bool
	// Block tells that this is a block, into which higher layers merge.
	Block bool
	// Refused tells that the value was at fault and a lower one stands.
	Refused bool
}

// Origins are the origins of blocks and values, down to the elements of lists
// and maps, by joined path.
type Origins map[string]Origin

// At finds the position of the path, or of the nearest block around it.
func (o Origins) At(path ...string) Position {
	for n := len(path); n > 0; n-- {
		if found, ok := o[Join(path[:n]...)]; ok {
			return found.Position
		}
	}
	return o[""].Position
}

// Within tells whether the block at path, or something inside it, was written at
// that position.
func (o Origins) Within(at Position, path ...string) bool {
	block := Join(path...)
	for inner, from := range o {
		if from.Position == at && (inner == block || strings.HasPrefix(inner, block+Separator)) {
			return true
		}
	}
	return false
}

// Dir is what the paths in the value are relative to.
func (o Origins) Dir(path ...string) string {
	for n := len(path); n >= 0; n-- {
		if found, ok := o[Join(path[:n]...)]; ok && found.BaseDir != "" {
			return found.BaseDir
		}
	}
	return ""
}

// Has tells whether a layer above the defaults set the value.
func (o Origins) Has(path ...string) bool {
	_, ok := o[Join(path...)]
	return ok
}

// Refused tells that a layer set the value and had it refused.
func (o Origins) Refused(path ...string) bool { return o[Join(path...)].Refused }

// refuse marks the value at path.
func (o Origins) refuse(path ...string) {
	from := o[Join(path...)]
	from.Refused = true
	o[Join(path...)] = from
}

// Secret tells whether the value, or a value around it, is not to be shown.
func (o Origins) Secret(path ...string) bool {
	for n := len(path); n > 0; n-- {
		if o[Join(path[:n]...)].Hidden {
			return true
		}
	}
	return false
}

// Cover lays the origins of a higher layer over o. A value takes the place of
// everything that stood below its path; a block stays where it was opened first.
func (o Origins) Cover(higher Origins) {
	for path, from := range higher {
		if !from.Block {
			maps.DeleteFunc(o, func(old string, _ Origin) bool { return strings.HasPrefix(old, path+Separator) })
		}
	}
	for path, from := range higher {
		if old, ok := o[path]; !ok || !old.Block || !from.Block {
			o[path] = from
		}
	}
}

// note writes down where the value of expr stands, and where its elements do.
func (p *Parser) note(path []string, expr hclsyntax.Expression, v cty.Value) {
	v, marks := v.Unmark()
	from := p.position(expr.Range())
	from.Hidden = len(marks) > 0
	p.Origins[Join(path...)] = from
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
		whole.Hidden = whole.Hidden || element.ContainsMarked()
		p.Origins[Join(below...)] = whole
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

func (p *Parser) position(r hcl.Range) Origin {
	at := Position{File: p.File, Line: r.Start.Line, Column: r.Start.Column}
	if p.name != "" {
		at = Position{Name: p.name}
	}
	return Origin{Position: at, BaseDir: p.Dir}
}
