package function

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// MariaDB ends a statement where a double would become infinite, so each operator looks at its operands first. In the texts
// below, {A} and {B} are the operands, {:A} and {:B} their first mention, and the words are those of postgresdouble.go.
const (
	mysqlSum      = `CASE WHEN ABS(({:A}) / 2e0 OP ({:B}) / 2e0) < HUGE THEN {A} OP {B} END`
	mysqlProduct  = `CASE WHEN ABS(({:A}) * DOWN * (({:B}) * DOWN)) < 1 THEN {A} * {B} END`
	mysqlQuotient = `CASE WHEN ABS(({:A}) * DOWN) < LEAST(ABS({:B}), 1e0) * UP THEN {A} / {B} END`
	mysqlRound    = `CASE WHEN ABS({:A}) < 4503599627370496 THEN SIGN({A}) * FLOOR(ABS({A}) + 4.9999999999999994e-1) ELSE {A} + 0e0 END`
	mysqlSingle   = `CASE WHEN ABS({:A}) < 3.4028235677973366e38 THEN CAST({A} + 0e0 AS FLOAT) + 0e0 END`
)

// mysqlDouble fills in a text over doubles. An operand that is no column and no constant is a variable of the session: it
// is the only way there to name a value, so that neither it nor its SQL is repeated. Calls within the operands have other
// variables, by how deep they nest, and CASE goes through its conditions in order. The sum makes a double of a variable that
// the session has not had yet, with which MariaDB computes as with a text.
func mysqlDouble(c *plan.Call, text string) string {
	words := []string{"HUGE", "8.98846567431158e307", "DOWN", "7.458340731200207e-155", "UP", "1.3407807929942597e154"}
	for i, a := range c.Args {
		letter, operand := string(rune('A'+i)), "$"+strconv.Itoa(i+1)
		if !kind(c, i).Floating() {
			operand = "(" + operand + " + 0e0)"
		}
		name, first := operand, operand
		if !repeatable(a) {
			variable := mysqlVariable(c, letter)
			name, first = "("+variable+" + 0e0)", variable+" := "+operand
		}
		words = append(words, "{:"+letter+"}", first, "{"+letter+"}", name)
	}
	return "(" + strings.NewReplacer(words...).Replace(text) + ")"
}

// mysqlFloat is an operator over doubles. The sum makes a double of the result where a table keeps it.
func mysqlFloat(c *plan.Call, op string) string {
	text := ""
	switch c.Name {
	case "mod":
		return "(MOD($1 + 0e0, NULLIF($2 + 0e0, 0)) + 0e0)"
	case "mul":
		text = mysqlProduct
	case "div", "divby":
		text = mysqlQuotient
	default:
		text = strings.ReplaceAll(mysqlSum, "OP", op)
	}
	return "(" + mysqlDouble(c, text) + " + 0e0)"
}

// mysqlVariable is the name of a variable that no call within an expression has. A suffix is for values of one type: MariaDB
// decides how a statement computes with a variable by what an earlier statement of the session left in it.
func mysqlVariable(e plan.Expr, suffix string) string {
	return "@ves" + strconv.Itoa(height(e)) + suffix
}

// height is how many calls nest in an expression, row policies included.
func height(e plan.Expr) int {
	most := 0
	below := func(list ...plan.Expr) {
		for _, x := range list {
			if x != nil {
				most = max(most, height(x)+1)
			}
		}
	}
	switch e := e.(type) {
	case *plan.Call:
		below(e.Args...)
	case *plan.Computed:
		if !e.Shared {
			below(e.Expr)
		}
	case *plan.Sub:
		below(e.Value, e.Query.Key, e.Query.Filter)
		for r := e.Query.Range; r != nil; r = r.Outer {
			below(r.Policy)
		}
		for _, r := range e.Query.Joins {
			below(r.Policy)
		}
		for _, o := range e.Query.Order {
			below(o.Expr)
		}
	}
	return most
}
