package pluginproc

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// How many bytes of a person a plugin is told: of all granted columns together, and of
// the name. A call with more than handshake.MaxRequest could not be sent at all, and the
// person could never sign in.
const (
	maxTold     = 1 << 20
	maxToldName = 64 << 10
)

// tell returns what the plugin is told in a call. What is too large is left out and
// logged; a plugin takes it for a column that is not granted.
func (p *instance) tell(user pluginsdk.User, req *pluginsdk.Request) (pluginsdk.User, *pluginsdk.Request) {
	u, r := p.slot.spec.narrow(user, req)
	if len(u.Name) > maxToldName {
		p.slot.log.Warn("a person's name is too large for a plugin and is cut", "user", u.ID, "bytes", len(u.Name), "limit", maxToldName)
		u.Name = words.Cut(u.Name, maxToldName)
	}
	columns := u.Columns.All()
	left := fit(columns, maxTold)
	for _, name := range left {
		p.slot.log.Warn("a granted column is too large for a plugin and is left out: take it from user_read, or keep it elsewhere",
			"column", name, "user", u.ID, "bytes", sizeOf(user.Columns.All()[name]), "limit of all columns", maxTold)
	}
	if len(left) > 0 {
		u.Columns = pluginsdk.ValuesOf(columns)
	}
	return u, r
}

// fit removes the largest columns until the others have at most limit bytes together. It
// returns the names of those that it removed.
func fit(columns map[string]pluginsdk.Value, limit int) []string {
	total := 0
	for _, v := range columns {
		total += sizeOf(v)
	}
	if total <= limit {
		return nil
	}
	var left []string
	bySize := slices.SortedFunc(maps.Keys(columns), func(a, b string) int {
		return cmp.Or(sizeOf(columns[b])-sizeOf(columns[a]), cmp.Compare(a, b))
	})
	for _, name := range bySize {
		if total <= limit {
			break
		}
		total -= sizeOf(columns[name])
		delete(columns, name)
		left = append(left, name)
	}
	return left
}

func sizeOf(v pluginsdk.Value) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}
