package payload

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// appendJSON appends a primitive or enumeration value. In quoted numbers Int64
// and Decimal are strings (OData-JSON 3.2, IEEE754Compatible).
func appendJSON(dst []byte, v *plan.Value, t *edm.Type, quoted bool) []byte {
	if v.Null {
		return append(dst, "null"...)
	}
	switch t.Kind { // the usual kinds by themselves, as they are most of a page
	case edm.String:
		return scalar.AppendString(dst, v.Bytes)
	case edm.Int64, edm.Decimal:
		switch {
		case quoted:
			return append(AppendText(append(dst, '"'), v, t), '"')
		case t.Kind == edm.Decimal:
			return append(dst, v.Bytes...)
		}
		return strconv.AppendInt(dst, v.Int, 10)
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32:
		return strconv.AppendInt(dst, v.Int, 10)
	case edm.Boolean:
		return strconv.AppendBool(dst, v.Int != 0)
	case edm.Single, edm.Double:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) { // no JSON number
			return append(AppendText(append(dst, '"'), v, t), '"')
		}
		return AppendText(dst, v, t)
	case edm.Binary, edm.Stream:
		return appendBinary(dst, v.Bytes)
	case edm.Enum:
		return AppendString(dst, EnumText(t.Enum, v.Int))
	default: // text in the form that JSON has
		return scalar.AppendString(dst, v.Bytes)
	}
}

// AppendText appends the raw value of a primitive property, as $value gives it
// (OData-Protocol 11.2.4.2); for binaries these are the bytes themselves.
func AppendText(dst []byte, v *plan.Value, t *edm.Type) []byte {
	switch t.Kind {
	case edm.Boolean:
		return strconv.AppendBool(dst, v.Int != 0)
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64:
		return strconv.AppendInt(dst, v.Int, 10)
	case edm.Single:
		return scalar.AppendNumber(dst, v.Float, 32)
	case edm.Double:
		return scalar.AppendNumber(dst, v.Float, 64)
	case edm.Enum:
		return append(dst, EnumText(t.Enum, v.Int)...)
	default:
		return append(dst, v.Bytes...)
	}
}

// EnumText gives the name of a value, the names of a combination of flags, or
// the number where there is no name (OData-JSON 7.1).
func EnumText(e *edm.EnumType, value int64) string {
	for _, m := range e.Members {
		if m.Value == value {
			return m.Name
		}
	}
	if e.Flags {
		var names []string
		rest := value
		for _, m := range e.Members {
			if m.Value != 0 && value&m.Value == m.Value && rest&m.Value != 0 {
				names = append(names, m.Name)
				rest &^= m.Value
			}
		}
		if rest == 0 && names != nil {
			return strings.Join(names, ",")
		}
	}
	return strconv.FormatInt(value, 10)
}

// AppendString appends s as a JSON string; see scalar.AppendString.
func AppendString[T string | []byte](dst []byte, s T) []byte { return scalar.AppendString(dst, s) }

// appendBinary appends bytes as base64url, which has no padding (OData-JSON 7.1,
// ABNF binaryValue).
func appendBinary(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.RawURLEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}
