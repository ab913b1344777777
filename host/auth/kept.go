package auth

import (
	"encoding/json"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// A keptValue is a session value as a device keeps it, in JSON; one field is set.
type keptValue struct {
	Bool  *bool    `json:"b,omitempty"`
	Int   *int64   `json:"i,omitempty"`
	Float *float64 `json:"f,omitempty"`
	Text  *string  `json:"s,omitempty"`
	Bytes *[]byte  `json:"x,omitempty"`
}

// keptValues encodes the plugins' session values for the device, nil for none.
func keptValues(s Session) ([]byte, error) {
	if len(s.Values) == 0 {
		return nil, nil
	}
	kept := map[string]keptValue{}
	for name, v := range s.Values {
		var one keptValue
		switch v := v.(type) {
		case bool:
			one.Bool = &v
		case int64:
			one.Int = &v
		case float64:
			one.Float = &v
		case string:
			one.Text = &v
		case []byte:
			one.Bytes = &v
		}
		kept[name] = one
	}
	b, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("keep the session values with the device: %w", err)
	}
	return b, nil
}

// restoreValues decodes what keptValues wrote.
func restoreValues(data []byte) (map[string]pluginsdk.Value, error) {
	if data == nil {
		return nil, nil
	}
	var kept map[string]keptValue
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, fmt.Errorf("read the session values of the device: %w", err)
	}
	values := make(map[string]pluginsdk.Value, len(kept))
	for name, one := range kept {
		if v := one.value(); v != nil {
			values[name] = v
		}
	}
	return values, nil
}

// restoreColumns decodes what keptValues wrote of columns, which may be null.
func restoreColumns(data []byte) (map[string]pluginsdk.Value, error) {
	values, err := restoreValues(data)
	if err != nil || data == nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(data, &all) // which restoreValues has read
	for name := range all {
		if _, ok := values[name]; !ok {
			values[name] = nil
		}
	}
	return values, nil
}

// value returns the value; nil for none.
func (k keptValue) value() pluginsdk.Value {
	switch {
	case k.Bool != nil:
		return *k.Bool
	case k.Int != nil:
		return *k.Int
	case k.Float != nil:
		return *k.Float
	case k.Text != nil:
		return *k.Text
	case k.Bytes != nil:
		return *k.Bytes
	}
	return nil
}

// keptStep returns what a device keeps of the step that its session is at, and of where
// the person meant to go: nothing once the loop has ended.
func keptStep(s Session) []byte {
	if s.Intent == nil || s.Settled() {
		return nil
	}
	b, _ := json.Marshal(s.Intent) // strings and numbers cannot fail, here and below
	if s.Intended == "" {
		return b
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(b, &fields)
	fields["intended"], _ = json.Marshal(s.Intended)
	b, _ = json.Marshal(fields)
	return b
}

// restoreIntended returns the page in what keptStep wrote, if it may still be kept.
func restoreIntended(data []byte) string {
	var kept struct {
		Intended string `json:"intended"`
	}
	if err := json.Unmarshal(data, &kept); err != nil {
		return "" // of a release that writes it otherwise
	}
	return keepable(kept.Intended)
}
