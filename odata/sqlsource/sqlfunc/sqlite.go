package sqlfunc

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// SQLite gives the template of a call; empty when the function is unknown.
func SQLite(e *plan.Call) string {
	if e.Name == "cast" {
		return sqliteCast(e)
	}
	if t := sqliteArithmetic(e); t != "" {
		return t
	}
	return sqliteFunction(e)
}

// sqliteFunction is a function of text, time or numbers. Positions of text count from 1 in SQL and from 0 in OData.
func sqliteFunction(e *plan.Call) string {
	switch e.Name {
	case "contains":
		return "(instr($1, $2) > 0)"
	case "startswith":
		return "(substr($1, 1, length($2)) = $2)"
	case "endswith":
		return "(length($2) = 0 AND $1 IS NOT NULL OR substr($1, -length($2)) = $2 AND length($1) >= length($2))"
	case "concat":
		return "($1 || $2)"
	case "indexof":
		return "(instr($1, $2) - 1)"
	case "length":
		return "length($1)"
	case "substring":
		if len(e.Args) == 3 {
			return "substr($1, max($2, 0) + 1, max($3, 0))"
		}
		return "substr($1, max($2, 0) + 1)"
	case "tolower":
		return "ves_lower($1)"
	case "toupper":
		return "ves_upper($1)"
	case "trim":
		return "trim($1, char(32, 9, 10, 11, 12, 13))"
	case "matchespattern":
		return "ves_matches($1, $2)"
	case "year":
		return "CAST(substr($1, 1, 4) AS INTEGER)"
	case "month":
		return "CAST(substr($1, 6, 2) AS INTEGER)"
	case "day":
		return "CAST(substr($1, 9, 2) AS INTEGER)"
	case "date":
		return "substr($1, 1, 10)"
	case "time":
		return "substr($1, 12)"
	case "totaloffsetminutes":
		return "CASE WHEN $1 IS NOT NULL THEN 0 END"
	case "totalseconds":
		return "$1"
	case "hour", "minute", "second", "fractionalseconds":
		return sqliteClock(e)
	case "has":
		return "(($1 & $2) = $2)"
	case "round", "floor", "ceiling":
		if e.T.Kind.Integer() {
			return "$1"
		}
		return map[string]string{"round": "round", "floor": "floor", "ceiling": "ceil"}[e.Name] + "($1)"
	}
	return ""
}

// sqliteClock cuts a part out of a time of day or an instant.
func sqliteClock(e *plan.Call) string {
	at := map[string]string{"hour": "1, 2", "minute": "4, 2", "second": "7, 2"}
	if e.Args[0].Type().Kind == edm.DateTimeOffset {
		at = map[string]string{"hour": "12, 2", "minute": "15, 2", "second": "18, 2"}
		if e.Name == "fractionalseconds" {
			return "CAST('0' || substr($1, 20) AS REAL)"
		}
	}
	if e.Name == "fractionalseconds" {
		return "CAST('0' || substr($1, 9) AS REAL)"
	}
	return "CAST(substr($1, " + at[e.Name] + ") AS INTEGER)"
}

func sqliteArithmetic(e *plan.Call) string {
	a := e.Args[0].Type().Kind
	decimal := e.T.Kind == edm.Decimal
	switch e.Name {
	case "negate":
		if e.T.Kind == edm.Int64 {
			return "ves_whole(-$1)"
		}
		return "(-$1)"
	case "add", "sub":
		return sqliteSum(e, a)
	case "mul":
		if decimal {
			return "ves_exact('mul', $1, $2)"
		}
		if e.T.Kind == edm.Int64 {
			return "ves_whole($1 * $2)"
		}
		return "($1 * $2)"
	case "div":
		switch {
		case e.T.Kind == edm.Int64:
			return "($1 / $2)"
		case decimal:
			return "ves_exact('div', $1, $2)"
		}
		return "(CAST($1 AS REAL) / $2)"
	case "divby":
		if decimal {
			return "ves_exact('div', $1, $2)"
		}
		return "(CAST($1 AS REAL) / $2)"
	case "mod":
		switch {
		case e.T.Kind == edm.Int64:
			return "($1 % $2)"
		case decimal:
			return "ves_exact('mod', $1, $2)"
		}
		return "mod($1, $2)"
	}
	return ""
}

func sqliteSum(e *plan.Call, a edm.Kind) string {
	sign := " + "
	if e.Name == "sub" {
		sign = " - "
	}
	switch e.T.Kind {
	case edm.DateTimeOffset, edm.Date, edm.TimeOfDay:
		if a == edm.Duration {
			return "ves_shift($2, $1)"
		}
		if e.Name == "sub" {
			return "ves_shift($1, -$2)"
		}
		return "ves_shift($1, $2)"
	case edm.Duration:
		if a != edm.Duration {
			return "ves_between($2, $1)"
		}
	case edm.Decimal:
		return "ves_exact('" + e.Name + "', $1, $2)"
	case edm.Int64:
		return "ves_whole($1" + sign + "$2)"
	}
	return "($1" + sign + "$2)"
}

func sqliteCast(e *plan.Call) string {
	from := e.Args[0].Type().Kind
	switch {
	case e.T.Kind == edm.String && from == edm.Boolean:
		return "CASE $1 WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
	case e.T.Kind == edm.String:
		return "ves_text($1, '" + from.String() + "')"
	case e.T.Kind == edm.Date:
		return "substr($1, 1, 10)"
	case e.T.Kind == edm.TimeOfDay:
		return "substr($1, 12)"
	case e.T.Kind == edm.DateTimeOffset:
		return "($1 || ' 00:00:00.000000000')"
	case e.T.Kind.Integer():
		lo, hi := bounds(e.T.Kind)
		return "CASE WHEN $1 BETWEEN " + lo + " AND " + hi + " THEN CAST($1 AS INTEGER) END"
	case e.T.Kind == edm.Double || e.T.Kind == edm.Single:
		return "CAST($1 AS REAL)"
	}
	return "$1"
}
