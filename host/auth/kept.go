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
		switch {
		case one.Bool != nil:
			values[name] = *one.Bool
		case one.Int != nil:
			values[name] = *one.Int
		case one.Float != nil:
			values[name] = *one.Float
		case one.Text != nil:
			values[name] = *one.Text
		case one.Bytes != nil:
			values[name] = *one.Bytes
		}
	}
	return values, nil
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
