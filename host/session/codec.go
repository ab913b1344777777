package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// errCorrupt is returned for data that encode did not write.
var errCorrupt = errors.New("corrupt session data")

// The type bytes of the encoding. They are stored: never renumber them.
const (
	typeNil    = 0
	typeFalse  = 1
	typeTrue   = 2
	typeInt    = 3
	typeFloat  = 4
	typeString = 5
	typeBytes  = 6
)

// encode writes values as length-prefixed keys and typed values in the order of
// the keys. gob would need 20 µs to build its decoder for each request, and JSON
// turns an int64 into a float64.
func encode(values map[string]any) ([]byte, error) {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(values)) {
		b = appendBytes(b, name)
		var err error
		if b, err = appendValue(b, values[name]); err != nil {
			return nil, fmt.Errorf("session value %q: %w", name, err)
		}
	}
	return b, nil
}

func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, typeNil), nil
	case bool:
		if v {
			return append(b, typeTrue), nil
		}
		return append(b, typeFalse), nil
	case int:
		return binary.AppendVarint(append(b, typeInt), int64(v)), nil
	case int64:
		return binary.AppendVarint(append(b, typeInt), v), nil
	case float64:
		return binary.BigEndian.AppendUint64(append(b, typeFloat), math.Float64bits(v)), nil
	case string:
		return appendBytes(append(b, typeString), v), nil
	case []byte:
		return appendBytes(append(b, typeBytes), v), nil
	}
	return nil, fmt.Errorf("%T cannot be kept, want nil, bool, int, int64, float64, string or []byte", v)
}

func appendBytes[T string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// decode reads what encode wrote into a new map. Its texts are parts of one copy
// of data.
func decode(data []byte) (map[string]any, error) {
	values := make(map[string]any, 8)
	r := reader{data, string(data)}
	for len(r.rest) > 0 {
		_, key, ok := r.sized()
		if !ok {
			return nil, errCorrupt
		}
		v, ok := r.value()
		if !ok {
			return nil, errCorrupt
		}
		values[key] = v
	}
	return values, nil
}

// reader goes through data, and through the same as a text.
type reader struct {
	rest []byte
	text string
}

func (r *reader) skip(n int) { r.rest, r.text = r.rest[n:], r.text[n:] }

// sized reads bytes behind their length, which are also a text.
func (r *reader) sized() ([]byte, string, bool) {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(len(r.rest)-size) {
		return nil, "", false
	}
	end := size + int(n)
	b, text := r.rest[size:end], r.text[size:end]
	r.skip(end)
	return b, text, true
}

func (r *reader) value() (any, bool) {
	if len(r.rest) == 0 {
		return nil, false
	}
	kind := r.rest[0]
	r.skip(1)
	switch kind {
	case typeNil:
		return nil, true
	case typeFalse, typeTrue:
		return kind == typeTrue, true
	case typeInt:
		v, size := binary.Varint(r.rest)
		if size <= 0 {
			return nil, false
		}
		r.skip(size)
		return v, true
	case typeFloat:
		if len(r.rest) < 8 {
			return nil, false
		}
		v := math.Float64frombits(binary.BigEndian.Uint64(r.rest))
		r.skip(8)
		return v, true
	case typeString:
		_, v, ok := r.sized()
		return v, ok
	case typeBytes:
		v, _, ok := r.sized()
		return slices.Clone(v), ok
	}
	return nil, false
}
