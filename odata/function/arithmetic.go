package function

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// The operators of numbers. Integers stay within 64 bits, or are null, decimals keep 10 digits of a quotient, one double makes the
// result a double; a division by zero, and a result that is INF or NaN, is null. Div of integers cuts the fraction off, mod has the sign of its first
// argument. With points in time and durations see shift.go. OData-URL 5.1.1.2
var (
	_ = add(Function{
		Name: "add", Group: Arithmetic, Range: Fails, Signatures: append(numbers(), sums()...),
		Eval: evalArithmetic,
		SQL:  operator(sqliteSum, "+", "+"),
	})
	_ = add(Function{
		Name: "sub", Group: Arithmetic, Range: Fails, Signatures: append(numbers(), differences()...),
		Eval: evalArithmetic,
		SQL:  operator(sqliteSum, "-", "-"),
	})
	_ = add(Function{
		Name: "mul", Group: Arithmetic, Range: Fails, Signatures: append(numbers(), multiples()...),
		Eval: evalArithmetic,
		SQL:  operator(sqliteProduct, "*", "*"),
	})
	_ = add(Function{
		Name: "div", Group: Arithmetic, Null: OrUndefined, Range: Fails, Signatures: append(numbers(), parts()...),
		Eval: evalArithmetic,
		SQL:  operator(sqliteQuotient, "/", "/"),
	})
	_ = add(Function{
		Name: "divby", Group: Arithmetic, Null: OrUndefined, Range: Fails, Signatures: append(fractions(), parts()...),
		Eval: evalArithmetic,
		SQL:  operator(sqliteQuotient, "/", "/"),
	})
	_ = add(Function{
		Name: "mod", Group: Arithmetic, Null: OrUndefined, Range: Fails, Signatures: numbers(),
		Eval: evalArithmetic,
		SQL:  operator(sqliteRemainder, "%", "%"),
	})
	// Negate is the minus sign before an expression.
	_ = add(Function{
		Name: "negate", Group: Arithmetic, Range: Fails, Eval: evalNegate,
		Signatures: []Signature{
			{Params: []Param{Integer}, Result: edm.Int64},
			{Params: []Param{{edm.Decimal, edm.Double, edm.Single, edm.Duration}}, Result: SameKind},
		},
		SQL: SQL{SQLite: byCall(sqliteNegated), Postgres: byCall(postgresNegated), MySQL: byCall(mysqlNegated)},
	})
)

// numbers are the promotions of operands: integers, decimals, doubles. OData-URL 5.1.1.18
func numbers() []Signature {
	return append([]Signature{{Params: []Param{Integer, Integer}, Result: edm.Int64}}, fractions()...)
}

// fractions are the same of an operator whose result has a fraction.
func fractions() []Signature {
	return []Signature{
		{Params: []Param{Exact, Exact}, Result: edm.Decimal},
		{Params: []Param{Number, Number}, Result: edm.Double},
	}
}

func operator(sqlite func(*plan.Call) string, postgres, mysql string) SQL {
	return SQL{
		SQLite:   byCall(sqlite),
		Postgres: byCall(func(c *plan.Call) string { return postgresOperator(c, postgres) }),
		MySQL:    byCall(func(c *plan.Call) string { return mysqlOperator(c, mysql) }),
	}
}

func sqliteNegated(c *plan.Call) string {
	switch k := c.T.Kind; {
	case k == edm.Int64 || k == edm.Duration:
		return negatedWhole(c, least)
	case k == edm.Decimal:
		return sqliteCompute(c)
	}
	return "(-$1)"
}

func mysqlNegated(c *plan.Call) string {
	switch {
	case c.T.Kind == edm.Decimal:
		return mysqlHeld(c, 0, "(-$1)")
	case c.T.Kind != edm.Int64 && c.T.Kind != edm.Duration:
		return "(-$1)"
	case MayLeave(c) && !repeatable(c.Args[0]):
		return onceOfMySQL(c, "")
	}
	return negatedWhole(c, least)
}

func sqliteSum(c *plan.Call) string {
	sign := "+"
	if c.Name == "sub" {
		sign = "-"
	}
	switch c.T.Kind {
	case edm.Decimal:
		return sqliteCompute(c)
	case edm.Int64:
		return sqliteWhole(c, sign)
	case edm.Double:
		return sqliteDouble(c, "($1"+sign+"$2)")
	}
	return sqliteShift(c, sign)
}

func sqliteProduct(c *plan.Call) string {
	switch c.T.Kind {
	case edm.Decimal:
		return sqliteCompute(c)
	case edm.Int64:
		return sqliteWhole(c, "*")
	case edm.Double:
		return sqliteDouble(c, "($1 * $2)")
	case edm.Duration:
		return sqliteShift(c, "*")
	}
	return "($1 * $2)"
}

func sqliteQuotient(c *plan.Call) string {
	switch c.T.Kind {
	case edm.Int64:
		return sqliteWhole(c, "/")
	case edm.Decimal:
		return sqliteCompute(c)
	case edm.Double:
		return sqliteDouble(c, "(CAST($1 AS REAL) / $2)")
	case edm.Duration:
		return sqliteShift(c, "/")
	}
	return "(CAST($1 AS REAL) / $2)"
}

func sqliteRemainder(c *plan.Call) string {
	if c.T.Kind == edm.Int64 {
		return "($1 % $2)"
	}
	return sqliteCompute(c)
}

// sqliteDouble computes with doubles natively, unless an operand is a decimal, which may be text. SQLite gives null for NaN
// and for a division by zero.
func sqliteDouble(c *plan.Call, native string) string {
	if kind(c, 0) == edm.Decimal || kind(c, 1) == edm.Decimal {
		return sqliteCompute(c)
	}
	return "NULLIF(NULLIF(" + native + ", 9e999), -9e999)"
}

func postgresNegated(c *plan.Call) string {
	switch c.T.Kind {
	case edm.Int64, edm.Duration:
		return strings.Replace(negatedWhole(c, postgresLeast), "$1", "$1::bigint", 1)
	case edm.Decimal:
		return "(-" + postgresHeld(c, 0) + ")"
	}
	return "(-$1)"
}

func postgresOperator(c *plan.Call, op string) string {
	switch c.T.Kind {
	case edm.Int64:
		switch {
		case c.Name == "div" && MayLeave(c):
			return "NULLIF(div($1::numeric, NULLIF($2, 0)::numeric), 9223372036854775808)::bigint"
		case c.Name == "div" || c.Name == "mod":
			return "($1::bigint " + op + " NULLIF($2, 0)::bigint)"
		}
		return postgresWhole(c, op)
	case edm.Decimal:
		return postgresExact(c, op)
	case edm.Double:
		return postgresFloat(c, op)
	}
	return postgresShift(c, op)
}

func mysqlOperator(c *plan.Call, op string) string {
	switch {
	case c.T.Kind == edm.Int64 && c.Name == "div" && MayLeave(c):
		return "(CASE WHEN $2 = -1 THEN -NULLIF($1, " + least + ") ELSE $1 DIV NULLIF($2, 0) END)"
	case c.T.Kind == edm.Int64 && c.Name == "div":
		return "($1 DIV NULLIF($2, 0))"
	case c.T.Kind == edm.Decimal:
		return mysqlExact(c, op)
	case c.T.Kind == edm.Double:
		return mysqlFloat(c, op)
	case c.T.Kind == edm.Int64 && c.Name != "mod":
		return mysqlWhole(c, op)
	case c.Name == "mod":
		return "(MOD($1, NULLIF($2, 0)) + 0)"
	}
	return mysqlShift(c, op)
}
