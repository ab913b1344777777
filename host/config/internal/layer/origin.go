package layer

import (
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

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

// Origins is a tree of the origins of blocks and values, down to the elements of lists
// and maps, with a level for each step of a path. The zero value is empty.
type Origins struct {
	origin Origin
	// written reports that origin is set; a node without it only has others below.
	written bool
	below   map[string]*Origins
}

// along calls visit for each node on the path, the root included, and returns the last one; nil if the tree ends before.
func (o *Origins) along(path []string, visit func(*Origins)) *Origins {
	for n := 0; o != nil; n++ {
		if visit(o); n == len(path) {
			return o
		}
		o = o.below[path[n]]
	}
	return nil
}

// at returns the node at path; nil if there is none.
func (o *Origins) at(path []string) *Origins { return o.along(path, func(*Origins) {}) }

// Set writes down the origin of the value at path.
func (o *Origins) Set(from Origin, path ...string) {
	for _, step := range path {
		next := o.below[step]
		if next == nil {
			if o.below == nil {
				o.below = map[string]*Origins{}
			}
			next = &Origins{}
			o.below[step] = next
		}
		o = next
	}
	o.origin, o.written = from, true
}

// At finds the position of the path, or of the nearest block around it.
func (o *Origins) At(path ...string) (at Position) {
	o.along(path, func(n *Origins) {
		if n.written {
			at = n.origin.Position
		}
	})
	return at
}

// Within reports whether the block at path, or something inside it, was written at
// that position.
func (o *Origins) Within(at Position, path ...string) bool {
	block := o.at(path)
	return block != nil && block.holds(at)
}

func (o *Origins) holds(at Position) bool {
	if o.written && o.origin.Position == at {
		return true
	}
	for _, inner := range o.below {
		if inner.holds(at) {
			return true
		}
	}
	return false
}

// Dir is what the paths in the value are relative to.
func (o *Origins) Dir(path ...string) (dir string) {
	o.along(path, func(n *Origins) {
		if n.origin.BaseDir != "" {
			dir = n.origin.BaseDir
		}
	})
	return dir
}

// Has reports whether a layer above the defaults set the value.
func (o *Origins) Has(path ...string) bool {
	n := o.at(path)
	return n != nil && n.written
}

// Refused reports whether a layer set the value and had it refused.
func (o *Origins) Refused(path ...string) bool {
	n := o.at(path)
	return n != nil && n.origin.Refused
}

// refuse marks the value at path.
func (o *Origins) refuse(path ...string) {
	var from Origin
	if n := o.at(path); n != nil {
		from = n.origin
	}
	from.Refused = true
	o.Set(from, path...)
}

// forget takes back the origin at path, and leaves those below it.
func (o *Origins) forget(path ...string) {
	if n := o.at(path); n != nil {
		n.origin, n.written = Origin{}, false
	}
}

// Secret reports whether the value, or a value around it, is not to be shown.
func (o *Origins) Secret(path ...string) (secret bool) {
	o.along(path, func(n *Origins) { secret = secret || n.origin.Hidden })
	return secret
}

// Cover lays the origins of a higher layer over o, and takes over its nodes. A value replaces
// all below its path; a block stays where it was opened first.
func (o *Origins) Cover(higher *Origins) {
	if higher.written {
		if !higher.origin.Block {
			o.below = nil
		}
		if !o.written || !o.origin.Block || !higher.origin.Block {
			o.origin, o.written = higher.origin, true
		}
	}
	if o.below == nil {
		o.below = higher.below
		return
	}
	for name, over := range higher.below {
		if under := o.below[name]; under != nil {
			under.Cover(over)
		} else {
			o.below[name] = over
		}
	}
}

// note writes down where the value of expr stands, and where its elements do.
func (p *Parser) note(path []string, expr hclsyntax.Expression, v cty.Value) {
	v, marks := v.Unmark()
	from := p.position(expr.Range())
	from.Hidden = len(marks) > 0
	p.Origins.Set(from, path...)
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
		p.Origins.Set(whole, below...)
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
