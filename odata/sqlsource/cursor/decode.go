package cursor

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// decoder makes values of cells. Text that has to be written anew goes into its arena; text that is fine as it is stays
// where the engine has it, until pin copies it.
type decoder struct {
	arena []byte
	last  []plan.Value
	// own is the block that pinned texts go to, as long as it has room for them.
	own []byte
	// texts tells which columns hold texts of values of another type; nil where none does.
	texts []bool
	// doubt asks, where a value does not fit, whether the tables were changed; nil for never.
	doubt func() error
	// nulled are the columns of the last row whose stored values are shown as null.
	nulled []int
}

// fresh is a decoder for the same columns, with memory of its own.
func (d *decoder) fresh() decoder { return decoder{texts: d.texts, doubt: d.doubt} }

// ownBlock is the size of such blocks.
const ownBlock = 16 << 10

// reset forgets the texts of the row before.
func (d *decoder) reset() { d.arena = d.arena[:0] }

// pin copies the texts of the row just decoded into memory of their own, and tells how many bytes they have.
func (d *decoder) pin() int {
	need := 0
	for i := range d.last {
		need += len(d.last[i].Bytes)
	}
	if need > cap(d.own)-len(d.own) {
		d.own = make([]byte, 0, max(need, ownBlock))
	}
	for i := range d.last {
		if b := d.last[i].Bytes; b != nil {
			from := len(d.own)
			d.own = append(d.own, b...)
			d.last[i].Bytes = d.own[from:len(d.own):len(d.own)]
		}
	}
	d.arena = d.arena[:0]
	return need
}

// row decodes the cells of a row. A computed value that its type cannot hold is engine.ErrOutOfRange: not all databases
// have the ranges of OData. A stored one is null where its property may be null, else it ends the answer.
func (d *decoder) row(values []plan.Value, cells []engine.Cell, n *plan.Node) error {
	d.last, d.nulled = values, d.nulled[:0]
	for i := range n.Columns {
		column := &n.Columns[i]
		values[i] = plan.Value{}
		if cells[i].Kind == engine.Null {
			values[i].Null = true
			continue
		}
		if d.cell(&values[i], cells, n, i) {
			continue
		}
		ref, stored := column.Expr.(*plan.Ref)
		switch {
		case !stored:
			return fmt.Errorf("column %d is no %s: %w", i, column.T.Kind, engine.ErrOutOfRange)
		case nullable(ref):
			values[i] = plan.Value{Null: true}
			d.nulled = append(d.nulled, i)
			if d.doubt != nil {
				if err := d.doubt(); err != nil {
					return err
				}
			}
		default:
			return d.misfit(cells, n, ref)
		}
	}
	return nil
}

// cell decodes the cell of a column; false when its content does not fit the type.
func (d *decoder) cell(v *plan.Value, cells []engine.Cell, n *plan.Node, i int) bool {
	if d.texts != nil && d.texts[i] && cells[i].Kind == engine.Text {
		return d.read(v, &cells[i], &n.Columns[i].T)
	}
	return d.value(v, &cells[i], &n.Columns[i].T)
}

// nullable tells whether the property itself may be null; a complex value has no column of its own.
func nullable(ref *plan.Ref) bool { return len(ref.Path) > 0 && ref.Path[len(ref.Path)-1].Nullable }

// misfit names the stored value that its type cannot hold.
func (d *decoder) misfit(cells []engine.Cell, n *plan.Node, ref *plan.Ref) error {
	var path []string
	for _, p := range ref.Path {
		path = append(path, p.Name)
	}
	set := "the result"
	if n.Set != nil {
		set = n.Set.Name
	}
	return fmt.Errorf("%s(%s)/%s: the stored value is no %s, and the column does not allow null", set, d.key(cells, n), strings.Join(path, "/"), ref.T.Kind)
}

