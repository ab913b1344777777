package function

import (
	"math"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// PostgreSQL ends a statement where a result becomes infinite, or zero by underflow, and where it divides by zero. So each
// operator looks at its operands first, which are finite. In the texts below
//
//	HUGE is 2^1023,
//	DOWN and UP are 2^-512 and 2^512, by which numbers are scaled so that a test of the result cannot fail itself.
const (
	postgresSum = `CASE WHEN abs($1) < HUGE AND abs($2) < HUGE OR abs($1) < 1 OR abs($2) < 1 THEN $1 OP $2 ` +
		`WHEN abs($1 / 2 OP $2 / 2) < HUGE THEN $1 OP $2 END`
	postgresProduct = `CASE WHEN abs($1) BETWEEN LOW AND HIGH AND abs($2) BETWEEN LOW AND HIGH OR $1 = 0 OR $2 = 0 THEN $1 * $2 ` +
		`WHEN abs($1) > 1 AND abs($2) > 1 THEN CASE WHEN abs(($1 * DOWN) * ($2 * DOWN)) < 1 THEN $1 * $2 END ` +
		`WHEN abs($1) < 1e-200::float8 AND abs($2) < 1e-200::float8 THEN 0 ` +
		`WHEN abs($1) < 1 AND abs($2) < 1 THEN CASE WHEN abs(($1 * UP) * ($2 * UP)) <= LEAST THEN 0 ELSE $1 * $2 END ` +
		`ELSE $1 * $2 END`
	postgresQuotient = `CASE WHEN abs($1) BETWEEN LOW AND HIGH AND abs($2) BETWEEN LOW AND HIGH THEN $1 / $2 ` +
		`WHEN $2 = 0 THEN NULL WHEN $1 = 0 THEN $1 / $2 ` +
		`WHEN abs($2) < 1 AND abs($1) > abs($2) AND abs($1) > 1e-20::float8 ` +
		`THEN CASE WHEN abs($1 * DOWN) < abs($2 * UP) THEN $1 / $2 END ` +
		`WHEN abs($2) > 1 AND abs($1) < 1 THEN CASE WHEN abs(($1 * UP) / ($2 * DOWN)) <= LEAST THEN 0 ELSE $1 / $2 END ` +
		`ELSE $1 / $2 END`
	// The remainder of doubles is exact: both are made integers by the same power of two.
	postgresRemainder = `CASE WHEN $2 = 0 OR $1 IS NULL OR $2 IS NULL THEN NULL WHEN abs($1) < abs($2) THEN $1 ` +
		`WHEN abs($1) < 9007199254740992 AND trunc($1) = $1 AND trunc($2) = $2 THEN ($1::bigint % $2::bigint)::float8 ` +
		`ELSE (SELECT CASE WHEN p.k < 0 THEN (p.r * power(2::numeric, -p.k))::float8 ELSE (round(p.r, 400) / power(2::numeric, p.k))::float8 END FROM (` +
		`SELECT greatest(q.i, q.j) AS k, ($1 * power(2::float8, q.i / 2) * power(2::float8, q.i - q.i / 2))::bigint::numeric * power(2::numeric, greatest(q.i, q.j) - q.i) ` +
		`% (($2 * power(2::float8, q.j / 2) * power(2::float8, q.j - q.j / 2))::bigint::numeric * power(2::numeric, greatest(q.i, q.j) - q.j)) AS r ` +
		`FROM (SELECT 60 - floor(log(abs($1)) * 3.32192809488736::float8)::int AS i, 60 - floor(log(abs($2)) * 3.32192809488736::float8)::int AS j OFFSET 0) AS q OFFSET 0) AS p) END`
	postgresRound  = `CASE WHEN abs($1) < 4503599627370496 THEN sign($1) * floor(abs($1) + 4.9999999999999994e-1::float8) ELSE $1 END`
	postgresSingle = `CASE WHEN abs($1) >= 3.4028235677973366e+38::float8 THEN NULL WHEN abs($1) <= 7.006492321624085e-46::float8 THEN 0 ELSE $1::real::float8 END`
	// The shortest digits, in the notation of OData-JSON 7.1.
	postgresText = `CASE WHEN $1 = 0 THEN '0' ` +
		`WHEN abs($1) < 1e-6::float8 OR abs($1) >= 1e40::float8 THEN $1REAL::text ` +
		`WHEN abs($1) >= 1e21::float8 THEN regexp_replace(to_char(` + postgresShortest + `, '9.9999999999999999EEEE'), '^ |[.]?0*(?=e)', '', 'g') ` +
		`WHEN abs($1) >= WIDE THEN ` + postgresShortest + `::text ` +
		`ELSE trim_scale($1REAL::text::numeric)::text END`
	postgresDecimal = `CASE WHEN abs($1) >= 1e35::float8 THEN NULL WHEN abs($1) >= WIDE THEN ` + postgresShortest + ` ELSE round($1REAL::text::numeric, 30) END`
	// PostgreSQL writes a digit more than others where the shortest number lies half way to the next double, which only
	// happens where doubles are whole.
	postgresShortest = `(SELECT CASE WHEN s.d::float8REAL = $1REAL THEN s.d ELSE $1REAL::text::numeric END FROM (SELECT round($1REAL::text::numeric, ` +
		`length(translate(split_part($1REAL::text, 'e', 1), '-.', '')) - 2 - split_part($1REAL::text, 'e', 2)::int) AS d OFFSET 0) AS s)`
)

// postgresFloat is an operator over doubles.
func postgresFloat(c *plan.Call, op string) string {
	switch c.Name {
	case "mul":
		return postgresDouble(c, postgresProduct)
	case "div", "divby":
		return postgresDouble(c, postgresQuotient)
	case "mod":
		return postgresDouble(c, postgresRemainder)
	}
	return postgresDouble(c, strings.ReplaceAll(postgresSum, "OP", op))
}

// postgresFloatCast is the cast of a double or single.
func postgresFloatCast(c *plan.Call) string {
	short := strings.NewReplacer("REAL", "", "WIDE", "9007199254740992")
	if kind(c, 0) == edm.Single {
		short = strings.NewReplacer("REAL", "::real", "WIDE", "16777216")
	}
	switch to := c.T.Kind; {
	case to == edm.String:
		return postgresDouble(c, short.Replace(postgresText))
	case to == edm.Decimal:
		return postgresDouble(c, short.Replace(postgresDecimal))
	case to == edm.Single:
		return postgresDouble(c, postgresSingle)
	case to == edm.Double:
		return "$1::float8"
	case to == edm.Int64:
		return postgresDouble(c, "CASE WHEN $1 >= -9223372036854775808::float8 AND $1 < 9223372036854775808::float8 THEN trunc($1)::bigint END")
	}
	lo, hi := bounds(c.T.Kind)
	return postgresDouble(c, "CASE WHEN $1 BETWEEN "+lo+" AND "+hi+" THEN trunc($1)::bigint END")
}

// postgresDouble fills in a text over doubles. An operand that is no column, and no constant that all parts of the text can
// be computed with, is named once, so that neither it nor its SQL is repeated; the OFFSET keeps PostgreSQL from doing so.
func postgresDouble(c *plan.Call, text string) string {
	words := []string{
		"HUGE", "8.98846567431158e+307::float8", "LOW", "1e-150::float8", "HIGH", "1e150::float8",
		"DOWN", "7.458340731200207e-155::float8", "UP", "1.3407807929942597e+154::float8",
		"LEAST", "4.440892098500626e-16::float8",
	}
	list, named := "", false
	for i, a := range c.Args {
		place := "$" + strconv.Itoa(i+1)
		operand := place
		if kind(c, i) != edm.Double {
			operand += "::float8"
		}
		list += ", " + operand + " AS x" + strconv.Itoa(i+1)
		words = append(words, place, operand)
		named = named || !steady(a)
	}
	if named {
		for i := range c.Args {
			words[len(words)-1-2*i] = "o.x" + strconv.Itoa(len(c.Args)-i)
		}
	}
	text = strings.NewReplacer(words...).Replace(text)
	if !named {
		return "(" + text + ")"
	}
	return "(SELECT " + text + " FROM (SELECT " + list[2:] + " OFFSET 0) AS o)"
}

// steady tells whether an operand may stand several times: PostgreSQL computes what depends on constants alone when it
// plans, also where it is never reached.
func steady(e plan.Expr) bool {
	l, constant := e.(*plan.Literal)
	if !constant || l.Value.Null || !l.T.Kind.Floating() {
		return !constant && repeatable(e)
	}
	a := math.Abs(l.Value.Float)
	return 1e-100 < a && a < 1<<53
}
