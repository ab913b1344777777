package pluginsdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk/internal/pluginpb"
)

func toDataChange(c Change) (*pluginpb.Change, error) {
	out := &pluginpb.Change{Set: c.Set, Kind: c.Kind, Key: c.Key, Old: c.oldJSON, New: c.newJSON}
	if out.Old != nil || out.New != nil {
		return out, nil
	}
	var errs [2]error
	out.Old, errs[0] = entityJSON(c.Old)
	out.New, errs[1] = entityJSON(c.New)
	return out, errors.Join(errs[:]...)
}

func fromDataChange(c *pluginpb.Change) (Change, error) {
	out := Change{Set: c.GetSet(), Kind: c.GetKind(), Key: c.GetKey()}
	var errs [2]error
	out.Old, errs[0] = entityValues(c.GetOld())
	out.New, errs[1] = entityValues(c.GetNew())
	return out, errors.Join(errs[:]...)
}

// propertiesOf returns the properties that a change has, by path.
func propertiesOf(c *pluginpb.Change) map[string]Value {
	known := map[string]Value{}
	for _, entity := range [][]byte{c.GetOld(), c.GetNew()} {
		values, _ := entityValues(entity) // a host's own; one that is none has no properties
		for name := range values.all {
			known[name] = nil
		}
	}
	return known
}

// entityValues reads an entity: a JSON object, or nothing.
func entityValues(data []byte) (Values, error) {
	if len(data) == 0 {
		return Values{}, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var entity map[string]any
	if err := d.Decode(&entity); err != nil || entity == nil {
		return Values{}, errors.New("an entity is no JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Values{}, errors.New("something follows the JSON object of an entity")
	}
	return Values{flatten(make(map[string]Value, len(entity)), "", entity)}, nil
}

// flatten adds the properties of an object to those of all, by path. A whole number that fits
// into 64 bits becomes an int64; others stay as they are written.
func flatten(all map[string]Value, prefix string, object map[string]any) map[string]Value {
	for name, v := range object {
		switch v := v.(type) {
		case map[string]any:
			flatten(all, prefix+name+"/", v)
		case json.Number:
			if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
				all[prefix+name] = n
				continue
			}
			all[prefix+name] = v
		default:
			all[prefix+name] = v
		}
	}
	return all
}

// entityJSON writes an entity whose values are named by path; nothing for the zero Values.
func entityJSON(values Values) ([]byte, error) {
	if values.all == nil {
		return nil, nil
	}
	entity := map[string]any{}
	for path, v := range values.all {
		at, parts := entity, strings.Split(path, "/")
		for _, part := range parts[:len(parts)-1] {
			inner, ok := at[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[part] = inner
			}
			at = inner
		}
		value, err := jsonValue(v)
		if err != nil {
			return nil, fmt.Errorf("the property %q: %w", path, err)
		}
		at[parts[len(parts)-1]] = value
	}
	return json.Marshal(entity)
}

// jsonValue writes a value of a property.
func jsonValue(v any) (json.RawMessage, error) {
	switch v := widen(v).(type) {
	case nil, bool, int64, float64:
		return json.Marshal(v)
	case string:
		if !utf8.ValidString(v) {
			return nil, errors.New("a text is not valid UTF-8")
		}
		return json.Marshal(v)
	case json.Number:
		if data := json.RawMessage(v); isScalar(data) && strings.ContainsAny(string(v[:1]), "-0123456789") {
			return data, nil
		}
		return nil, fmt.Errorf("%.40q is no number", string(v))
	case *big.Rat:
		if v == nil {
			return json.RawMessage("null"), nil
		}
		digits, exact := v.FloatPrec()
		if !exact {
			return nil, fmt.Errorf("%.40s is no decimal number", v.RatString())
		}
		return json.RawMessage(v.FloatString(digits)), nil
	case *time.Time:
		if v == nil {
			return json.RawMessage("null"), nil
		}
		return jsonValue(*v)
	}
	return nil, fmt.Errorf("a value of type %T, not nil, bool, int64, float64, string, json.Number, *big.Rat or time.Time", v)
}

// isScalar reports whether data is a JSON text, number, true, false or null.
func isScalar(data []byte) bool {
	data = bytes.TrimSpace(data)
	return json.Valid(data) && data[0] != '{' && data[0] != '['
}