// unplaced returns an error if the row that was decoded last has its place in an order by a stored value that no answer shows. The link
// behind such a row would name null and so another place. stored are such items of the order.
func (d *decoder) unplaced(n *plan.Node, stored []int) error {
	for _, item := range stored {
		if item < len(n.Cursor) && slices.Contains(d.nulled, n.Cursor[item]) {
			return fmt.Errorf("%s: the rows are ordered by item %d of the order as it is stored, the last row of the page has a value there that is no %s, "+
				"and the link to the next page cannot name it", n.Set.Name, item+1, n.Columns[n.Cursor[item]].T.Kind)
		}
	}
	return nil
}

// key is the key of a row, as it is stored.
func (d *decoder) key(cells []engine.Cell, n *plan.Node) string {
	var key []string
	for _, at := range n.Key {
		key = append(key, string(d.text(&cells[at])))
	}
	return strings.Join(key, ",")
}

// value decodes one cell; false when its content does not fit the type.
func (d *decoder) value(v *plan.Value, c *engine.Cell, t *edm.Type) bool {
	switch t.Kind {
	case edm.String:
		v.Bytes = d.text(c)
		return true
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64, edm.Enum:
		least, greatest := t.Kind.Bounds()
		return integer(v, c) && least <= v.Int && v.Int <= greatest
	case edm.Boolean:
		return truth(v, c)
	case edm.Decimal:
		return d.decimal(v, c, t.Scale)
	case edm.Single:
		return float(v, c) && single(&v.Float)
	case edm.Double:
		return float(v, c)
	case edm.Binary:
		v.Bytes = d.text(c)
		return true
	case edm.Guid:
		return d.guid(v, c)
	case edm.Date, edm.DateTimeOffset, edm.TimeOfDay:
		return d.time(v, c, t.Kind)
	case edm.Duration:
		return d.duration(v, c)
	}
	return false
}

// read decodes a text that stands for a value of another type, by the rule of casts; false when it is no such value.
func (d *decoder) read(v *plan.Value, c *engine.Cell, t *edm.Type) bool {
	r, ok := scalar.FromText(t.Kind, c.Bytes)
	if !ok {
		return false
	}
	v.Int, v.Float = r.Int, r.Float
	if r.Text != "" {
		from := len(d.arena)
		d.arena = append(d.arena, r.Text...)
		if t.Kind == edm.Decimal {
			d.arena = scalar.PadDecimal(d.arena, from, t.Scale)
		}
		v.Bytes = d.arena[from:len(d.arena):len(d.arena)]
	}
	return true
}

// text is the cell as text, numbers in their shortest form.
func (d *decoder) text(c *engine.Cell) []byte {
	from := len(d.arena)
	switch c.Kind {
	case engine.Int:
		d.arena = strconv.AppendInt(d.arena, c.Int, 10)
	case engine.Float:
		d.arena = scalar.AppendReal(d.arena, c.Float)
	default:
		if c.Bytes == nil {
			return []byte{}
		}
		return c.Bytes
	}
	return d.arena[from:len(d.arena):len(d.arena)]
}

func integer(v *plan.Value, c *engine.Cell) (ok bool) {
	switch c.Kind {
	case engine.Int:
		v.Int = c.Int
		return true
	case engine.Float:
		v.Int, ok = scalar.Integral(c.Float)
		return ok
	case engine.Blob:
		return false
	}
	n, err := strconv.ParseInt(string(c.Bytes), 10, 64)
	v.Int = n
	return err == nil
}

func truth(v *plan.Value, c *engine.Cell) bool {
	is, ok := false, true
	switch c.Kind {
	case engine.Int:
		is = c.Int != 0
	case engine.Float:
		is = c.Float != 0
	default:
		is, ok = scalar.Truth(c.Bytes)
	}
	if is {
		v.Int = 1
	}
	return ok
}

