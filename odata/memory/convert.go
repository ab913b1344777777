package memory

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// reader makes the value of a field that is not null.
type reader func(reflect.Value) (plan.Value, error)

// typeOf returns the type of a field, whether it may be null, and the function that reads it.
func typeOf(f field, model *edm.Model) (t edm.Type, nullable bool, read reader, err error) {
	bare := f.typ
	switch {
	case bare.Kind() == reflect.Pointer:
		bare, nullable = bare.Elem(), true
	case optional(bare):
		bare, nullable = bare.Field(0).Type, true
	}
	if e := model.Enum(f.tag.typ); e != nil {
		if !whole(bare.Kind()) {
			return t, nullable, nil, fmt.Errorf("the enumeration %s needs an integer, not %v", e.Name, bare)
		}
		return edm.Type{Kind: edm.Enum, Enum: e}, nullable, readInt, nil
	}
	kind, read := natural(bare)
	if want := edm.PrimitiveKind(f.tag.typ); f.tag.typ != "" && want != kind {
		kind, read = declared(bare, want)
	}
	if kind == edm.Invalid && f.tag.typ != "" {
		return t, nullable, nil, fmt.Errorf("%v cannot be of type %q", f.typ, f.tag.typ)
	}
	if kind == edm.Invalid {
		return t, nullable, nil, fmt.Errorf("%v has no OData type: leave the field out with `odata:\"-\"`, or make a set of it", f.typ)
	}
	t = edm.Of(kind)
	t.MaxLength = f.tag.length
	switch {
	case f.tag.length != 0 && kind != edm.String && kind != edm.Binary:
		return t, nullable, nil, errors.New("length is for text and Binary")
	case kind == edm.Decimal && (f.tag.scaled || f.tag.precision > 0):
		t.Precision, t.Scale = f.tag.precision, f.tag.scale
		read = scaled(read, t)
	case f.tag.scaled || f.tag.precision > 0:
		return t, nullable, nil, errors.New("precision and scale are for Decimal")
	case kind == edm.DateTimeOffset || kind == edm.TimeOfDay || kind == edm.Duration:
		t.Precision = 9
		if bare.Kind() == reflect.String {
			t.Precision = 6
		}
	}
	return t, nullable, read, nil
}

func whole(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

// natural is the type that a Go type has by itself.
func natural(t reflect.Type) (edm.Kind, reader) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return edm.DateTimeOffset, readInstant
	case reflect.TypeFor[time.Duration]():
		return edm.Duration, readDuration
	case reflect.TypeFor[apd.Decimal]():
		return edm.Decimal, readDecimal
	}
	switch t.Kind() {
	case reflect.Bool:
		return edm.Boolean, readBool
	case reflect.Int8:
		return edm.SByte, readInt
	case reflect.Uint8:
		return edm.Byte, readInt
	case reflect.Int16:
		return edm.Int16, readInt
	case reflect.Int32, reflect.Uint16:
		return edm.Int32, readInt
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return edm.Int64, readInt
	case reflect.Uint, reflect.Uint64:
		return edm.Decimal, readUint
	case reflect.Float32:
		return edm.Single, readFloat
	case reflect.Float64:
		return edm.Double, readFloat
	case reflect.String:
		return edm.String, readString
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return edm.Binary, readBytes
		}
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Len() == 16 {
			return edm.Guid, readGUID
		}
	}
	return edm.Invalid, nil
}

// declared is a type that a tag asks for in place of the natural one.
func declared(t reflect.Type, want edm.Kind) (edm.Kind, reader) {
	switch {
	case t == reflect.TypeFor[time.Time]() && want == edm.Date:
		return want, readDate
	case t == reflect.TypeFor[time.Time]() && want == edm.TimeOfDay:
		return want, readClock
	case whole(t.Kind()) && want == edm.Int64 && t.Kind() < reflect.Uint:
		return want, readInt
	case t.Kind() != reflect.String:
		return edm.Invalid, nil
	}
	if scalar.TextPattern(want) == "" {
		return edm.Invalid, nil
	}
	return want, func(v reflect.Value) (plan.Value, error) { return readText(want, v.String()) }
}

