package active

import (
	"fmt"
	"math"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// kindOf is the type of a column's values.
func kindOf(c store.Column) edm.Kind {
	kinds := map[string]edm.Kind{
		"bytes": edm.Binary, "bool": edm.Boolean, "int": edm.Int64, "float": edm.Double, "decimal": edm.Decimal,
		"uuid": edm.Guid, "time": edm.DateTimeOffset, "date": edm.Date,
	}
	if k, ok := kinds[c.Kind().String()]; ok {
		return k
	}
	return edm.String
}

// valueOf returns a value of the store as one of a type, and false where the type cannot hold it.
func valueOf(kind edm.Kind, v any) (plan.Value, bool) {
	switch v := v.(type) {
	case nil:
		return plan.Value{Null: true}, true
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		if kind == edm.Boolean || kind == edm.Int64 {
			return plan.Value{Int: n}, true
		}
		return plan.Value{}, false
	case int64:
		return ofInt(kind, v)
	case float64:
		return ofFloat(kind, v)
	case []byte:
		if kind == edm.Binary {
			return plan.Value{Bytes: v}, true
		}
		return ofText(kind, string(v))
	case string:
		return ofText(kind, v)
	}
	return plan.Value{}, false
}

func ofInt(kind edm.Kind, n int64) (plan.Value, bool) {
	switch kind {
	case edm.Boolean:
		if n != 0 {
			n = 1
		}
		return plan.Value{Int: n}, true
	case edm.Int64:
		return plan.Value{Int: n}, true
	case edm.Double:
		return plan.Value{Float: float64(n)}, true
	case edm.Decimal, edm.String:
		return plan.Value{Bytes: []byte(strconv.FormatInt(n, 10))}, true
	}
	return plan.Value{}, false
}

func ofFloat(kind edm.Kind, f float64) (plan.Value, bool) {
	switch kind {
	case edm.Double:
		return plan.Value{Float: f}, true
	case edm.Boolean, edm.Int64:
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return ofInt(kind, int64(f))
		}
	case edm.Decimal:
		text, ok := scalar.DecimalOf(f)
		return plan.Value{Bytes: []byte(text)}, ok
	case edm.String:
		return plan.Value{Bytes: []byte(fmt.Sprint(f))}, true
	}
	return plan.Value{}, false
}

func ofText(kind edm.Kind, s string) (plan.Value, bool) {
	switch kind {
	case edm.String, edm.Binary:
		return plan.Value{Bytes: []byte(s)}, true
	case edm.Boolean:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return ofInt(kind, n)
		}
	case edm.DateTimeOffset, edm.Date:
		text, ok := scalar.AppendTime(nil, []byte(s), kind)
		return plan.Value{Bytes: text}, ok
	}
	read, ok := scalar.FromText(kind, []byte(s))
	out := plan.Value{Int: read.Int, Float: read.Float}
	if read.Text != "" {
		out.Bytes = []byte(read.Text)
	}
	return out, ok
}
