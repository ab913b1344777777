package function

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Operators over decimals in SQL. Where types and constants tell that operands and result have few enough digits, nothing
// is guarded.

// beyond is the smallest number with too many digits before the point.
const beyond = "100000000000000000000000000000000000"

// holdPostgres rounds a decimal, and makes null of one that is out of range. It names x once, since LEAST and GREATEST
// pass over nulls.
func holdPostgres(x string) string {
	return "NULLIF(GREATEST(NULLIF(LEAST(round(" + x + ", 30), " + beyond + "), " + beyond + "), -" + beyond + "), -" + beyond + ")"
}

// postgresHeld is an operand.
func postgresHeld(c *plan.Call, i int) string {
	x := "$" + strconv.Itoa(i+1) + "::numeric"
	if digitsOfExpr(c.Args[i]).fit() {
		return x
	}
	return holdPostgres(x)
}

// postgresExact is an operator over decimals.
func postgresExact(c *plan.Call, op string) string {
	x, y := postgresHeld(c, 0), postgresHeld(c, 1)
	text := "(" + x + " " + op + " " + y + ")"
	switch c.Name {
	case "div", "divby":
		text = "round((" + x + " * 1.00000000000000000000) / NULLIF(" + y + ", 0)::numeric, 10)"
	case "mod":
		text = "(" + x + " % NULLIF(" + y + ", 0)::numeric)"
	}
	if digitsOfResult(c).fit() {
		return text
	}
	return holdPostgres(text)
}

// mysqlExact is an operator over decimals. MariaDB computes with nine words of nine digits, and cuts digits off the
// operands of a product that needs more.
func mysqlExact(c *plan.Call, op string) string {
	text := "($1 " + op + " $2)"
	switch {
	case c.Name == "div" || c.Name == "divby":
		text = "CAST(CAST($1 AS DECIMAL(65, 30)) / NULLIF($2, 0) AS DECIMAL(65, 10))"
	case c.Name == "mod":
		text = "(MOD($1, NULLIF($2, 0)) + 0)" // the sum turns -0.00, which is not 0 there, into 0
	}
	long := c.Name == "mul" && !fewWords(c)
	switch {
	case long:
		text = mysqlLongProduct(c)
	case !digitsOfResult(c).fit():
		text = "(CASE " + holdMySQL(text, mysqlVariable(c, "R")) + " END)"
	}
	for i := range c.Args {
		text = mysqlHeld(c, i, text)
	}
	return text
}

// mysqlHeld is text with operand i rounded, or null where it is out of range.
func mysqlHeld(c *plan.Call, i int, text string) string {
	operand := "$" + strconv.Itoa(i+1)
	if digitsOfExpr(c.Args[i]).fit() {
		return text
	}
	return strings.ReplaceAll(text, operand, "(CASE "+holdMySQL(operand, mysqlVariable(c, "H"+operand[1:]))+" END)")
}

// holdMySQL is holdPostgres as a branch of CASE. A variable names the number, since NULLIF evaluates twice there. MariaDB
// orders results by the digits of their type, which the cast tells.
func holdMySQL(x, name string) string {
	return "WHEN ABS(" + name + " := ROUND(" + x + ", 30)) < " + beyond + " THEN CAST(" + name + " AS DECIMAL(65, 30))"
}

// fewWords tells whether MariaDB computes a product exactly.
func fewWords(c *plan.Call) bool {
	const each, most, kept = 9, 9, 38
	words := func(n int) int { return (n + each - 1) / each }
	x, y := digitsOfExpr(c.Args[0]).held(), digitsOfExpr(c.Args[1]).held()
	return words(x.whole)+words(y.whole)+words(x.scale)+words(y.scale) <= most && x.scale+y.scale <= kept
}

// mysqlLongProduct multiplies what is before the point and what is behind it one by one, so that nothing is cut off a
// product in range: that of the parts behind the point is all that has to be rounded. The way over text takes off words
// of nothing but zeros. The first branch is never taken, and names the operands with few steps, since a server has a
// small stack.
func mysqlLongProduct(c *plan.Call) string {
	a, b := mysqlVariable(c, "P"), mysqlVariable(c, "Q")
	factor := func(name string) string { return "CAST(CAST(" + name + " AS CHAR) AS DECIMAL(65, 30))" }
	product := strings.NewReplacer("{A}", factor(a), "{B}", factor(b)).
		Replace("{A} * TRUNCATE({B}, 0) + TRUNCATE({A}, 0) * MOD({B}, 1) + ROUND(MOD({A}, 1) * MOD({B}, 1), 30)")
	return "(CASE WHEN GREATEST(" + a + " := $1, " + b + " := $2) > " + beyond + " THEN NULL " + holdMySQL(product, mysqlVariable(c, "R")) + " END)"
}
