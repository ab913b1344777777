package memory

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// row is the values of a row, one for each cell of its set.
type row []plan.Value

// table is the rows of a set. It does not change; Replace makes another.
type table struct {
	cells []cell
	rows  []row
	// last is the greatest number that a row got from the set.
	last int64

	indexes sync.Map // of map[string][]int, by the places that they index
}

// misfit marks a value that its type cannot hold where the property may not be null. It computes as null does, and ends
// an answer that would show it.
const misfit = 1

func isMisfit(v plan.Value) bool { return v.Null && v.Int == misfit }

// rows copies the rows of a slice of structs.
func (s *set) rows(list reflect.Value) ([]row, error) {
	out := make([]row, 0, list.Len())
	for i := range list.Len() {
		v := list.Index(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return nil, fmt.Errorf("row %d is nil", i)
			}
			v = v.Elem()
		}
		r := make(row, len(s.cells))
		for j := range s.cells {
			r[j] = s.cells[j].value(v)
		}
		out = append(out, r)
	}
	return out, nil
}

// value reads a cell out of a struct. What its type cannot hold is null, or a misfit.
func (c *cell) value(v reflect.Value) plan.Value {
	if c.outer != nil {
		v = v.FieldByIndex(c.outer)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return plan.Value{Null: true}
			}
			v = v.Elem()
		}
	}
	v = v.FieldByIndex(c.index)
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil(), optional(v.Type()) && !v.Field(1).Bool():
		return plan.Value{Null: true}
	case v.Kind() == reflect.Pointer:
		v = v.Elem()
	case optional(v.Type()):
		v = v.Field(0)
	}
	out, err := c.read(v)
	switch {
	case err != nil && c.nullable:
		return plan.Value{Null: true}
	case err != nil:
		return plan.Value{Null: true, Int: misfit}
	}
	return out
}

// table copies rows, and checks that their keys differ.
func (s *set) table(rows any) (*table, error) {
	list, err := s.rows(reflect.ValueOf(rows))
	if err != nil {
		return nil, err
	}
	t := &table{cells: s.cells, rows: list}
	for _, r := range list {
		if s.auto >= 0 {
			t.last = max(t.last, r[s.auto].Int)
		}
	}
	if s.edm.Single() {
		if len(list) > 1 {
			return nil, fmt.Errorf("a singleton has one row, not %d", len(list))
		}
		return t, nil
	}
	for i, r := range t.rows {
		if _, ok := keyText(r, s.key(), t.cells); !ok {
			return nil, fmt.Errorf("row %d has no key, or one that its type cannot hold", i)
		}
	}
	for _, same := range t.index(s.key()) {
		if len(same) > 1 {
			return nil, fmt.Errorf("rows %d and %d have the same key", same[0], same[1])
		}
	}
	return t, nil
}

// key is the places of the key.
func (s *set) key() []int {
	at := make([]int, len(s.edm.Type.Key))
	for i, p := range s.edm.Type.Key {
		at[i] = s.columns[p].at
	}
	return at
}

// index finds rows by the values at some places; it is made when it is first asked for.
func (t *table) index(at []int) map[string][]int {
	name := fmt.Sprint(at)
	if known, ok := t.indexes.Load(name); ok {
		return known.(map[string][]int)
	}
	made := make(map[string][]int, len(t.rows))
	for i, r := range t.rows {
		if k, ok := keyText(r, at, t.cells); ok {
			made[k] = append(made[k], i)
		}
	}
	t.indexes.Store(name, made) // perhaps over one that is the same
	return made
}

// keyText writes values so that equal ones have the same text; false when one is null.
func keyText(r row, at []int, cells []cell) (string, bool) {
	var b []byte
	for _, i := range at {
		if r[i].Null {
			return "", false
		}
		b = append(appendKey(b, r[i], cells[i].typ.Kind), 0)
	}
	return string(b), true
}

// appendKey writes exact numbers alike, whatever their kinds; the text of a Decimal has no needless zeros.
func appendKey(dst []byte, v plan.Value, k edm.Kind) []byte {
	switch {
	case k == edm.Boolean || k == edm.Enum || k.Integer():
		return strconv.AppendInt(dst, v.Int, 10)
	case k.Floating():
		return strconv.AppendFloat(dst, v.Float, 'g', -1, 64)
	case k == edm.Decimal:
		return append(dst, v.Bytes...)
	}
	return append(strconv.AppendInt(dst, int64(len(v.Bytes)), 10), append([]byte{':'}, v.Bytes...)...)
}
