package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Substring counts characters from 0, and a negative position from the end, no further than the beginning. The text
// behind the end is empty. A negative length is 400 where it is a constant, and 0 where the data has it. OData-URL
// 5.1.1.5.7
var _ = add(Function{
	Name: "substring", Group: Text, Null: OrUndefined, Eval: evalSubstring, Check: checkLength,
	Signatures: []Signature{{Params: []Param{String, Integer, Integer}, Optional: 1, Result: edm.String}},
	SQL: SQL{
		SQLite: byCall(func(c *plan.Call) string {
			return firstOf(c, "substr($1, max($2 + ($2 >= 0), -999999999))", "substr(", ", 1, max($3, 0))")
		}),
		Postgres: byCall(func(c *plan.Call) string {
			rest := "substr($1, " + place("$2") + " + 1)"
			if !fromStart(c) {
				rest = "CASE WHEN $2 < 0 THEN right($1, -greatest($2, -2000000000)::int) ELSE " + rest + " END"
			}
			return firstOf(c, rest, "left(", ", "+place("$3")+")")
		}),
		MySQL: byCall(func(c *plan.Call) string {
			rest := "SUBSTRING($1, LEAST(GREATEST($2, 0), 4294967295) + 1)" // the longest text
			if !fromStart(c) {
				rest = "IF($2 < 0, RIGHT($1, -GREATEST($2, -4294967295)), " + rest + ")"
			}
			return firstOf(c, rest, "LEFT(", ", GREATEST($3, 0))")
		}),
	},
})

// firstOf is the text from a position on, or the first characters of it where the call has a length.
func firstOf(c *plan.Call, rest, before, behind string) string {
	if len(c.Args) < 3 {
		return rest
	}
	return before + rest + behind
}

// fromStart tells whether a position is a constant from 0 on.
func fromStart(c *plan.Call) bool {
	l, ok := c.Args[1].(*plan.Literal)
	return ok && l.Value.Int >= 0
}

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

// place limits a position in a text to what the functions of PostgreSQL take; null stays null.
func place(arg string) string {
	return "(CASE WHEN " + arg + " < 0 THEN 0 WHEN " + arg + " > 2000000000 THEN 2000000000 ELSE " + arg + " END)::int"
}
