package sqlfunc

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// MySQL gives the template of a call; empty when the function is unknown.
func MySQL(e *plan.Call) string {
	switch e.Name {
	case "cast":
		return mysqlCast(e)
	case "add", "sub", "mul", "div", "divby", "mod", "negate":
		return mysqlArithmetic(e)
	}
	return mysqlFunction(e)
}

func mysqlFunction(e *plan.Call) string {
	switch e.Name {
	case "contains":
		return "(LOCATE($2, $1) > 0)"
	case "startswith":
		return "(LOCATE($2, $1) = 1)"
	case "endswith":
		return "(CAST(RIGHT($1, CHAR_LENGTH($2)) AS BINARY) = CAST($2 AS BINARY))"
	case "concat":
		return "CONCAT($1, $2)"
	case "indexof":
		return "(CAST(LOCATE($2, $1) AS SIGNED) - 1)"
	case "length":
		return "CHAR_LENGTH($1)"
	case "substring":
		if len(e.Args) == 3 {
			return "SUBSTRING($1, GREATEST($2, 0) + 1, GREATEST($3, 0))"
		}
		return "SUBSTRING($1, GREATEST($2, 0) + 1)"
	case "tolower":
		return "LOWER($1)"
	case "toupper":
		return "UPPER($1)"
	case "trim":
		return `REGEXP_REPLACE($1, '^[ \\t\\n\\x0B\\f\\r]+|[ \\t\\n\\x0B\\f\\r]+$', '')`
	case "matchespattern":
		return "($1 REGEXP $2)"
	case "totaloffsetminutes":
		return "CASE WHEN $1 IS NOT NULL THEN 0 END"
	case "totalseconds":
		return "CAST($1 AS DECIMAL(65, 6))"
	case "date", "year", "month", "day", "hour", "minute", "second":
		return e.Name + "($1)"
	case "time":
		return "TIME($1)"
	case "fractionalseconds":
		return "CAST(MICROSECOND($1) * 0.000001 AS DECIMAL(7, 6))"
	case "has":
		return "(($1 & $2) = $2)"
	case "round", "floor", "ceiling":
		return mysqlRound(e)
	}
	return ""
}

// mysqlRound rounds halves away from zero, doubles as well.
func mysqlRound(e *plan.Call) string {
	kind := e.Args[0].Type().Kind
	switch {
	case kind.Integer():
		return "$1"
	case e.Name == "round" && kind != edm.Decimal:
		return "(SIGN($1) * FLOOR(ABS($1) + 0.5))"
	}
	return e.Name + "($1)"
}

func mysqlArithmetic(e *plan.Call) string {
	op := map[string]string{"add": "+", "sub": "-", "mul": "*", "div": "/", "divby": "/", "mod": "%"}[e.Name]
	switch {
	case e.Name == "negate":
		return "(-$1)"
	case e.T.Kind == edm.Int64 && e.Name == "div":
		return "($1 DIV NULLIF($2, 0))"
	case e.T.Kind == edm.Decimal && op == "/":
		return "ROUND(CAST($1 AS DECIMAL(65, 30)) / NULLIF($2, 0), 10)"
	case e.T.Kind == edm.Double && op == "/":
		return "(($1 + 0e0) / NULLIF($2, 0))"
	case e.Name == "mod":
		return "(MOD($1, NULLIF($2, 0)) + 0)" // the sum turns -0.00, which is not 0 there, into 0
	case e.T.Kind.Numeric():
		return "($1 " + op + " $2)"
	}
	return mysqlShift(e, op)
}

// mysqlShift computes with points in time and durations.
func mysqlShift(e *plan.Call, op string) string {
	a, b := e.Args[0].Type().Kind, e.Args[1].Type().Kind
	first, second := "$1", "$2"
	if a == edm.Duration && b != edm.Duration && e.T.Kind != edm.Duration {
		first, second = second, first
	}
	if op == "-" && e.T.Kind != edm.Duration {
		second = "(-" + second + ")"
	}
	micros := "INTERVAL CAST(ROUND(" + second + " * 1000000) AS SIGNED) MICROSECOND"
	switch {
	case e.T.Kind == edm.DateTimeOffset:
		return "DATE_ADD(" + first + ", " + micros + ")"
	case e.T.Kind == edm.TimeOfDay:
		return "TIME(DATE_ADD(CAST(CONCAT('2000-01-02 ', " + first + ") AS DATETIME(6)), " + micros + "))"
	case e.T.Kind == edm.Date:
		return "DATE_ADD(" + first + ", INTERVAL FLOOR(" + second + " / 86400) DAY)"
	case a == edm.Date:
		return "(DATEDIFF($1, $2) * 86400e0)"
	case a == edm.DateTimeOffset:
		return "(TIMESTAMPDIFF(MICROSECOND, $2, $1) / 1000000e0)"
	case a == edm.TimeOfDay:
		return "(TIMESTAMPDIFF(MICROSECOND, CONCAT('2000-01-01 ', $2), CONCAT('2000-01-01 ', $1)) / 1000000e0)"
	case op == "/":
		return "($1 / NULLIF($2, 0))"
	}
	return "($1 " + op + " $2)"
}

func mysqlCast(e *plan.Call) string {
	from := e.Args[0].Type().Kind
	switch {
	case e.T.Kind == edm.String && from == edm.Boolean:
		return "CASE WHEN $1 THEN 'true' WHEN NOT $1 THEN 'false' END"
	case e.T.Kind == edm.String && from == edm.Decimal:
		return `(REGEXP_REPLACE(REGEXP_REPLACE(CAST($1 AS CHAR), '(\\.[0-9]*?)0+$', '\\1'), '\\.$', '') COLLATE utf8mb4_bin)`
	case e.T.Kind == edm.String && from == edm.DateTimeOffset:
		return `CONCAT(REGEXP_REPLACE(DATE_FORMAT($1, '%Y-%m-%dT%H:%i:%s.%f'), '\\.?0+$', ''), 'Z')`
	case e.T.Kind == edm.String && from == edm.TimeOfDay:
		return `(REGEXP_REPLACE(TIME_FORMAT($1, '%H:%i:%s.%f'), '\\.?0+$', '') COLLATE utf8mb4_bin)`
	case e.T.Kind == edm.String:
		return "(CAST($1 AS CHAR) COLLATE utf8mb4_bin)"
	case e.T.Kind == edm.Date:
		return "DATE($1)"
	case e.T.Kind == edm.TimeOfDay:
		return "TIME($1)"
	case e.T.Kind == edm.DateTimeOffset:
		return "CAST($1 AS DATETIME(6))"
	case e.T.Kind.Integer():
		lo, hi := bounds(e.T.Kind)
		return "CASE WHEN $1 BETWEEN " + lo + " AND " + hi + " THEN CAST(TRUNCATE($1, 0) AS SIGNED) END"
	case e.T.Kind == edm.Double, e.T.Kind == edm.Single:
		return "($1 + 0e0)"
	}
	return "CAST($1 AS DECIMAL(65, 30))"
}
