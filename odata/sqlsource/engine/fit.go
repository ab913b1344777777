package engine

import (
	"math"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// A column of SQLite holds what it is given, whatever its type. The decoder of package cursor shows null for a value that is
// none of the type; fit returns null for the same values, so that conditions and computations see what is shown.

// fitting is ves_fit(x, 'Kind').
func fitting(args []sqlite3.Value) sqlite3.Value {
	return fit(args[0], edm.PrimitiveKind(args[1].Text()))
}

// as is fit for one kind.
func as(k edm.Kind) func([]sqlite3.Value) sqlite3.Value {
	return func(args []sqlite3.Value) sqlite3.Value { return fit(args[0], k) }
}

// fit returns a stored value in the form that is computed with, and null if it is none of the kind.
func fit(v sqlite3.Value, k edm.Kind) sqlite3.Value {
	switch {
	case k == edm.String, k == edm.Binary:
		return sqlite3.Text(string(bytesOf(v)))
	case k.Integer() || k == edm.Enum:
		return fitInteger(v, k)
	case k == edm.Boolean:
		return fitBoolean(v)
	case k.Floating():
		return fitFloat(v)
	case k == edm.Decimal:
		return fitDecimal(v)
	case k == edm.DateTimeOffset:
		return canonicalInstant([]sqlite3.Value{v})
	case k == edm.TimeOfDay:
		return canonicalClock([]sqlite3.Value{v})
	case k == edm.Duration:
		return micros([]sqlite3.Value{v})
	case k == edm.Date:
		if text, ok := calendar(v, k); ok {
			return sqlite3.Text(string(text))
		}
	case k == edm.Guid:
		if text, ok := scalar.AppendGUID(nil, v.Bytes(), v.Kind() == sqlite3.KindBlob); ok {
			return sqlite3.Text(string(text))
		}
	}
	return sqlite3.Null()
}

// shown is ves_shown(x): a text as answers have it.
func shown(args []sqlite3.Value) sqlite3.Value {
	return sqlite3.Text(scalar.Shown(args[0].Text()))
}

// bytesOf returns a value of any kind as the decoder shows it in a column of texts or bytes.
func bytesOf(v sqlite3.Value) []byte {
	switch v.Kind() {
	case sqlite3.KindInt:
		return strconv.AppendInt(nil, v.Int(), 10)
	case sqlite3.KindFloat:
		return scalar.AppendReal(nil, v.Float())
	}
	return v.Bytes()
}

func fitInteger(v sqlite3.Value, k edm.Kind) sqlite3.Value {
	var n int64
	var ok bool
	switch v.Kind() {
	case sqlite3.KindInt:
		n, ok = v.Int(), true
	case sqlite3.KindFloat:
		n, ok = scalar.Integral(v.Float())
	case sqlite3.KindText:
		var err error
		n, err = strconv.ParseInt(v.Text(), 10, 64)
		ok = err == nil
	}
	if least, greatest := k.Bounds(); !ok || n < least || n > greatest {
		return sqlite3.Null()
	}
	return sqlite3.Int(n)
}

func fitBoolean(v sqlite3.Value) sqlite3.Value {
	switch v.Kind() {
	case sqlite3.KindInt:
		return flag(v.Int() != 0)
	case sqlite3.KindFloat:
		return flag(v.Float() != 0)
	}
	if is, ok := scalar.Truth(v.Bytes()); ok {
		return flag(is)
	}
	return sqlite3.Null()
}

func fitFloat(v sqlite3.Value) sqlite3.Value {
	switch v.Kind() {
	case sqlite3.KindInt:
		return sqlite3.Float(float64(v.Int()))
	case sqlite3.KindFloat:
		return v
	case sqlite3.KindText:
		if f, err := strconv.ParseFloat(v.Text(), 64); err == nil && scalar.FloatNumber(v.Bytes()) {
			return sqlite3.Float(f)
		}
	}
	return sqlite3.Null()
}

// fitDecimal returns an integer, a real whose shortest notation is the decimal, or else its text.
func fitDecimal(v sqlite3.Value) sqlite3.Value {
	switch v.Kind() {
	case sqlite3.KindInt:
		return v
	case sqlite3.KindFloat:
		if !math.IsInf(v.Float(), 0) {
			return v
		}
	case sqlite3.KindText:
		text, ok := plainText(v)
		if !ok {
			return sqlite3.Null()
		}
		f, err := strconv.ParseFloat(text, 64)
		if shortest, finite := scalar.DecimalOf(f); err == nil && finite && shortest == text && f != math.Trunc(f) {
			return sqlite3.Float(f)
		}
		return computed(plan.Value{Bytes: []byte(text)}, edm.Decimal)
	}
	return sqlite3.Null()
}

// plainText returns a text in plain notation as a decimal without needless zeros; false for any other text.
func plainText(v sqlite3.Value) (string, bool) {
	if v.Kind() != sqlite3.KindText || !scalar.PlainNumber(v.Bytes()) {
		return "", false
	}
	return scalar.PlainDecimal(v.Text())
}

// calendar writes a stored date, instant or time of day as it is shown.
func calendar(v sqlite3.Value, k edm.Kind) ([]byte, bool) {
	switch v.Kind() {
	case sqlite3.KindInt:
		return scalar.AppendSeconds(nil, v.Int(), k)
	case sqlite3.KindFloat, sqlite3.KindBlob:
		return nil, false
	}
	return scalar.AppendTime(nil, v.Bytes(), k)
}
