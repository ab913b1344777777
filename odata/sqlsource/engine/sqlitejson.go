package engine

import (
	"math"
	"strconv"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// WritesJSON implements JSONCursor.
func (c *sqliteCursor) WritesJSON(column int, t *edm.Type) bool {
	if c.handle == 0 {
		return false
	}
	if c.written == nil {
		n := int(sqlite3.Xsqlite3_column_count(c.conn.tls, c.handle))
		if cap(c.conn.columns) < n {
			c.conn.columns = make([]written, n)
		}
		c.written, c.conn.columns = c.conn.columns[:n], nil
		clear(c.written)
	}
	w := &c.written[column]
	*w = written{kind: t.Kind, scale: t.Scale}
	switch t.Kind {
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64:
		w.least, w.greatest = t.Kind.Bounds()
		return true
	case edm.Boolean, edm.Single, edm.Double, edm.Decimal, edm.String, edm.Guid, edm.Date, edm.DateTimeOffset, edm.TimeOfDay:
		return true
	}
	return false
}

// AppendJSON implements JSONCursor.
func (c *sqliteCursor) AppendJSON(dst []byte, members []plan.Member) ([]byte, bool) {
	row := c.current()
	if len(row) == 0 || len(row) != len(c.written) {
		return dst, false
	}
	from := len(dst)
	for i := range members {
		m := &members[i]
		dst = append(dst, m.Name...)
		var ok bool
		if dst, ok = c.written[m.Column].stored(dst, &row[m.Column]); !ok {
			return dst[:from], false
		}
		dst = append(dst, ',')
	}
	return dst, true
}

// stored writes a value of SQLite; false where it is not of the class that most values of the type have.
func (w *written) stored(dst []byte, v *mem) ([]byte, bool) {
	switch v.Fflags & storage {
	case sqlite3.MEM_Null:
		return append(dst, "null"...), true
	case sqlite3.MEM_Int:
		return w.whole(dst, integer(v))
	case sqlite3.MEM_Real:
		return w.real(dst, v.Fu.Fr)
	case sqlite3.MEM_Str:
		return w.text(dst, stored(v))
	}
	return dst, false
}

// whole writes a whole number.
func (w *written) whole(dst []byte, n int64) ([]byte, bool) {
	switch w.kind {
	case edm.Boolean:
		return strconv.AppendBool(dst, n != 0), true
	case edm.Decimal:
		from := len(dst)
		return scalar.PadDecimal(strconv.AppendInt(dst, n, 10), from, w.scale), true
	case edm.Single, edm.Double:
		return w.real(dst, float64(n))
	}
	if !w.kind.Integer() {
		return dst, false
	}
	return w.integer(dst, n)
}

// real writes a number that is no whole one, or need not be one.
func (w *written) real(dst []byte, f float64) ([]byte, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, false
	}
	switch w.kind {
	case edm.Double:
		return scalar.AppendNumber(dst, f, 64), true
	case edm.Single:
		return scalar.AppendNumber(dst, f, 32), true
	case edm.Decimal:
		return scalar.AppendDecimal(dst, f+0, w.scale), true // the sum takes the sign off a zero
	}
	return dst, false
}
