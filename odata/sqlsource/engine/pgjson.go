package engine

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// written is how the values of a column are written as JSON.
type written struct {
	form form
	// kind is that of the property; edm.Null where values have to become cells.
	kind  edm.Kind
	scale int
	// least and greatest bound integers.
	least, greatest int64
}

// WritesJSON implements JSONCursor.
func (c *pgxCursor) WritesJSON(column int, t *edm.Type) bool {
	if c.forms == nil {
		c.forms = formsOf(c.rows.FieldDescriptions())
	}
	if c.written == nil {
		c.written = make([]written, len(c.forms))
	}
	w := &c.written[column]
	*w = written{form: c.forms[column], kind: t.Kind, scale: t.Scale}
	if !w.form.writes(t.Kind) {
		return false
	}
	if t.Kind.Integer() {
		w.least, w.greatest = t.Kind.Bounds()
	}
	return true
}

// writes tells whether values that come in a form are written as those of a type without a look at each.
func (f form) writes(k edm.Kind) bool {
	switch f {
	case asSent:
		return k == edm.String || k == edm.Guid
	case asBoolean:
		return k == edm.Boolean
	case asInt16, asInt32, asInt64:
		return k.Integer() && k != edm.Enum
	case asFloat64:
		return k == edm.Double
	case asNumeric:
		return k == edm.Decimal
	case asDate:
		return k == edm.Date
	case asInstant:
		return k == edm.DateTimeOffset
	}
	return false
}

// AppendJSON implements JSONCursor.
func (c *pgxCursor) AppendJSON(dst []byte, members []plan.Member) ([]byte, bool) {
	values := c.rows.RawValues()
	if len(values) != len(c.written) {
		return dst, false
	}
	from := len(dst)
	for i := range members {
		m := &members[i]
		dst = append(dst, m.Name...)
		raw := values[m.Column]
		if raw == nil {
			dst = append(dst, "null,"...)
			continue
		}
		var ok bool
		if dst, ok = c.written[m.Column].append(dst, raw); !ok {
			return dst[:from], false
		}
		dst = append(dst, ',')
	}
	return dst, true
}

// append writes a value; false where it is none of its type, or one that is no number of JSON.
func (w *written) append(dst, raw []byte) ([]byte, bool) {
	if w.form != asNumeric && w.form != asSent && len(raw) != sizes[w.form] {
		return dst, false
	}
	switch w.form {
	case asSent:
		if w.kind == edm.Guid {
			return appendGUID(dst, raw)
		}
		return scalar.AppendString(dst, raw), true
	case asBoolean:
		return strconv.AppendBool(dst, raw[0] != 0), true
	case asInt16:
		return w.integer(dst, int64(int16(binary.BigEndian.Uint16(raw))))
	case asInt32:
		return w.integer(dst, int64(int32(binary.BigEndian.Uint32(raw))))
	case asInt64:
		return w.integer(dst, int64(binary.BigEndian.Uint64(raw)))
	case asFloat64:
		f := math.Float64frombits(binary.BigEndian.Uint64(raw))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return dst, false
		}
		return scalar.AppendNumber(dst, f, 64), true
	case asNumeric:
		return w.decimal(dst, raw)
	}
	return w.time(dst, raw)
}

func (w *written) integer(dst []byte, n int64) ([]byte, bool) {
	return scalar.AppendInt(dst, n), w.least <= n && n <= w.greatest
}

// decimal writes a numeric that has the digits behind the point that its property is declared with.
func (w *written) decimal(dst, raw []byte) ([]byte, bool) {
	if len(raw) < 8 {
		return dst, false
	}
	sign, scale := binary.BigEndian.Uint16(raw[4:]), int(binary.BigEndian.Uint16(raw[6:]))
	if sign != 0 && sign != numericNegative || w.scale != edm.VariableScale && w.scale != scale {
		return dst, false
	}
	dst, ok := appendNumeric(dst, raw)
	if w.scale == edm.VariableScale && scale > 0 && ok {
		dst = bytes.TrimSuffix(bytes.TrimRight(dst, "0"), []byte("."))
	}
	return dst, ok
}

// time writes a date or an instant with a year of four digits.
func (w *written) time(dst, raw []byte) (out []byte, plain bool) {
	dst = append(dst, '"')
	if w.form == asDate {
		dst, plain = appendDay(dst, int32(binary.BigEndian.Uint32(raw)))
	} else {
		dst, plain = appendMicros(dst, int64(binary.BigEndian.Uint64(raw)))
	}
	return append(dst, '"'), plain
}

// appendGUID writes the text of a GUID in lower case; false where it is none, which a column of texts may hold.
func appendGUID(dst, text []byte) ([]byte, bool) {
	if len(text) != 36 {
		return dst, false
	}
	dst = append(dst, '"')
	for _, b := range text {
		if b >= 'A' && b <= 'F' {
			b += 'a' - 'A'
		}
		if b != '-' && (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return dst, false
		}
		dst = append(dst, b)
	}
	return append(dst, '"'), true
}
