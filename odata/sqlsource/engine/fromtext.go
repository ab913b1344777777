package engine

import (
	"zombiezen.com/go/sqlite"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// fromText reads a text as a value of the type that the second argument names, in the form that is computed with; null
// when it is none. What is no text, which SQLite lets any column hold, counts as that of a column of the type.
func fromText(args []sqlite.Value) sqlite.Value {
	k := edm.PrimitiveKind(args[1].Text())
	if args[0].Type() != sqlite.TypeText {
		return fromOther(args[0], k)
	}
	r, ok := scalar.FromText(k, args[0].Blob())
	if !ok {
		return sqlite.Value{}
	}
	switch {
	case k == edm.Boolean, k.Integer():
		return sqlite.IntegerValue(r.Int)
	case k == edm.Double, k == edm.Single:
		return sqlite.FloatValue(r.Float)
	case k == edm.Decimal:
		return computed(plan.Value{Bytes: []byte(r.Text)}, k)
	case k == edm.DateTimeOffset:
		return canonicalInstant([]sqlite.Value{sqlite.TextValue(r.Text)})
	case k == edm.TimeOfDay:
		return canonicalClock([]sqlite.Value{sqlite.TextValue(r.Text)})
	case k == edm.Duration:
		return micros([]sqlite.Value{sqlite.TextValue(r.Text)})
	}
	return sqlite.TextValue(r.Text)
}

// fromOther is a number or a blob as a value of a type.
func fromOther(v sqlite.Value, k edm.Kind) sqlite.Value {
	number := v.Type() == sqlite.TypeInteger || v.Type() == sqlite.TypeFloat
	switch {
	case k == edm.Guid && v.Type() == sqlite.TypeBlob && len(v.Blob()) == 16:
		return guidText([]sqlite.Value{v})
	case k == edm.DateTimeOffset && number:
		return canonicalInstant([]sqlite.Value{v})
	case k.Integer() && v.Type() == sqlite.TypeInteger:
		if least, greatest := k.Bounds(); v.Int64() < least || v.Int64() > greatest {
			return sqlite.Value{}
		}
		return v
	case k == edm.Duration:
		return micros([]sqlite.Value{v})
	case number && (k == edm.Boolean || k == edm.Decimal || k == edm.Double || k == edm.Single):
		return v
	}
	return sqlite.Value{}
}
