package engine

import (
	"fmt"
	"time"
)

// cellOf brings what drivers give into the five storage classes; times become text. What it has to write goes to the
// arena, which it gives back.
func cellOf(cell *Cell, v any, arena []byte) ([]byte, error) {
	*cell = Cell{}
	switch v := v.(type) {
	case nil:
	case int64:
		cell.Kind, cell.Int = Int, v
	case uint64:
		if v > 1<<63-1 {
			cell.Kind, cell.Bytes = Text, fmt.Append(nil, v)
		} else {
			cell.Kind, cell.Int = Int, int64(v)
		}
	case bool:
		cell.Kind = Int
		if v {
			cell.Int = 1
		}
	case float32:
		cell.Kind, cell.Float = Float, float64(v)
	case float64:
		cell.Kind, cell.Float = Float, v
	case string:
		from := len(arena)
		arena = append(arena, v...)
		cell.Kind, cell.Bytes = Text, arena[from:len(arena):len(arena)]
	case []byte:
		cell.Kind, cell.Bytes = Text, v
	case time.Time:
		from := len(arena)
		arena = v.UTC().AppendFormat(arena, time.RFC3339Nano)
		cell.Kind, cell.Bytes = Text, arena[from:len(arena):len(arena)]
	default:
		return arena, fmt.Errorf("a column has type %T", v)
	}
	return arena, nil
}
