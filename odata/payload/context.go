package payload

import (
	"encoding/base64"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// appendContext appends the context URL of an answer (OData-Protocol 10); row
// is needed for a property only.
func (e *Encoder) appendContext(dst []byte, p *plan.Plan, row []plan.Value) []byte {
	dst = append(append(dst, e.Root...), "$metadata#"...)
	n := p.Top
	switch {
	case n.Ref && p.Kind == plan.Collection:
		return append(dst, "Collection($ref)"...)
	case n.Ref:
		return append(dst, "$ref"...)
	case p.Kind == plan.Property:
		dst = e.appendPath(dst, n, row)
		for _, p := range propertyPath(n) {
			dst = AppendEscaped(append(dst, '/'), p.Name)
		}
		return appendPart(dst, n)
	}
	dst = AppendEscaped(dst, n.Set.Name)
	if list := e.selectList(nil, n); len(list) > 0 {
		dst = append(append(append(dst, '('), list...), ')')
	}
	if p.Kind == plan.Entity && !n.Set.Single() {
		dst = append(dst, "/$entity"...)
	}
	return dst
}

// appendPart appends what was selected of a complex property, unless that is all of
// it (OData-Protocol 10.13).
func appendPart(dst []byte, n *plan.Node) []byte {
	f := n.Fields[0]
	if !n.Explicit || f.T.Kind != edm.Complex || len(f.Fields) == len(f.T.Complex.Properties) {
		return dst
	}
	var list []byte
	for _, inner := range f.Fields {
		list = appendSelected(list, "", inner)
	}
	return append(append(append(dst, '('), list...), ')')
}

// propertyPath gives the path from the entity to the property that was asked
// for. The plan has it in its columns only; those of a complex value lie below
// the property.
func propertyPath(n *plan.Node) []*edm.Property {
	f, below := n.Fields[0], 0
	for f.Column < 0 && len(f.Fields) > 0 {
		f = f.Fields[0]
		below++
	}
	if f.Column < 0 {
		return nil
	}
	ref, ok := n.Columns[f.Column].Expr.(*plan.Ref)
	if !ok {
		return nil
	}
	return ref.Path[:len(ref.Path)-below]
}

// selectList appends the selected and expanded properties, unless all are
// selected (OData-Protocol 10.8 to 10.10). An expanded property of which
// everything is selected is listed in 4.01 only.
func (e *Encoder) selectList(dst []byte, n *plan.Node) []byte {
	switch {
	case n.Applied:
		dst = appendStructure(dst, n.Fields)
		if len(dst) == 0 {
			dst = append(dst, "@Core.AnyStructure"...)
		}
	case n.Extended && !n.Explicit:
		dst = append(dst, '*')
		for _, f := range n.Fields {
			if f.Computed {
				dst = AppendEscaped(comma(dst), f.Name)
			}
		}
	case n.Explicit && complete(n):
		dst = append(dst, '*')
	case n.Explicit:
		for _, f := range n.Fields {
			dst = appendSelected(dst, "", f)
		}
	}
	if n.Operations {
		dst = append(AppendEscaped(comma(dst), e.Namespace), ".*"...)
	}
	for _, nav := range n.Links {
		if !slices.ContainsFunc(n.Expand, func(x *plan.Node) bool { return x.Nav == nav && e.listed(x) }) {
			dst = AppendEscaped(comma(dst), nav.Name)
		}
	}
	for _, x := range n.Expand {
		if !e.listed(x) {
			continue
		}
		list := e.selectList(nil, x)
		dst = AppendEscaped(comma(dst), x.Nav.Name)
		if x.Recursive {
			dst = append(dst, '+')
		}
		dst = append(append(append(dst, '('), list...), ')')
	}
	return dst
}

// listed tells whether an expanded property stands in the list with what was
// selected of it. The plus of a recursive one stands for all its levels.
func (e *Encoder) listed(x *plan.Node) bool {
	return !x.Again && !x.Ref && !x.CountOnly && (e.V401 || len(e.selectList(nil, x)) > 0)
}

// complete tells whether all properties of the type were chosen, and no other.
func complete(n *plan.Node) bool {
	all := len(n.Fields) == len(n.Set.Type.Properties)
	for _, f := range n.Fields {
		partly := f.T.Kind == edm.Complex && len(f.Fields) < len(f.T.Complex.Properties)
		all = all && !partly && !f.Computed
	}
	return all
}

func appendSelected(dst []byte, prefix string, f plan.Field) []byte {
	if f.T.Kind == edm.Complex && f.T.Complex != nil && len(f.Fields) < len(f.T.Complex.Properties) {
		for _, inner := range f.Fields {
			dst = appendSelected(dst, prefix+f.Name+"/", inner)
		}
		return dst
	}
	dst = comma(dst)
	for _, c := range []byte(prefix) {
		if c == '/' {
			dst = append(dst, c)
		} else {
			dst = AppendEscaped(dst, []byte{c})
		}
	}
	return AppendEscaped(dst, f.Name)
}

// appendStructure appends the fields that all rows of a result of $apply have (OData
// Data Aggregation 3.1.1).
func appendStructure(dst []byte, list []plan.Field) []byte {
	for _, f := range list {
		switch {
		case f.Defined != nil:
		case f.Column >= 0:
			dst = AppendEscaped(comma(dst), f.Name)
		default:
			if inner := appendStructure(nil, f.Fields); len(inner) > 0 {
				dst = AppendEscaped(comma(dst), f.Name)
				dst = append(append(append(dst, '('), inner...), ')')
			}
		}
	}
	return dst
}

func comma(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// AppendEscaped appends s percent-encoded for a path segment of a URL: all but
// unreserved characters and those sub-delimiters that no OData URL gives a
// meaning (RFC 3986, 3.3).
func AppendEscaped[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '-', c == '.', c == '_', c == '~', c == ':', c == '@', c == '!', c == '*':
			dst = append(dst, c)
		default:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

// appendPath appends the canonical path of the entity in row: Set(key), or the
// name of a singleton (OData-URL 4.3.1).
func (e *Encoder) appendPath(dst []byte, n *plan.Node, row []plan.Value) []byte {
	dst = AppendEscaped(dst, n.Set.Name)
	if n.Set.Single() || n.Key == nil {
		return dst
	}
	dst = append(dst, '(')
	for i, column := range n.Key {
		dst = e.appendKeyPart(dst, n.Set, i, &row[column])
	}
	return append(dst, ')')
}

// appendKeyPart appends the i-th part of a key, behind a comma unless it is the first.
func (e *Encoder) appendKeyPart(dst []byte, set *edm.EntitySet, i int, v *plan.Value) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	p := set.Type.Key[i]
	if len(set.Type.Key) > 1 {
		dst = append(AppendEscaped(dst, p.Name), '=')
	}
	return e.appendLiteral(dst, v, &p.Type)
}

// Key returns a key of a set as it is in the URL of the entity, such as "(5)", percent-encoded.
func (e *Encoder) Key(set *edm.EntitySet, key []plan.Value) string {
	return string(e.appendKey(make([]byte, 0, 64), set, key))
}

func (e *Encoder) appendKey(dst []byte, set *edm.EntitySet, key []plan.Value) []byte {
	dst = append(dst, '(')
	for i := range key {
		dst = e.appendKeyPart(dst, set, i, &key[i])
	}
	return append(dst, ')')
}

// EntityURL returns the URL of an entity of a set.
func (e *Encoder) EntityURL(set *edm.EntitySet, key []plan.Value) string {
	dst := append(make([]byte, 0, 128), e.Root...)
	return string(e.appendKey(AppendEscaped(dst, set.Name), set, key))
}

// appendLiteral appends a key value as a literal of the URL grammar.
func (e *Encoder) appendLiteral(dst []byte, v *plan.Value, t *edm.Type) []byte {
	switch t.Kind {
	case edm.String:
		dst = append(dst, '\'')
		rest := v.Bytes
		for i := 0; i < len(rest); i++ {
			if rest[i] == '\'' {
				dst = append(AppendEscaped(dst, rest[:i]), "''"...)
				rest, i = rest[i+1:], -1
			}
		}
		return append(AppendEscaped(dst, rest), '\'')
	case edm.Duration:
		return append(AppendEscaped(append(dst, "duration'"...), v.Bytes), '\'')
	case edm.Binary:
		dst = append(dst, "binary'"...)
		dst = base64.RawURLEncoding.AppendEncode(dst, v.Bytes)
		return append(dst, '\'')
	case edm.Enum:
		dst = append(append(AppendEscaped(dst, e.Namespace), '.'), t.Enum.Name...)
		return append(AppendEscaped(append(dst, '\''), EnumText(t.Enum, v.Int)), '\'')
	default:
		return AppendEscaped(dst, AppendText(make([]byte, 0, 32), v, t))
	}
}
