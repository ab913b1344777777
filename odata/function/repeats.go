package function

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Repeats tells how often a database evaluates argument i of a call at most, because its SQL names the argument more
// than once.
func Repeats(c *plan.Call, i int) int64 {
	if c.Name == "in" && i == 0 {
		return max(int64(len(c.Args)-1), 1)
	}
	f := Lookup(c.Name)
	most := int64(1)
	if f == nil || i > 8 {
		return most
	}
	place := "$" + string(rune('1'+i))
	for _, spell := range []Template{f.SQL.SQLite, f.SQL.Postgres, f.SQL.MySQL} {
		if spell != nil {
			most = max(most, int64(strings.Count(spell(c, Database{}), place)))
		}
	}
	return most
}
