package engine

import (
	"bytes"
	"database/sql/driver"
	"math"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// WritesJSON implements JSONCursor.
func (c *driverCursor) WritesJSON(column int, t *edm.Type) bool {
	if c.written == nil {
		c.written = make([]written, len(c.values))
	}
	w := &c.written[column]
	*w = written{kind: t.Kind, scale: t.Scale}
	switch t.Kind {
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64:
		w.least, w.greatest = t.Kind.Bounds()
		return true
	case edm.Boolean, edm.Double, edm.Decimal, edm.String, edm.Guid, edm.Date, edm.DateTimeOffset, edm.TimeOfDay:
		return true
	}
	return false
}

// AppendJSON implements JSONCursor.
func (c *driverCursor) AppendJSON(dst []byte, members []plan.Member) ([]byte, bool) {
	if len(c.values) != len(c.written) {
		return dst, false
	}
	from := len(dst)
	for i := range members {
		m := &members[i]
		dst = append(dst, m.Name...)
		var ok bool
		if dst, ok = c.written[m.Column].value(dst, c.values[m.Column]); !ok {
			return dst[:from], false
		}
		dst = append(dst, ',')
	}
	return dst, true
}

// value writes what a driver gives; false where that is not what most values of the type are.
func (w *written) value(dst []byte, v driver.Value) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), true
	case int64:
		switch {
		case w.kind == edm.Boolean:
			return strconv.AppendBool(dst, v != 0), true
		case w.kind.Integer():
			return w.integer(dst, v)
		}
	case float64:
		if w.kind == edm.Double && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return scalar.AppendNumber(dst, v, 64), true
		}
	case []byte:
		return w.text(dst, v)
	}
	return dst, false
}

// text writes a value that comes as text.
func (w *written) text(dst, text []byte) (out []byte, ok bool) {
	switch w.kind {
	case edm.String:
		return scalar.AppendString(dst, text), true
	case edm.Guid:
		return appendGUID(dst, text)
	case edm.Decimal:
		return append(dst, text...), hasScale(text, w.scale)
	case edm.Date, edm.DateTimeOffset, edm.TimeOfDay:
		dst, ok = scalar.AppendTime(append(dst, '"'), text, w.kind)
		return append(dst, '"'), ok
	}
	return dst, false
}

// hasScale tells whether a text is a plain number with so many digits behind the point, and without zeros in front, which
// columns with ZEROFILL have.
func hasScale(text []byte, scale int) bool {
	whole := bytes.TrimPrefix(text, []byte("-"))
	if scale > 0 {
		point := len(whole) - scale - 1
		if point < 1 || whole[point] != '.' || !digits(whole[point+1:]) {
			return false
		}
		whole = whole[:point]
	}
	return scale >= 0 && len(whole) > 0 && (len(whole) == 1 || whole[0] != '0') && digits(whole)
}

func digits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
