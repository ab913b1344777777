package function

import (
	"math"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// MariaDB has neither infinities nor NaN, and ends a statement where a double would become infinite. The greatest double
// and its negative stand for the infinities there, and another one, which no computation is likely to have for a result,
// for NaN. Each operator looks at its operands first.

// MySQLNaN stands for NaN in MariaDB. It is neither an integer of 64 bits nor a decimal.
const MySQLNaN = -1.6180339887498949e308

// MySQLFloat gives back what a double that MariaDB has computed stands for.
func MySQLFloat(f float64) float64 {
	switch f {
	case MySQLNaN:
		return math.NaN()
	case math.MaxFloat64, -math.MaxFloat64:
		return math.Inf(int(math.Copysign(1, f)))
	}
	return f
}

// In the texts below, {A} and {B} are the operands, {:A} and {:B} their first mention. The words are those of postgresdouble.go, but for
// INF, which is the greatest double. GREATEST names both operands, since AND would not reach the second.
const (
	mysqlSum = `CASE WHEN GREATEST(ABS({:A}), ABS({:B})) < HUGE THEN {A} OP {B} WHEN {A} IS NULL OR {B} IS NULL THEN NULL ` +
		`WHEN {A} = NAN OR {B} = NAN THEN NAN WHEN ABS({A}) = INF AND ABS({B}) = INF THEN CASE WHEN SIGN({A}) OP SIGN({B}) = 0 THEN NAN ELSE {A} END ` +
		`WHEN ABS({A}) = INF THEN {A} + 0e0 WHEN ABS({B}) = INF THEN 0e0 OP {B} WHEN ABS({A} / 2e0 OP {B} / 2e0) >= HUGE THEN SIGN({A}) * INF ELSE {A} OP {B} END`
	mysqlProduct = `CASE WHEN GREATEST(ABS({:A}), ABS({:B})) < HIGH THEN {A} * {B} WHEN {A} IS NULL OR {B} IS NULL THEN NULL ` +
		`WHEN {A} = NAN OR {B} = NAN THEN NAN WHEN GREATEST(ABS({A}), ABS({B})) = INF THEN CASE WHEN {A} = 0 OR {B} = 0 THEN NAN ELSE SIGN({A}) * SIGN({B}) * INF END ` +
		`WHEN ABS({A}) > 1 AND ABS({B}) > 1 AND ABS(({A} * DOWN) * ({B} * DOWN)) >= 1 THEN SIGN({A}) * SIGN({B}) * INF ELSE {A} * {B} END`
	mysqlQuotient = `CASE WHEN GREATEST(ABS({:A}), ABS({:B})) < HIGH AND ABS({B}) > LOW THEN {A} / {B} WHEN {A} IS NULL OR {B} IS NULL THEN NULL ` +
		`WHEN {A} = NAN OR {B} = NAN OR {A} = 0 AND {B} = 0 OR ABS({A}) = INF AND ABS({B}) = INF THEN NAN WHEN {B} = 0 THEN SIGN({A}) * INF ` +
		`WHEN ABS({A}) = INF THEN SIGN({A}) * SIGN({B}) * INF WHEN ABS({B}) = INF THEN 0e0 ` +
		`WHEN ABS({B}) < 1 AND ABS({A}) > 1e-20 AND ABS({A} * DOWN) >= ABS({B} * UP) THEN SIGN({A}) * SIGN({B}) * INF ELSE {A} / {B} END`
	mysqlRemainder = `CASE WHEN GREATEST(ABS({:A}), ABS({:B})) < HUGE THEN MOD({A} + 0e0, NULLIF({B} + 0e0, 0)) WHEN {A} IS NULL OR {B} IS NULL OR {B} = 0 THEN NULL ` +
		`WHEN {A} = NAN OR {B} = NAN OR ABS({A}) = INF THEN NAN WHEN ABS({B}) = INF THEN {A} + 0e0 ELSE MOD({A} + 0e0, {B} + 0e0) END`
	mysqlMinus  = `CASE WHEN ({:A}) = NAN THEN NAN ELSE 0e0 - {A} END`
	mysqlRound  = `CASE WHEN ABS({:A}) < 4503599627370496 THEN SIGN({A}) * FLOOR(ABS({A}) + 4.9999999999999994e-1) ELSE {A} + 0e0 END`
	mysqlSingle = `CASE WHEN ABS({:A}) < 3.4028235677973366e38 THEN CAST({A} + 0e0 AS FLOAT) + 0e0 WHEN {A} IS NULL THEN NULL WHEN {A} = NAN THEN NAN ELSE SIGN({A}) * INF END`
	mysqlFinite = `CASE WHEN ABS({:A}) < 1.6e308 THEN {A} + 0e0 END`
)

// mysqlDouble fills in a text over doubles. An operand that is no column and no constant is a variable of the session: it
// is the only way there to name a value, so that neither it nor its SQL is repeated. Calls within the operands have other
// variables, by how deep they nest, and CASE goes through its conditions in order. The sum makes a double of a variable that
// the session has not had yet, with which MariaDB computes as with a text.
func mysqlDouble(c *plan.Call, text string) string {
	words := []string{
		"HUGE", "8.98846567431158e307", "LOW", "1e-150", "HIGH", "1e150", "NAN", mysqlNumber(MySQLNaN), "INF", mysqlNumber(math.MaxFloat64),
		"DOWN", "7.458340731200207e-155", "UP", "1.3407807929942597e154", "'INF'", "'INF'", "'-INF'", "'-INF'",
	}
	for i, a := range c.Args {
		letter, operand := string(rune('A'+i)), "$"+strconv.Itoa(i+1)
		if !floating(kind(c, i)) {
			operand = "(" + operand + " + 0e0)"
		}
		name, first := operand, operand
		if !repeatable(a) {
			variable := MySQLVariable(c, letter)
			name, first = "("+variable+" + 0e0)", variable+" := "+operand
		}
		words = append(words, "{:"+letter+"}", first, "{"+letter+"}", name)
	}
	return "(" + strings.NewReplacer(words...).Replace(text) + ")"
}

// mysqlFloat is an operator over doubles. The sum makes a double of the result where a table keeps it.
func mysqlFloat(c *plan.Call, op string) string {
	text := map[string]string{"mul": mysqlProduct, "div": mysqlQuotient, "divby": mysqlQuotient, "mod": mysqlRemainder}[c.Name]
	if text == "" {
		text = strings.ReplaceAll(mysqlSum, "OP", op)
	}
	return "(" + mysqlDouble(c, text) + " + 0e0)"
}

// MySQLVariable is the name of a variable that no call within an expression has. A suffix is for values of one type: MariaDB
// decides how a statement computes with a variable by what an earlier statement of the session left in it.
func MySQLVariable(e plan.Expr, suffix string) string {
	return "@ves" + strconv.Itoa(height(e)) + suffix
}

func mysqlNumber(f float64) string { return strconv.FormatFloat(f, 'e', -1, 64) }

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
