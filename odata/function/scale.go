package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A duration multiplied or divided by a number is rounded to the microsecond, halves away from zero. OData-URL 5.1.1.2.4,
// 5.1.1.2.5

// scales tells whether a call multiplies or divides a duration.
func scales(c *plan.Call) bool {
	return c.T.Kind == edm.Duration && (kind(c, 0).Numeric() || kind(c, 1).Numeric())
}

func postgresScale(c *plan.Call, op string) string {
	span, number := operands(c)
	k := kind(c, int(number[1]-'1'))
	if op == "*" && k.Integer() {
		return postgresWhole(c, op)
	}
	number += "::numeric"
	switch k { // by way of text, which has all digits
	case edm.Double:
		number = number[:2] + "::double precision::text::numeric"
	case edm.Single:
		number = number[:2] + "::real::text::numeric"
	}
	if op == "*" {
		return WholeOfPostgres("round(" + span + "::numeric * " + number + ")")
	}
	return WholeOfPostgres("round(" + span + "::numeric * 1.0000000000000000000000000000000000000000 / NULLIF(" + number + ", 0))")
}

// mysqlScale divides by way of whole numbers, because a quotient there has few digits. What is computed first fits the 65
// digits of a decimal, which the bound is, too: the rounding of a decimal is a small integer there. The least result has a
// branch of its own, since its size does not fit.
func mysqlScale(c *plan.Call, op string) string {
	span, number := operands(c)
	k := kind(c, int(number[1]-'1'))
	if op == "*" && k.Integer() {
		return mysqlWhole(c, op)
	}
	double, tiny := number, ""
	switch {
	case k.Floating():
		number = mysqlScaling(c, int(number[1]-'1'))
	default: // an integer, which that of a decimal without a fraction is there, too
		number = "(" + number + " + 0.0)"
	}
	span = "CAST(" + span + " AS DECIMAL(20))"
	if k.Floating() { // no decimal is as small, and only no time at all divided by it is in range
		tiny = " WHEN " + span + " = 0 AND ABS(" + double + ") < 1e-29 AND " + double + " <> 0 THEN 0"
	}
	if op == "*" {
		product := "ROUND(" + span + " * " + number + ")"
		return "CAST(CASE WHEN " + span + " = 0 THEN " + number + " * 0 WHEN ABS(" + number + ") > 10000000000000000000 THEN NULL" +
			" WHEN " + product + " BETWEEN " + least + " AND " + most + " THEN " + product + " END AS SIGNED)"
	}
	size := "ABS(" + number + ")"
	return "CAST(CASE" + tiny + " WHEN " + number + " = 0 THEN NULL WHEN " + size + " > 20000000000000000000 THEN " + span + " * 0" +
		" WHEN 2 * ABS(" + span + ") < 18446744073709551615.0 * " + size +
		" THEN SIGN(" + span + ") * SIGN(" + number + ") * ((2 * ABS(" + span + ") + " + size + ") DIV (2 * " + size + "))" +
		" WHEN SIGN(" + span + ") * SIGN(" + number + ") < 0 AND 2 * ABS(" + span + ") < 18446744073709551617.0 * " + size + " THEN " + least + " END AS SIGNED)"
}
