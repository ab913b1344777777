package payload

import (
	"encoding/base64"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

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
		if i > 0 {
			dst = append(dst, ',')
		}
		p := n.Set.Type.Key[i]
		if len(n.Key) > 1 {
			dst = append(AppendEscaped(dst, p.Name), '=')
		}
		dst = e.appendLiteral(dst, &row[column], &p.Type)
	}
	return append(dst, ')')
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
		return AppendEscaped(dst, AppendText(nil, v, t))
	}
}
