package column

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Kind is what a column holds, under one name for all engines.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Bytes
	Bool
	Int
	Float
	Decimal
	UUID
	Time // date and time
	Date
)

// String returns the name of the kind, such as "int".
func (k Kind) String() string {
	return [...]string{"text", "bytes", "bool", "int", "float", "decimal", "uuid", "time", "date"}[k]
}

// Kind is what a column of this declared type holds, on any of the three engines. An unknown type is [Text].
func (c Column) Kind() Kind {
	if c.Type == "tinyint(1)" || c.Type == "bit(1)" {
		return Bool
	}
	base, _, _ := strings.Cut(c.Type, "(")
	base, _, _ = strings.Cut(strings.TrimSpace(base), " ")
	switch base {
	case "int", "integer", "tinyint", "smallint", "mediumint", "bigint", "int2", "int4", "int8", "year", "unsigned":
		return Int
	case "bool", "boolean":
		return Bool
	case "real", "float", "float4", "float8", "double":
		return Float
	case "decimal", "numeric", "dec":
		return Decimal
	case "uuid":
		return UUID
	case "timestamp", "timestamptz", "datetime":
		return Time
	case "date":
		return Date
	case "bytea", "blob", "tinyblob", "mediumblob", "longblob", "binary", "varbinary":
		return Bytes
	}
	return Text
}

// Value makes what the driver read one of the types that plugins know: nil, bool,
// int64, float64, string or []byte. Decimals and numbers beyond int64 are text,
// and so are moments, as RFC 3339.
func (k Kind) Value(v any) any {
	switch v := v.(type) {
	case int64:
		return k.fromInt(v)
	case uint64:
		if v > math.MaxInt64 {
			return strconv.FormatUint(v, 10)
		}
		return k.fromInt(int64(v))
	case float32:
		return k.Value(float64(v))
	case float64:
		if k == Decimal {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return v
	case bool, nil:
		return v
	case time.Time:
		switch {
		case v.IsZero(): // MySQL's 0000-00-00
			return nil
		case k == Date:
			return v.Format(time.DateOnly)
		}
		return v.UTC().Format(time.RFC3339Nano)
	case string:
		return k.fromText(v)
	case []byte:
		return k.fromText(string(v))
	}
	return fmt.Sprint(v)
}

func (k Kind) fromInt(n int64) any {
	switch k {
	case Bool:
		return n != 0
	case Float:
		return float64(n)
	case Decimal:
		return strconv.FormatInt(n, 10)
	}
	return n
}

func (k Kind) fromText(s string) any {
	switch k {
	case Bytes:
		return []byte(s)
	case Bool: // MySQL's bit(1), and texts that programs write into SQLite
		switch strings.ToLower(s) {
		case "", "\x00", "0", "f", "false":
			return false
		}
		return true
	}
	return s
}

// Text returns what the driver read as text, the form in which keys travel; bytes
// are hexadecimal, null is empty.
func (k Kind) Text(v any) string {
	switch v := k.Value(v).(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return hex.EncodeToString(v)
	default:
		return fmt.Sprint(v)
	}
}

// storable reports whether every engine takes s as text.
func storable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

var (
	uuidPattern    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	decimalPattern = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
)

// Parse is the inverse of [Kind.Text]: it returns what to compare the column
// with, and false when no value of the column reads like this. Engines fail on
// such text where they should find nothing.
func (c Column) Parse(text string) (any, bool) {
	switch c.Kind() {
	case Int:
		n, err := strconv.ParseInt(text, 10, c.bits())
		if err != nil || strconv.FormatInt(n, 10) != text {
			return nil, false
		}
		return n, true
	case UUID:
		return text, uuidPattern.MatchString(text)
	case Bytes:
		b, err := hex.DecodeString(text)
		return b, err == nil && hex.EncodeToString(b) == text
	case Text:
		return text, storable(text)
	case Decimal:
		return text, decimalPattern.MatchString(text)
	default:
		return nil, false
	}
}

// bits is the width of an integer type where exceeding it is an error.
func (c Column) bits() int {
	switch c.Type {
	case "int2":
		return 16
	case "int4":
		return 32
	}
	return 64
}

// Param converts v to the type of the column; the error is the reason why that is
// impossible. Engines differ in what they convert by themselves, and some cut off what is
// too long.
func (c Column) Param(v any, moment func(time.Time) any) (any, error) {
	out, err := c.convert(v, moment)
	if err != nil {
		return nil, err
	}
	switch out := out.(type) {
	case string:
		if n := int64(utf8.RuneCountInString(out)); c.Kind() == Text && c.Length > 0 && n > c.Length {
			return nil, fmt.Errorf("column %q (%s) cannot hold a text of %d characters: %d are its limit", c.Name, c.Type, n, c.Length)
		}
	case []byte:
		if n := int64(len(out)); c.Kind() == Bytes && c.Length > 0 && n > c.Length {
			return nil, fmt.Errorf("column %q (%s) cannot hold %d bytes: %d are its limit", c.Name, c.Type, n, c.Length)
		}
	case int64:
		if width := c.bits(); c.Kind() == Int && (out > 1<<(width-1)-1 || out < -1<<(width-1)) {
			return nil, fmt.Errorf("column %q (%s) cannot hold %d", c.Name, c.Type, out)
		}
	}
	return out, nil
}

func (c Column) convert(v any, moment func(time.Time) any) (any, error) {
	k := c.Kind()
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		switch k {
		case Bool:
			return v, nil
		case Int:
			if v {
				return int64(1), nil
			}
			return int64(0), nil
		}
	case int64:
		switch k {
		case Int, Float:
			return v, nil
		case Text, Decimal:
			return strconv.FormatInt(v, 10), nil
		case Bool:
			if v == 0 || v == 1 {
				return v == 1, nil
			}
		}
	case float64:
		switch {
		case k == Float:
			return v, nil
		case k == Text, k == Decimal:
			return strconv.FormatFloat(v, 'f', -1, 64), nil
		case k == Int && v == math.Trunc(v) && math.Abs(v) < 1<<53:
			return int64(v), nil
		}
	case string:
		return c.textParam(v, moment)
	case []byte:
		if k == Bytes {
			return append([]byte{}, v...), nil // nil as well is no null
		}
		return c.textParam(string(v), moment)
	}
	return nil, fmt.Errorf("column %q (%s) cannot hold a %T", c.Name, c.Type, v)
}

func (c Column) textParam(s string, moment func(time.Time) any) (any, error) {
	switch c.Kind() {
	case Text, Decimal, Int, UUID:
		if v, ok := c.Parse(s); ok {
			return v, nil
		}
	case Bytes:
		return []byte(s), nil
	case Time:
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return moment(t.UTC()), nil
		}
	case Date:
		if _, err := time.Parse(time.DateOnly, s); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("column %q (%s) cannot hold such a text", c.Name, c.Type)
}