func float(v *plan.Value, c *engine.Cell) bool {
	switch c.Kind {
	case engine.Float:
		v.Float = c.Float
	case engine.Int:
		v.Float = float64(c.Int)
	case engine.Blob:
		return false
	default:
		f, err := strconv.ParseFloat(string(c.Bytes), 64)
		v.Float = f
		return err == nil && scalar.FloatNumber(c.Bytes)
	}
	return true
}

// single rounds a stored number, which may be a double, to a single; false if it is beyond the greatest one.
func single(f *float64) bool {
	rounded := float64(float32(*f)) + 0 // the sum takes the sign off a zero
	ok := math.IsInf(*f, 0) || !math.IsInf(rounded, 0)
	*f = rounded
	return ok
}

// decimal writes plain decimal notation with at least the declared number of fractional digits.
func (d *decoder) decimal(v *plan.Value, c *engine.Cell, scale int) bool {
	from := len(d.arena)
	switch c.Kind {
	case engine.Int:
		d.arena = strconv.AppendInt(d.arena, c.Int, 10)
	case engine.Float:
		if math.IsNaN(c.Float) || math.IsInf(c.Float, 0) {
			return false
		}
		d.arena = scalar.AppendDecimal(d.arena, c.Float+0, scale) // the sum takes the sign off a zero
		v.Bytes = d.arena[from:len(d.arena):len(d.arena)]
		return true
	case engine.Blob:
		return false
	default:
		if !scalar.PlainNumber(c.Bytes) {
			return false
		}
		text := withoutZeros(c.Bytes)
		if n := len(text) - scale - 1; scale > 0 && n > 0 && text[n] == '.' { // as it is
			v.Bytes = text
			return true
		}
		d.arena = append(d.arena, text...)
	}
	d.arena = scalar.PadDecimal(d.arena, from, scale)
	v.Bytes = d.arena[from:len(d.arena):len(d.arena)]
	return true
}

// withoutZeros takes the zeros off the front of a plain number, which MariaDB puts there for ZEROFILL: JSON has no such
// numbers. Those columns have no negative ones.
func withoutZeros(b []byte) []byte {
	for len(b) > 1 && b[0] == '0' && b[1] != '.' {
		b = b[1:]
	}
	return b
}

func (d *decoder) guid(v *plan.Value, c *engine.Cell) (ok bool) {
	from := len(d.arena)
	d.arena, ok = scalar.AppendGUID(d.arena, c.Bytes, c.Kind == engine.Blob)
	v.Bytes = d.arena[from:len(d.arena):len(d.arena)]
	return ok
}

// time writes dates and times as they stand in JSON.
func (d *decoder) time(v *plan.Value, c *engine.Cell, k edm.Kind) bool {
	if c.Plain && (k == edm.DateTimeOffset && len(c.Bytes) > len(time.DateOnly) || k == edm.Date && len(c.Bytes) == len(time.DateOnly)) {
		v.Bytes = c.Bytes
		return true
	}
	from := len(d.arena)
	var ok bool
	switch c.Kind {
	case engine.Int:
		d.arena, ok = scalar.AppendSeconds(d.arena, c.Int, k)
	case engine.Float, engine.Blob:
		return false
	default:
		d.arena, ok = scalar.AppendTime(d.arena, c.Bytes, k)
	}
	v.Bytes = d.arena[from:len(d.arena):len(d.arena)]
	return ok
}

// duration reads microseconds, with a sign of equality in front where they are text, or text in the form of the standard.
func (d *decoder) duration(v *plan.Value, c *engine.Cell) bool {
	if c.Kind == engine.Int {
		v.Bytes = []byte(scalar.FormatMicros(c.Int))
		return true
	}
	if c.Kind == engine.Blob {
		return false
	}
	if micros, ok := bytes.CutPrefix(c.Bytes, []byte("=")); ok {
		n, err := strconv.ParseInt(string(micros), 10, 64)
		v.Bytes = []byte(scalar.FormatMicros(n))
		return err == nil
	}
	v.Bytes = c.Bytes
	_, ok := scalar.ParseDuration(string(c.Bytes))
	return ok
}
