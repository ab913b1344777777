package engine

import (
	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// fromText reads a text as a value of the type that the second argument names, in the form that is computed with; null
// when it is none. What is no text, which SQLite lets any column hold, counts as that of a column of the type.
func fromText(args []sqlite3.Value) sqlite3.Value {
	k := edm.PrimitiveKind(args[1].Text())
	if args[0].Kind() != sqlite3.KindText {
		return fromOther(args[0], k)
	}
	r, ok := scalar.FromText(k, args[0].Bytes())
	if !ok {
		return sqlite3.Null()
	}
	switch {
	case k == edm.Boolean, k.Integer():
		return sqlite3.Int(r.Int)
	case k == edm.Double, k == edm.Single:
		return sqlite3.Float(r.Float)
	case k == edm.Decimal:
		return computed(plan.Value{Bytes: []byte(r.Text)}, k)
	case k == edm.DateTimeOffset:
		return canonicalInstant([]sqlite3.Value{sqlite3.Text(r.Text)})
	case k == edm.TimeOfDay:
		return canonicalClock([]sqlite3.Value{sqlite3.Text(r.Text)})
	case k == edm.Duration:
		return micros([]sqlite3.Value{sqlite3.Text(r.Text)})
	}
	return sqlite3.Text(r.Text)
}

// fromOther is a number or a blob as a value of a type.
func fromOther(v sqlite3.Value, k edm.Kind) sqlite3.Value {
	number := v.Kind() == sqlite3.KindInt || v.Kind() == sqlite3.KindFloat
	switch {
	case k == edm.Guid && v.Kind() == sqlite3.KindBlob && len(v.Bytes()) == 16:
		return guidText([]sqlite3.Value{v})
	case k == edm.DateTimeOffset && number:
		return canonicalInstant([]sqlite3.Value{v})
	case k.Integer() && v.Kind() == sqlite3.KindInt:
		if least, greatest := k.Bounds(); v.Int() < least || v.Int() > greatest {
			return sqlite3.Null()
		}
		return v
	case k == edm.Duration:
		return micros([]sqlite3.Value{v})
	case number && (k == edm.Boolean || k == edm.Decimal || k == edm.Double || k == edm.Single):
		return v
	}
	return sqlite3.Null()
}
