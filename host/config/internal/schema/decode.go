package schema

import (
	"fmt"
	"reflect"
)

// Decode fills the struct that into points to, by the tags that [Of] reads, with values as
// [Key.Convert] makes them. A field without a value keeps its zero value.
func Decode(values map[string]any, into any) error {
	return decode(values, reflect.ValueOf(into).Elem())
}

func decode(value any, to reflect.Value) error {
	if value == nil {
		return nil
	}
	t, from := to.Type(), reflect.ValueOf(value)
	if t.Kind() == reflect.Pointer {
		to.Set(reflect.New(t.Elem()))
		return decode(value, to.Elem())
	}
	block, _ := value.(map[string]any)
	if object, ok := value.(Object); ok && t.Kind() == reflect.Map {
		block = object
	}
	switch {
	case block != nil && t.Kind() == reflect.Struct:
		return decodeFields(block, to)
	case block != nil && t == from.Type(): // of a block without a schema
		to.Set(from)
		return nil
	case block != nil && t.Kind() == reflect.Map:
		return decodeMap(block, to)
	case from.Kind() == reflect.Slice && t.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(t, from.Len(), from.Len()))
		for i := range from.Len() {
			if err := decode(from.Index(i).Interface(), to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case block == nil && from.Kind() == t.Kind(), from.CanInt() && to.CanInt():
		to.Set(from.Convert(t))
		return nil
	}
	return fmt.Errorf("a %T is no %s", value, t)
}

func decodeFields(values map[string]any, to reflect.Value) error {
	for i := range to.NumField() {
		name := to.Type().Field(i).Tag.Get("koanf")
		if value, ok := values[name]; ok {
			if err := decode(value, to.Field(i)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func decodeMap(values map[string]any, to reflect.Value) error {
	to.Set(reflect.MakeMapWithSize(to.Type(), len(values)))
	for name, value := range values {
		element := reflect.New(to.Type().Elem()).Elem()
		if err := decode(value, element); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		to.SetMapIndex(reflect.ValueOf(name), element)
	}
	return nil
}
