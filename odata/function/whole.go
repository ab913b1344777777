package function

import (
	"slices"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Sums, differences and products of integers, and of durations, which are microseconds in SQL. What leaves the 64 bits is
// null; where the arguments are too small for that, nothing is guarded.

// The ends of the 64 bits, as each database reads them.
const (
	most          = "9223372036854775807"
	least         = "(-9223372036854775807 - 1)"
	postgresLeast = "'-9223372036854775808'::bigint"
)

// WholeOfPostgres holds a numeric result to the 64 bits: null beyond them. It names x once, since LEAST and GREATEST pass over
// nulls.
func WholeOfPostgres(x string) string {
	return "NULLIF(GREATEST(NULLIF(LEAST(" + x + ", 9223372036854775808), 9223372036854775808), -9223372036854775809), -9223372036854775809)::bigint"
}

// plusConstant is a sum or difference with one constant. It overflows the 64 bits exactly if the other argument, arg,
// reaches end: arg >= end if upper is set, else arg <= end.
type plusConstant struct {
	arg   string
	end   string
	upper bool
}

// withConstant returns the bound of a sum or difference with one constant; false for other calls. The bound is an SQL
// expression over the constant's parameter, so that all constants share one statement. It fits the 64 bits itself.
func withConstant(c *plan.Call, least string) (plusConstant, bool) {
	x, y := constantOf(c.Args[0]), constantOf(c.Args[1])
	switch {
	case c.Name == "add" && y != nil && *y != 0:
		return addConstant("$1", "$2", *y > 0, least), true
	case c.Name == "add" && x != nil && *x != 0:
		return addConstant("$2", "$1", *x > 0, least), true
	case c.Name == "sub" && y != nil && *y > 0:
		return plusConstant{"$1", least + " + $2 - 1", false}, true
	case c.Name == "sub" && y != nil && *y < 0:
		return plusConstant{"$1", most + " + $2 + 1", true}, true
	case c.Name == "sub" && x != nil && *x >= 0:
		return plusConstant{"$2", "$1 - " + most + " - 1", false}, true
	case c.Name == "sub" && x != nil && *x < -1:
		return plusConstant{"$2", "$1 + " + most + " + 2", true}, true
	}
	return plusConstant{}, false
}

func addConstant(arg, constant string, positive bool, least string) plusConstant {
	if positive {
		return plusConstant{arg, most + " - " + constant + " + 1", true}
	}
	return plusConstant{arg, least + " - " + constant + " - 1", false}
}

// constantOf is a constant that is an integer, or the microseconds of a duration; nil for anything else.
func constantOf(e plan.Expr) *int64 {
	l, ok := e.(*plan.Literal)
	if !ok || l.Value.Null {
		return nil
	}
	if n, ok := wholeOf(l); ok {
		return &n
	}
	return nil
}

// guarded writes an operator whose argument arg is null if it reaches end.
func (p plusConstant) guarded(op string) string {
	pick := "LEAST"
	if !p.upper {
		pick = "GREATEST"
	}
	held := "NULLIF(" + pick + "(" + p.arg + ", " + p.end + "), " + p.end + ")"
	if p.arg == "$1" {
		return "(" + held + " " + op + " $2)"
	}
	return "($1 " + op + " " + held + ")"
}

// sqliteWhole sees by the type of a result that it left the 64 bits, which takes less than a guard.
func sqliteWhole(c *plan.Call, op string) string {
	plain := "($1 " + op + " $2)"
	if !MayLeave(c) {
		return plain
	}
	return "ves_whole" + plain
}

func postgresWhole(c *plan.Call, op string) string {
	if !MayLeave(c) {
		return "($1::bigint " + op + " $2::bigint)"
	}
	if p, ok := withConstant(c, postgresLeast); ok {
		return p.guarded(op)
	}
	return WholeOfPostgres("$1::numeric " + op + " $2")
}

// mysqlWhole names arguments twice, where that costs less than to evaluate them once by way of text.
func mysqlWhole(c *plan.Call, op string) string {
	if !MayLeave(c) {
		return "($1 " + op + " $2)"
	}
	if !light(c.Args[0]) || !light(c.Args[1]) {
		return onceOfMySQL(c, op)
	}
	if p, ok := withConstant(c, least); ok {
		compared := " < "
		if !p.upper {
			compared = " > "
		}
		return "(CASE WHEN " + p.arg + compared + p.end + " THEN $1 " + op + " $2 END)"
	}
	return "(CASE WHEN CAST($1 AS DECIMAL(20)) " + op + " $2 BETWEEN " + least + " AND " + most + " THEN $1 " + op + " $2 END)"
}

// light tells whether an expression is a column, a constant, or one operator over these.
func light(e plan.Expr) bool {
	c, ok := e.(*plan.Call)
	return repeatable(e) || ok && Lookup(c.Name).Group == Arithmetic && !slices.ContainsFunc(c.Args, func(a plan.Expr) bool { return !repeatable(a) })
}

// onceOfMySQL evaluates its arguments once, however deep such expressions nest: NULLIF and the branches of CASE evaluate
// anew. The result is moved so that it has a sign only where it is too small, and becomes a text that is not hexadecimal
// where it is too large: UNHEX makes null of both. Each step counts, since a server has a small stack.
func onceOfMySQL(c *plan.Call, op string) string {
	const half, beyond = "9223372036854775808", "18446744073709551616"
	result := "CAST(" + half + " AS DECIMAL(20)) + $1 " + op + " $2"
	switch op {
	case "*":
		result = "CAST(" + half + " AS DECIMAL(20)) + CAST($1 AS DECIMAL(20)) * $2"
	case "": // a change of the sign
		result = "CAST(" + half + " AS DECIMAL(20)) - $1"
	}
	whole := "(CAST(HEX(UNHEX(REPLACE(LEAST(" + result + ", " + beyond + "), '" + beyond + "', 'x'))) AS DECIMAL(20)) - " + half + ")"
	if c.T.Kind == edm.Duration {
		return "CAST(" + whole + " AS SIGNED)"
	}
	return whole
}

// negatedWhole names its argument once. MySQL evaluates that of NULLIF twice.
func negatedWhole(c *plan.Call, least string) string {
	if !MayLeave(c) {
		return "(-$1)"
	}
	return "(-NULLIF($1, " + least + "))"
}
