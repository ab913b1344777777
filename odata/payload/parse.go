package payload

import (
	"bytes"
	"fmt"
	"math"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/jsontext"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// jsonValue reads a JSON value as one of a primitive type, and says what is wrong with it. Int64 and Decimal may be strings,
// with IEEE754Compatible or without (OData-JSON 3.2).
func jsonValue(t jsontext.Token, typ *edm.Type) (v plan.Value, what string) {
	k := typ.Kind
	if t.Kind == jsontext.Null {
		return plan.Value{Null: true}, ""
	}
	ok := t.Kind == jsontext.String
	switch {
	case k == edm.Boolean:
		ok = t.Kind == jsontext.Truth
	case k.Floating():
		if t.Kind == jsontext.String {
			f, word := floatWord(t.Text)
			return plan.Value{Float: f}, unless(word, "needs a number, or INF, -INF or NaN as a string")
		}
		ok = t.Kind == jsontext.Number
	case k == edm.Int64 || k == edm.Decimal:
		ok = t.Kind == jsontext.Number || t.Kind == jsontext.String
	case k.Integer():
		ok = t.Kind == jsontext.Number
	case k == edm.Binary && ok:
		raw, ok := scalar.FromBase64(t.Text)
		if !ok {
			return v, "needs base64url"
		}
		v.Bytes = raw
		return v, scalar.Misfit(v.Bytes, typ)
	}
	if !ok {
		return v, "needs " + jsonForm(typ)
	}
	return plainValue(t.Text, typ)
}

func unless(ok bool, what string) string {
	if ok {
		return ""
	}
	return what
}

// floatWord reads what JSON has no number for (OData-JSON 7.1).
func floatWord(word []byte) (float64, bool) {
	switch string(word) {
	case "INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	}
	return 0, false
}

// jsonForm names what JSON has for a type.
func jsonForm(t *edm.Type) string {
	switch k := t.Kind; {
	case k == edm.Boolean:
		return "true or false"
	case k == edm.Decimal || k.Integer():
		return "a number"
	case k == edm.Enum:
		return "a string with names of " + t.Enum.Name
	}
	return "a string"
}

// notValue is the end of a message that quotes the value at fault.
const notValue = quotes + "%.40q"

const quotes = ", not "

// plainValue reads the text of a value of a primitive type, and says what is wrong with it.
func plainValue(b []byte, t *edm.Type) (v plan.Value, what string) {
	switch t.Kind {
	case edm.String:
		v = plan.Value{Bytes: b}
		return v, scalar.Misfit(v.Bytes, t)
	case edm.Enum:
		n, ok := t.Enum.Parse(string(b))
		return plan.Value{Int: n}, unless(ok, fmt.Sprintf("needs names of %s"+notValue, t.Enum.Name, b))
	case edm.Single, edm.Double:
		if f, ok := floatWord(b); ok {
			return plan.Value{Float: f}, ""
		}
	case edm.DateTimeOffset: // the catalogue of texts is not as strict
		if bytes.IndexByte(b, 'T') != len("2006-01-02") || !bytes.ContainsAny(b[10:], "Z+-") || bytes.IndexByte(b, ' ') >= 0 {
			return v, fmt.Sprintf("needs an instant such as 2006-01-02T15:04:05Z"+notValue, b)
		}
	}
	read, ok := scalar.FromText(t.Kind, b)
	if !ok {
		return v, fmt.Sprintf("needs %s"+notValue, article(t), b)
	}
	v = plan.Value{Int: read.Int, Float: read.Float}
	if read.Text != "" {
		v.Bytes = []byte(read.Text)
	}
	return v, scalar.Misfit(v.Bytes, t)
}

// article names a type in a message.
func article(t *edm.Type) string {
	if t.Kind.Integer() {
		least, greatest := t.Kind.Bounds()
		return fmt.Sprintf("an integer from %d to %d", least, greatest)
	}
	return "an " + t.String()
}
