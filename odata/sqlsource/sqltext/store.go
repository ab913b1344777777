package sqltext

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// What is stored is the inverse of what is fetched: package cursor decodes the stored value to the one that was written.

// Unfit returns the path of the first value of a change that its column would alter; nil for none. Values that have Of are not
// known yet. If the values are all of the change, their SQL is kept in Change.Stored.
func (g *Generator) Unfit(c *write.Change, values []write.Assignment) []*edm.Property {
	r, list := &plan.Range{Set: c.Set}, make([]frag, len(values))
	for i := range values {
		if values[i].Of != nil {
			continue
		}
		var ok bool
		if list[i], ok = g.stored(r, &values[i]); !ok {
			return values[i].Path
		}
	}
	if len(values) > 0 && len(values) == len(c.Values) {
		c.Stored = &storedValues{g, &values[0], list}
	}
	return nil
}

// storedValues is the SQL of values, but for those that have Of.
type storedValues struct {
	gen  *Generator
	of   *write.Assignment // the first of them
	list []frag
}

// kept returns the SQL of the values of a change that Unfit has kept; nil for none, and for a change that has other values.
func (g *Generator) kept(c *write.Change) []frag {
	s, ok := c.Stored.(*storedValues)
	if !ok || s.gen != g || len(s.list) != len(c.Values) || s.of != &c.Values[0] {
		return nil
	}
	return s.list
}

// stored returns the SQL of a value for the column of a property; false if the column would alter it.
func (g *Generator) stored(r *plan.Range, a *write.Assignment) (frag, bool) {
	if a.Value.Null {
		return text("NULL"), true
	}
	c, t := g.columnOf(&plan.Ref{Range: r, Path: a.Path}), a.Type()
	v := a.Value
	v.Float += 0 // which takes the sign off a zero
	if c.Text {
		s, ok := textOf(t.Kind, v)
		if !ok {
			return frag{}, false
		}
		v, t = plan.Value{Bytes: []byte(s)}, edm.Of(edm.String)
	}
	return g.d.store(c, t, v)
}

