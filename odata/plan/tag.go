package plan

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

// AppendTag appends the entity tag of a row of the node, without quotes: the version, or a hash of the values. It is the same
// for the same values from every source. The hash is a cryptographic one: who may write one value of a row must not be able
// to hide from others what changes in it. The node must have a Tag.
func (n *Node) AppendTag(dst []byte, row []Value) []byte {
	if n.Versioned {
		return strconv.AppendInt(dst, row[n.Tag[0]].Int, 10)
	}
	b := make([]byte, 0, 512)
	for _, column := range n.Tag {
		v, kind := &row[column], n.Columns[column].T.Kind
		switch {
		case v.Null:
			b = append(b, "null"...)
		case textual(kind):
			b = strconv.AppendInt(b, int64(len(v.Bytes)), 10)
			b = append(append(b, ':'), v.Bytes...)
		case kind.Floating():
			b = strconv.AppendFloat(b, v.Float, 'g', -1, 64)
		default:
			b = strconv.AppendInt(b, v.Int, 10)
		}
		b = append(b, ',')
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.AppendEncode(dst, sum[:12])
}
