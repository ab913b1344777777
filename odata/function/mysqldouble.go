package function

import (
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
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

// Texts and decimals of doubles. MariaDB has the shortest digits of a double, in a notation of its own, and six digits of a
// single, which may need nine. In the texts below {T} is that notation, {E} the exponent, {D} the digits, and {S} the double
// whose digits are the shortest of a single. Comparisons give them their values, which are never those compared with.
const (
	mysqlDigits = `WHEN ({T} := CONCAT(ABS({X} + 0e0))) = '' THEN NULL ` +
		`WHEN ({E} := CASE WHEN {T} LIKE '%e%' THEN CAST(SUBSTRING_INDEX({T}, 'e', -1) AS SIGNED) ` +
		`WHEN ABS({X}) >= 1 THEN LENGTH(SUBSTRING_INDEX({T}, '.', 1)) - 1 ELSE LENGTH(TRIM(LEADING '0' FROM SUBSTRING({T}, 3))) - LENGTH({T}) + 1 END) > 9999 THEN NULL ` +
		`WHEN ({D} := TRIM(TRAILING '0' FROM TRIM(LEADING '0' FROM REPLACE(SUBSTRING_INDEX({T}, 'e', 1), '.', '')))) = '' THEN NULL `
	mysqlTry    = `CAST(CONCAT(ROUND(CAST(CONCAT('0.', {D}) AS DECIMAL(40, 30)), N), 'e', {E} + 1) AS DOUBLE)`
	mysqlTried  = `WHEN CAST(({S} := ` + mysqlTry + `) AS FLOAT) + 0e0 = ABS({A}) THEN {S} + 0e0 `
	mysqlFormat = `ELSE CONCAT(IF({A} < 0, '-', ''), CASE WHEN {E} < -6 OR {E} > 20 THEN CONCAT(LEFT({D}, 1), IF(LENGTH({D}) > 1, CONCAT('.', SUBSTRING({D}, 2)), ''), 'e', ` +
		`IF({E} < 0, '-', '+'), IF(ABS({E}) < 10, '0', ''), ABS({E})) WHEN {E} < 0 THEN CONCAT('0.', REPEAT('0', -{E} - 1), {D}) ` +
		`WHEN LENGTH({D}) <= {E} + 1 THEN CONCAT({D}, REPEAT('0', {E} + 1 - LENGTH({D}))) ELSE CONCAT(LEFT({D}, {E} + 1), '.', SUBSTRING({D}, {E} + 2)) END) END`
)

// mysqlShortest goes on in a CASE with the digits of {A}: of the single that it is, or of the double.
func mysqlShortest(k edm.Kind) (steps, number string) {
	digits := strings.ReplaceAll(mysqlDigits, "{X}", "{A}")
	if k != edm.Single {
		return digits, "{A}"
	}
	short := "CASE "
	for n := 6; n < 9; n++ {
		short += strings.ReplaceAll(mysqlTried, "N)", strconv.Itoa(n)+")")
	}
	short += "ELSE " + strings.ReplaceAll(mysqlTry, "N)", "9)") + " END"
	return digits + "WHEN ({S} := " + short + ") = 0 THEN NULL " + strings.ReplaceAll(mysqlDigits, "{X}", "{S}"), "(SIGN({A}) * {S})"
}

// mysqlFloatCast is the cast of a double or single, or to one.
func mysqlFloatCast(c *plan.Call) string {
	switch to := c.T.Kind; to {
	case edm.String:
		steps, _ := mysqlShortest(kind(c, 0))
		text := "CASE WHEN ({:A}) = 0 THEN '0' WHEN {A} IS NULL THEN NULL " + steps + mysqlFormat
		return "(CONVERT(" + mysqlNamed(c, text) + " USING utf8mb4) COLLATE utf8mb4_bin)"
	case edm.Decimal:
		return "CAST(" + mysqlDecimal(c, "WHEN ABS({A}) >= 1e35 THEN NULL ") + " AS DECIMAL(65, 30))"
	case edm.Single:
		return "(" + mysqlDouble(c, mysqlSingle) + " + 0e0)"
	case edm.Double:
		return "($1 + 0e0)"
	case edm.Int64:
		return mysqlDouble(c, "CASE WHEN GREATEST({:A}, -9223372036854775808e0) = {A} AND {A} < 9223372036854775808e0 THEN CAST(TRUNCATE({A} + 0e0, 0) AS SIGNED) END")
	default:
		lo, hi := bounds(to)
		return mysqlDouble(c, "CASE WHEN GREATEST({:A}, "+lo+"e0) = {A} AND {A} <= "+hi+" THEN CAST(TRUNCATE({A} + 0e0, 0) AS SIGNED) END")
	}
}

// mysqlNamed is mysqlDouble with the variables of the texts above.
func mysqlNamed(c *plan.Call, text string) string {
	for _, letter := range []string{"T", "E", "D", "S"} {
		text = strings.ReplaceAll(text, "{"+letter+"}", mysqlVariable(c, letter))
	}
	return mysqlDouble(c, text)
}

// mysqlDecimal is a double or single as the decimal with its digits; what is large goes through the cases of beyond first.
func mysqlDecimal(c *plan.Call, beyond string) string {
	steps, number := mysqlShortest(kind(c, 0))
	if kind(c, 0) != edm.Single {
		steps = ""
	}
	digits := "CONCAT(" + number + " + 0e0)"
	return mysqlNamed(c, "CASE WHEN ({:A}) = 0 THEN 0 WHEN {A} IS NULL THEN NULL "+beyond+steps+
		"WHEN ABS({A}) >= 1e27 THEN CAST("+digits+" AS DECIMAL(65, 0)) ELSE CAST("+digits+" AS DECIMAL(65, 38)) END")
}

// mysqlScaling is a double or single, by its digits, that a duration is multiplied or divided by. How large a large one is does not count, nor how small a small one; 36 digits behind the point are those that
// make a difference to 64 bits of microseconds.
func mysqlScaling(c *plan.Call, i int) string {
	cast := &plan.Call{Name: "cast", Args: []plan.Expr{c.Args[i]}, T: edm.Of(edm.Decimal)}
	number := mysqlDecimal(cast, "WHEN ABS({A}) >= 1e27 THEN CAST(SIGN({A}) * 1e27 AS DECIMAL(65, 0)) WHEN ABS({A}) < 1e-29 THEN CAST(SIGN({A}) * 1e-29 AS DECIMAL(65, 36)) ")
	return "CAST(" + strings.ReplaceAll(number, "$1", "$"+strconv.Itoa(i+1)) + " AS DECIMAL(65, 36))"
}