// textOf writes a value for a column of texts that stand for values of another type; false if it would be read as another one.
func textOf(k edm.Kind, v plan.Value) (string, bool) {
	s := string(v.Bytes)
	switch {
	case k == edm.Boolean:
		s = strconv.FormatBool(v.Int != 0)
	case k.Integer() || k == edm.Enum:
		s = strconv.FormatInt(v.Int, 10)
	case k.Floating():
		s = strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	r, ok := scalar.FromText(k, []byte(s))
	return s, ok && r.Int == v.Int && r.Float == v.Float
}

// affinity is how SQLite stores what a column is given.
type affinity uint8

const (
	affinityAny affinity = iota
	affinityText
	affinityReal
	affinityNumeric
)

// affinityOf reads a declared type. https://www.sqlite.org/datatype3.html#determination_of_column_affinity
func affinityOf(declared string) affinity {
	switch has := func(part string) bool { return strings.Contains(declared, part) }; {
	case declared == "", !has("int") && !has("char") && !has("clob") && !has("text") && has("blob"):
		return affinityAny
	case has("int"):
		return affinityNumeric
	case has("char"), has("clob"), has("text"):
		return affinityText
	case has("real"), has("floa"), has("doub"):
		return affinityReal
	}
	return affinityNumeric
}

func (d sqlite) store(c *Column, t edm.Type, v plan.Value) (frag, bool) {
	s := string(v.Bytes)
	switch k := t.Kind; {
	case k == edm.Boolean || k.Integer() || k == edm.Enum:
		return keptInteger(c, v.Int)
	case k == edm.Decimal:
		return d.storeDecimal(c, s)
	case k.Floating():
		return param(v.Float), !math.IsNaN(v.Float) && affinityOf(c.Type) != affinityText
	case k == edm.Binary:
		return param(append([]byte{}, v.Bytes...)), true
	case k == edm.Guid && c.Layout == scalar.LayoutBlob:
		b, ok := guidBytes(s)
		return param(b), ok
	case k == edm.DateTimeOffset:
		return d.storeInstant(c, s)
	case k == edm.Duration:
		return d.storeDuration(c, s)
	}
	return param(s), keptText(c, s)
}

// keptInteger stores an integer, which a column of reals makes a real.
func keptInteger(c *Column, n int64) (frag, bool) {
	return param(n), affinityOf(c.Type) != affinityReal || n > -1<<53 && n < 1<<53
}

// keptText reports whether a column keeps a text: one of numbers makes a number of a text that looks like one.
func keptText(c *Column, s string) bool {
	a := affinityOf(c.Type)
	if a == affinityAny || a == affinityText {
		return true
	}
	number := strings.Trim(s, " \t\n\v\f\r")
	if !scalar.FloatNumber([]byte(number)) {
		return true
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil && math.IsInf(f, 0) {
		return false
	} else if err != nil {
		return true
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && a == affinityNumeric {
		return strconv.FormatInt(n, 10) == s
	}
	if n, whole := scalar.Integral(f); whole && a == affinityNumeric {
		return strconv.FormatInt(n, 10) == s
	}
	return string(scalar.AppendReal(nil, f)) == s
}

// storeDecimal stores an integer, or a real whose shortest notation is the decimal.
func (sqlite) storeDecimal(c *Column, s string) (frag, bool) {
	plain, ok := scalar.PlainDecimal(s)
	if !ok {
		return frag{}, false
	}
	if !strings.Contains(plain, ".") {
		if n, err := strconv.ParseInt(plain, 10, 64); err == nil {
			return keptInteger(c, n)
		}
	}
	if f, native := nativeDecimal(plain); native {
		return param(f), true
	}
	return param(plain), affinityOf(c.Type) == affinityAny
}

// storeInstant stores an instant as the others of the column are.
func (d sqlite) storeInstant(c *Column, s string) (frag, bool) {
	t := instant(s)
	if t.Year() < 1 || t.Year() > 9999 {
		return frag{}, false
	}
	form := time.RFC3339Nano
	switch {
	case c.Layout == scalar.LayoutUnix || c.Layout == "" && affinityOf(c.Type) != affinityText:
		if t.Nanosecond() == 0 {
			return keptInteger(c, t.Unix())
		}
		if c.Layout == "" {
			return frag{}, false
		}
	case c.Layout == scalar.LayoutSpace:
		form = "2006-01-02 15:04:05.999999999"
	case c.Layout == scalar.LayoutT:
		form = "2006-01-02T15:04:05.999999999"
	}
	return param(t.Format(form)), true
}

// storeDuration stores seconds in a column of numbers, and texts of the standard elsewhere.
func (sqlite) storeDuration(c *Column, s string) (frag, bool) {
	n, ok := wholeMicros(s)
	if !ok {
		return frag{}, false
	}
	switch a := affinityOf(c.Type); {
	case a == affinityText || a == affinityAny:
		return param(s), true
	case n%1_000_000 == 0:
		return keptInteger(c, n/1_000_000)
	}
	return realSeconds(n)
}

// realSeconds is a duration as a real that is read as the same microseconds.
func realSeconds(n int64) (frag, bool) {
	f := float64(n) / 1e6
	return param(f), math.Abs(f) < 1<<32 && int64(math.Round(f*1e6)) == n
}

// wholeMicros is a duration in microseconds; false for one with a fraction of them.
func wholeMicros(s string) (int64, bool) {
	d, ok := scalar.ParseDuration(s)
	n, _ := scalar.Micros(s)
	return n, ok && d.Nanos%1000 == 0
}

// guidBytes are the 16 bytes of a GUID.
func guidBytes(s string) ([]byte, bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	return b, err == nil && len(b) == 16
}

// fractionDigits is how many digits of a second a time has.
func fractionDigits(s string) int {
	_, frac, _ := strings.Cut(s, ".")
	return len(strings.TrimRight(frac, "Z0"))
}

// fractionOf is how many digits a decimal has behind its point, needless zeros aside.
func fractionOf(s string) int {
	_, behind, _ := strings.Cut(s, ".")
	return len(strings.TrimRight(behind, "0"))
}

// within reports whether a column can hold the digits of a decimal. The scale of PostgreSQL may be negative, and greater than the
// precision.
func (c *Column) within(s string) bool {
	if c.Precision <= 0 {
		return true
	}
	before, behind, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	before, behind = strings.TrimLeft(before, "0"), strings.TrimRight(behind, "0")
	first, last := len(before), len(behind) // the places of the first and the last digit that is no zero, from the point
	if before == "" {
		first = len(strings.TrimLeft(behind, "0")) - len(behind)
	}
	if behind == "" {
		last = len(strings.TrimRight(before, "0")) - len(before)
	}
	return before+behind == "" || last <= c.Scale && first <= c.Precision-c.Scale
}

// seconds reports whether a column can hold the digits of a second; standard is how many it has if none were declared.
func (c *Column) seconds(s string, standard int) bool {
	if c.Precision >= 0 {
		standard = min(c.Precision, 6)
	}
	return fractionDigits(s) <= standard
}

// wholeSeconds is an instant in seconds since 1970; false for one with a fraction.
func wholeSeconds(s string) (int64, bool) {
	t := instant(s)
	return t.Unix(), t.Nanosecond() == 0
}

// single reports whether a number of 32 bits is the same.
func single(f float64) bool { return float64(float32(f)) == f || math.IsNaN(f) }
