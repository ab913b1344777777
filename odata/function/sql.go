package function

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// SQL spells a call in the SQL of each database.
type SQL struct {
	SQLite, Postgres, MySQL Template
}

// Template gives the text of a call, with $1, $2, $3 in place of the arguments.
type Template func(c *plan.Call, d Database) string

// Database is what a template needs to know of the database at hand.
type Database struct {
	// CaseCollation is the collation, as SQL names it, by which PostgreSQL or MariaDB maps upper and lower case letter for
	// letter; empty for the default.
	CaseCollation string
}

// always is a template that does not depend on the call.
func always(text string) Template { return func(*plan.Call, Database) string { return text } }

// named is a template with the name of the function in place of NAME.
func named(text string) Template {
	return func(c *plan.Call, _ Database) string { return strings.ReplaceAll(text, "NAME", c.Name) }
}

// byCall is a template that depends on the call alone.
func byCall(f func(c *plan.Call) string) Template {
	return func(c *plan.Call, _ Database) string { return f(c) }
}

// kind is the kind of an argument; edm.Invalid when there is none.
func kind(c *plan.Call, i int) edm.Kind {
	if i >= len(c.Args) {
		return edm.Invalid
	}
	return c.Args[i].Type().Kind
}

// sqliteCompute leaves a call to the reference implementation, which package engine registers on its connections.
func sqliteCompute(c *plan.Call) string {
	kinds, args := make([]string, len(c.Args)), ""
	for i := range c.Args {
		kinds[i] = kind(c, i).String()
		args += ", $" + strconv.Itoa(i+1)
	}
	return "ves_compute('" + c.Name + ":" + c.T.Kind.String() + ":" + strings.Join(kinds, ",") + "'" + args + ")"
}

// repeatable tells whether the SQL of an expression may stand several times: a column or a constant, but no call.
func repeatable(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Literal, *plan.Ref:
		return true
	case *plan.Computed:
		return e.Shared || repeatable(e.Expr)
	}
	return false
}

// Repeats returns how often a database evaluates argument i of a call at most, because its SQL names the argument more
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
