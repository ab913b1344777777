package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Substring counts characters from 0. A negative position is 0 and the text behind the end is empty. A negative
// length is 400 where it is a constant, and 0 where the data has it. OData-URL 5.1.1.5.7
var _ = add(Function{
	Name: "substring", Group: Text, Null: OrUndefined, Eval: evalSubstring, Check: checkLength,
	Signatures: []Signature{{Params: []Param{String, Integer, Integer}, Optional: 1, Result: edm.String}},
	SQL: SQL{
		SQLite: byCall(func(c *plan.Call) string {
			if len(c.Args) == 3 {
				return "substr($1, max($2, 0) + 1, max($3, 0))"
			}
			return "substr($1, max($2, 0) + 1)"
		}),
		Postgres: byCall(func(c *plan.Call) string {
			if len(c.Args) == 3 {
				return "substr($1, " + place("$2") + " + 1, " + place("$3") + ")"
			}
			return "substr($1, " + place("$2") + " + 1)"
		}),
		MySQL: byCall(func(c *plan.Call) string {
			if len(c.Args) == 3 {
				return "SUBSTRING($1, " + mysqlPlace + ", GREATEST($3, 0))"
			}
			return "SUBSTRING($1, " + mysqlPlace + ")"
		}),
	},
})

// checkLength refuses a constant length below zero.
func checkLength(c *plan.Call) *plan.Error {
	if len(c.Args) < 3 {
		return nil
	}
	if l, ok := c.Args[2].(*plan.Literal); ok && !l.Value.Null && l.Value.Int < 0 {
		return plan.Errorf(plan.Malformed, 2, "a text cannot be {arg} characters long")
	}
	return nil
}

// mysqlPlace is a position counted from 1, no further than the longest text of MySQL.
const mysqlPlace = "LEAST(GREATEST($2, 0), 4294967295) + 1"

// place limits a position in a text to what the functions of PostgreSQL take; null stays null.
func place(arg string) string {
	return "(CASE WHEN " + arg + " < 0 THEN 0 WHEN " + arg + " > 2000000000 THEN 2000000000 ELSE " + arg + " END)::int"
}
