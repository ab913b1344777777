package store

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A kind is what a column of the host's holds, whatever the engine calls it.
type kind int

const (
	kindText kind = iota
	kindBytes
	kindBool
	kindInt
	kindFloat
	kindDecimal
	kindUUID
	kindTime
	kindDate
)

// kindOf sorts the type names of all engines. What is unknown is text.
func kindOf(typeName string) kind {
	name := strings.ToLower(typeName)
	switch name {
	case "tinyint(1)", "bit(1)":
		return kindBool
	}
	base, _, _ := strings.Cut(name, "(")
	base, _, _ = strings.Cut(strings.TrimSpace(base), " ")
	switch base {
	case "int", "integer", "tinyint", "smallint", "mediumint", "bigint", "int2", "int4", "int8", "year", "unsigned":
		return kindInt
	case "bool", "boolean":
		return kindBool
	case "real", "float", "float4", "float8", "double":
		return kindFloat
	case "decimal", "numeric", "dec":
		return kindDecimal
	case "uuid":
		return kindUUID
	case "timestamp", "timestamptz", "datetime":
		return kindTime
	case "date":
		return kindDate
	case "bytea", "blob", "tinyblob", "mediumblob", "longblob", "binary", "varbinary":
		return kindBytes
	}
	return kindText
}

// value makes what the driver read one of the types that plugins know: nil, bool,
// int64, float64, string or []byte. Decimals and numbers beyond int64 are text,
// and so are moments, as RFC 3339.
func (k kind) value(v any) any {
	switch v := v.(type) {
	case int64:
		return k.fromInt(v)
	case uint64:
		if v > math.MaxInt64 {
			return strconv.FormatUint(v, 10)
		}
		return k.fromInt(int64(v))
	case float32:
		return k.value(float64(v))
	case float64:
		if k == kindDecimal {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return v
	case bool, nil:
		return v
	case time.Time:
		switch {
		case v.IsZero(): // MySQL's 0000-00-00
			return nil
		case k == kindDate:
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

func (k kind) fromInt(n int64) any {
	switch k {
	case kindBool:
		return n != 0
	case kindFloat:
		return float64(n)
	case kindDecimal:
		return strconv.FormatInt(n, 10)
	}
	return n
}

func (k kind) fromText(s string) any {
	switch k {
	case kindBytes:
		return []byte(s)
	case kindBool: // MySQL's bit(1)
		return s != "" && s != "\x00" && s != "0"
	}
	return s
}

// text returns the column's value as text, the form in which keys travel.
func (k kind) text(v any) string {
	switch v := k.value(v).(type) {
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

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// parse is the inverse of text: it returns what to compare the column with, and
// false when no value of the column reads like this. Engines fail on such text
// where they should find nothing.
func (c Column) parse(text string) (any, bool) {
	switch k := kindOf(c.Type); k {
	case kindInt:
		n, err := strconv.ParseInt(text, 10, c.bits())
		if err != nil || strconv.FormatInt(n, 10) != text {
			return nil, false
		}
		return n, true
	case kindUUID:
		return text, uuidPattern.MatchString(text)
	case kindBytes:
		b, err := hex.DecodeString(text)
		return b, err == nil
	case kindText:
		return text, storable(text)
	case kindDecimal:
		_, err := strconv.ParseFloat(text, 64)
		return text, err == nil
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

// param makes v fit the column, or says why it does not. Engines disagree about
// what they convert by themselves.
func (c Column) param(v any, moment func(time.Time) any) (any, error) {
	k := kindOf(c.Type)
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		switch k {
		case kindBool:
			return v, nil
		case kindInt:
			if v {
				return int64(1), nil
			}
			return int64(0), nil
		}
	case int64:
		switch k {
		case kindInt, kindFloat:
			return v, nil
		case kindText, kindDecimal:
			return strconv.FormatInt(v, 10), nil
		case kindBool:
			if v == 0 || v == 1 {
				return v == 1, nil
			}
		}
	case float64:
		switch {
		case k == kindFloat:
			return v, nil
		case k == kindText, k == kindDecimal:
			return strconv.FormatFloat(v, 'f', -1, 64), nil
		case k == kindInt && v == math.Trunc(v) && math.Abs(v) < 1<<53:
			return int64(v), nil
		}
	case string:
		return c.textParam(v, moment)
	case []byte:
		if k == kindBytes {
			return notNull(v), nil
		}
		return c.textParam(string(v), moment)
	}
	return nil, fmt.Errorf("column %q (%s) cannot hold a %T", c.Name, c.Type, v)
}

func (c Column) textParam(s string, moment func(time.Time) any) (any, error) {
	switch k := kindOf(c.Type); k {
	case kindText, kindDecimal, kindInt, kindUUID:
		if v, ok := c.parse(s); ok {
			return v, nil
		}
	case kindBytes:
		return []byte(s), nil
	case kindTime:
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return moment(t.UTC()), nil
		}
	case kindDate:
		if _, err := time.Parse(time.DateOnly, s); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("column %q (%s) cannot hold such a text", c.Name, c.Type)
}