// readText reads text that stands for something else.
func readText(k edm.Kind, s string) (plan.Value, error) {
	r, ok := scalar.FromText(k, []byte(s))
	if !ok {
		return plan.Value{}, fmt.Errorf("%q is no Edm.%v", s, k)
	}
	out := plan.Value{Int: r.Int, Float: r.Float}
	if r.Text != "" {
		out.Bytes = []byte(r.Text)
	}
	return out, nil
}

func textValue(s string) plan.Value { return plan.Value{Bytes: []byte(s)} }

func readInt(v reflect.Value) (plan.Value, error) {
	if v.CanUint() {
		return plan.Value{Int: int64(v.Uint())}, nil // no more than 32 bits, see natural
	}
	return plan.Value{Int: v.Int()}, nil
}

func readUint(v reflect.Value) (plan.Value, error) {
	return textValue(strconv.FormatUint(v.Uint(), 10)), nil
}

func readBool(v reflect.Value) (plan.Value, error) {
	if v.Bool() {
		return plan.Value{Int: 1}, nil
	}
	return plan.Value{}, nil
}

func readFloat(v reflect.Value) (plan.Value, error) { return plan.Value{Float: v.Float()}, nil }

func readString(v reflect.Value) (plan.Value, error) { return textValue(scalar.Shown(v.String())), nil }

func readBytes(v reflect.Value) (plan.Value, error) {
	return plan.Value{Null: v.IsNil(), Bytes: append([]byte{}, v.Bytes()...)}, nil
}

func readGUID(v reflect.Value) (plan.Value, error) {
	var b [16]byte
	reflect.Copy(reflect.ValueOf(&b).Elem(), v)
	return textValue(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
}

func readInstant(v reflect.Value) (plan.Value, error) {
	t := v.Interface().(time.Time).UTC() // see natural
	if y := t.Year(); y < 1 || y > 9999 {
		return plan.Value{}, fmt.Errorf("the year %d is not from 1 to 9999", y)
	}
	return textValue(t.Format("2006-01-02T15:04:05.999999999Z07:00")), nil
}

func readDate(v reflect.Value) (plan.Value, error) {
	t := v.Interface().(time.Time) // see declared
	if y := t.Year(); y < 1 || y > 9999 {
		return plan.Value{}, fmt.Errorf("the year %d is not from 1 to 9999", y)
	}
	return textValue(t.Format(time.DateOnly)), nil
}

func readClock(v reflect.Value) (plan.Value, error) {
	return textValue(v.Interface().(time.Time).Format("15:04:05.999999999")), nil // see declared
}

func readDuration(v reflect.Value) (plan.Value, error) {
	d := time.Duration(v.Int())
	seconds, nanos := int64(d/time.Second), int64(d%time.Second)
	if d < 0 {
		seconds, nanos = -seconds, -nanos
	}
	return textValue(scalar.FormatDuration(d < 0, seconds, nanos)), nil
}

func readDecimal(v reflect.Value) (plan.Value, error) {
	d := v.Interface().(apd.Decimal) // see natural
	if d.Form != apd.Finite {
		return plan.Value{}, fmt.Errorf("%s is no Edm.Decimal", d.String())
	}
	return textValue(scalar.Plain(&d)), nil
}

// scaled rounds nothing: a number that does not fit precision and scale is no value of the type.
func scaled(read reader, t edm.Type) reader {
	return func(v reflect.Value) (plan.Value, error) {
		out, err := read(v)
		if err != nil {
			return out, err
		}
		digits, frac, _ := strings.Cut(strings.TrimLeft(string(out.Bytes), "-0"), ".")
		if len(frac) > t.Scale || t.Precision > 0 && len(digits) > t.Precision-t.Scale {
			return out, fmt.Errorf("%s has more digits than precision %d and scale %d hold", out.Bytes, t.Precision, t.Scale)
		}
		return out, nil
	}
}
