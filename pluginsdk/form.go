package pluginsdk

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/configblock"
)

// Bind fills the struct that into points to from the form: each field from the
// form field that its tag form:"…" names, or from the field's name in
// snake_case. Fields may be of type string, bool, any integer, float64, any, or
// a pointer to these; a field that is absent or null leaves the zero value. The
// error is about a field whose type does not fit.
func (r *Request) Bind(into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("bind: %T is not a pointer to a struct", into)
	}
	out := target.Elem()
	for i := range out.NumField() {
		field := out.Type().Field(i)
		name := cmp.Or(field.Tag.Get("form"), configblock.Snake(field.Name))
		if !field.IsExported() || name == "-" || !r.Form.Has(name) {
			continue
		}
		if err := bindValue(out.Field(i), r.Form.all[name]); err != nil {
			return fmt.Errorf("bind: form field %s: %w", name, err)
		}
	}
	return nil
}

func bindValue(out reflect.Value, v Value) error {
	if out.Kind() == reflect.Pointer {
		out.Set(reflect.New(out.Type().Elem()))
		return bindValue(out.Elem(), v)
	}
	in := reflect.ValueOf(v)
	switch {
	case in.Type().AssignableTo(out.Type()):
		out.Set(in)
		return nil
	case in.CanInt() && out.CanInt() && !out.OverflowInt(in.Int()):
		out.SetInt(in.Int())
		return nil
	case in.CanInt() && out.CanUint() && in.Int() >= 0 && !out.OverflowUint(uint64(in.Int())):
		out.SetUint(uint64(in.Int()))
		return nil
	case in.CanInt() && out.CanFloat():
		out.SetFloat(float64(in.Int()))
		return nil
	case in.Kind() == out.Kind() && in.Kind() != reflect.Slice:
		out.Set(in.Convert(out.Type())) // a named type of the same kind
		return nil
	}
	return fmt.Errorf("%v does not fit into %s", v, out.Type())
}
