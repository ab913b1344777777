package cursor

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// AppendJSON implements plan.JSONRows. It writes the cells of most rows without decoding them.
func (r *rows) AppendJSON(dst []byte, members []plan.Member) ([]byte, bool) {
	if !r.asked {
		r.asked, r.writers = true, r.cellWriters(members)
	}
	if r.writers == nil {
		return dst, false
	}
	from := len(dst)
	for i := range members {
		m := &members[i]
		dst = append(dst, m.Name...)
		var ok bool
		if dst, ok = r.writers[m.Column].append(dst, &r.cells[m.Column]); !ok {
			_ = r.fail(r.decode())
			return dst[:from], false
		}
		dst = append(dst, ',')
	}
	return dst, true
}

// cellWriters returns a writer for each column of the members, and nil unless all members are stored values of the types
// that their columns are declared with.
func (r *rows) cellWriters(members []plan.Member) []cellWriter {
	if len(r.node.Expand) > 0 {
		return nil
	}
	list := make([]cellWriter, len(r.node.Columns))
	for _, m := range members {
		column := &r.node.Columns[m.Column]
		_, stored := column.Expr.(*plan.Ref)
		if !stored || r.dec.texts != nil && r.dec.texts[m.Column] {
			return nil
		}
		w := cellWriter{kind: column.T.Kind, scale: column.T.Scale}
		switch w.kind {
		case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64:
			w.least, w.greatest = w.kind.Bounds()
		case edm.Boolean, edm.Single, edm.Double, edm.Decimal, edm.String, edm.Guid, edm.Date, edm.DateTimeOffset, edm.TimeOfDay:
		default:
			return nil
		}
		w.required = slices.Contains(r.node.Key, m.Column)
		list[m.Column] = w
	}
	return list
}

// A cellWriter writes the cells of one column as JSON. Its methods report false, and leave something behind in dst, for a
// cell that is none of its type, or has another form than most: the decoder judges that one.
type cellWriter struct {
	kind  edm.Kind
	scale int
	// least and greatest bound integers.
	least, greatest int64
	// required makes a null one of the cells that append reports false for: a row whose key is null is written otherwise.
	required bool
}

func (w *cellWriter) append(dst []byte, c *engine.Cell) ([]byte, bool) {
	switch c.Kind {
	case engine.Null:
		return append(dst, "null"...), !w.required
	case engine.Int:
		return w.integer(dst, c.Int)
	case engine.Float:
		return w.float(dst, c.Float)
	case engine.Text:
		return w.text(dst, c)
	}
	return dst, false
}

func (w *cellWriter) integer(dst []byte, n int64) ([]byte, bool) {
	switch w.kind {
	case edm.Boolean:
		return strconv.AppendBool(dst, n != 0), true
	case edm.Decimal:
		from := len(dst)
		return scalar.PadDecimal(strconv.AppendInt(dst, n, 10), from, w.scale), true
	case edm.Single, edm.Double:
		return w.float(dst, float64(n))
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64:
		return scalar.AppendInt(dst, n), w.least <= n && n <= w.greatest
	}
	return dst, false
}

func (w *cellWriter) float(dst []byte, f float64) ([]byte, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, false
	}
	switch w.kind {
	case edm.Double:
		return scalar.AppendNumber(dst, f, 64), true
	case edm.Single:
		ok := single(&f)
		return scalar.AppendNumber(dst, f, 32), ok
	case edm.Decimal:
		return scalar.AppendDecimal(dst, f+0, w.scale), true // the sum takes the sign off a zero
	}
	return dst, false
}

func (w *cellWriter) text(dst []byte, c *engine.Cell) (out []byte, ok bool) {
	switch w.kind {
	case edm.String:
		return scalar.AppendString(dst, c.Bytes), true
	case edm.Guid:
		dst, ok = scalar.AppendGUID(append(dst, '"'), c.Bytes, false)
		return append(dst, '"'), ok
	case edm.Decimal:
		return w.decimal(dst, c.Bytes)
	case edm.Date, edm.DateTimeOffset, edm.TimeOfDay:
		dst = append(dst, '"')
		if c.Plain && (w.kind == edm.Date) == (len(c.Bytes) == len(time.DateOnly)) {
			dst, ok = append(dst, c.Bytes...), w.kind != edm.TimeOfDay
		} else {
			dst, ok = scalar.AppendTime(dst, c.Bytes, w.kind)
		}
		return append(dst, '"'), ok
	}
	return dst, false
}

// decimal writes a plain number that has the fractional digits of its type and no zeros in front.
func (w *cellWriter) decimal(dst, text []byte) ([]byte, bool) {
	whole, fraction, point := bytes.Cut(bytes.TrimPrefix(text, []byte("-")), []byte("."))
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' || point != (len(fraction) > 0) || !digits(whole) || !digits(fraction) {
		return dst, false
	}
	from := len(dst)
	dst = append(dst, text...)
	if w.scale == edm.VariableScale {
		return scalar.PadDecimal(dst, from, w.scale), true
	}
	return dst, len(fraction) == w.scale
}

func digits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
