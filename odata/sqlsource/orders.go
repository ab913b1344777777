package sqlsource

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// totalOrder tells whether the database itself sees to it that no two rows of a set have one key.
func totalOrder(t *introspect.Table, set *edm.EntitySet, stored *sqltext.Table) bool {
	if t == nil || t.View || len(set.Type.Key) == 0 {
		return false
	}
	var key []string
	for _, p := range set.Type.Key {
		key = append(key, stored.Columns[p].Name)
	}
	slices.Sort(key)
	for _, u := range append([][]string{t.Key}, t.Unique...) {
		u = slices.Clone(u)
		slices.Sort(u)
		if len(u) > 0 && slices.Equal(u, key) {
			return true
		}
	}
	return false
}
