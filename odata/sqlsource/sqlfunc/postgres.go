package sqlfunc

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Postgres gives the template of a call; empty when the function is unknown. caseMap is the quoted collation to map upper and lower case by, or empty.
func Postgres(e *plan.Call, caseMap string) string {
	switch e.Name {
	case "cast":
		return postgresCast(e)
	case "add", "sub", "mul", "div", "divby", "mod", "negate":
		return postgresArithmetic(e)
	}
	return postgresFunction(e, caseMap)
}

// place limits a position in a text to what the functions of PostgreSQL take; null stays null.
func place(arg string) string {
	return "(CASE WHEN " + arg + " < 0 THEN 0 WHEN " + arg + " > 2000000000 THEN 2000000000 ELSE " + arg + " END)::int"
}

func postgresFunction(e *plan.Call, caseMap string) string {
	switch e.Name {
	case "contains":
		return "(strpos($1, $2) > 0)"
	case "startswith":
		return "starts_with($1, $2)"
	case "endswith":
		return `(right($1, length($2)) COLLATE "C" = $2)`
	case "concat":
		return "($1 || $2)"
	case "indexof":
		return "(strpos($1, $2) - 1)::bigint"
	case "length":
		return "length($1)::bigint"
	case "substring":
		if len(e.Args) == 3 {
			return "substr($1, " + place("$2") + " + 1, " + place("$3") + ")"
		}
		return "substr($1, " + place("$2") + " + 1)"
	case "tolower":
		return Mapped("lower", "$1", caseMap)
	case "toupper":
		return Mapped("upper", "$1", caseMap)
	case "trim":
		return `btrim($1, E' \t\n\v\f\r')`
	case "matchespattern":
		return `($1 COLLATE "C" ~ $2)`
	case "totaloffsetminutes":
		return "(CASE WHEN $1 IS NOT NULL THEN 0 END)::bigint"
	case "totalseconds":
		return "round($1::numeric, 6)"
	case "date":
		return "($1 AT TIME ZONE 'UTC')::date"
	case "time":
		return "($1 AT TIME ZONE 'UTC')::time"
	case "year", "month", "day", "hour", "minute", "second", "fractionalseconds":
		return postgresPart(e)
	case "has":
		return "(($1::bigint & $2) = $2)"
	case "round", "floor", "ceiling":
		return postgresRound(e)
	}
	return ""
}

func postgresPart(e *plan.Call) string {
	of := "$1"
	if e.Args[0].Type().Kind == edm.DateTimeOffset {
		of = "($1 AT TIME ZONE 'UTC')"
	}
	switch e.Name {
	case "second":
		return "floor(EXTRACT(SECOND FROM " + of + "))::bigint"
	case "fractionalseconds":
		return "(EXTRACT(SECOND FROM " + of + ") - floor(EXTRACT(SECOND FROM " + of + ")))::numeric"
	}
	return "EXTRACT(" + e.Name + " FROM " + of + ")::bigint"
}

// postgresRound rounds halves away from zero, doubles as well.
func postgresRound(e *plan.Call) string {
	kind := e.Args[0].Type().Kind
	name := map[string]string{"round": "round", "floor": "floor", "ceiling": "ceil"}[e.Name]
	switch {
	case kind.Integer():
		return "$1"
	case kind == edm.Decimal || e.Name != "round":
		return name + "($1)"
	}
	return "(sign($1) * floor(abs($1) + 0.5))"
}

func postgresArithmetic(e *plan.Call) string {
	op := map[string]string{"add": "+", "sub": "-", "mul": "*", "div": "/", "divby": "/", "mod": "%"}[e.Name]
	switch e.T.Kind {
	case edm.Int64:
		if e.Name == "negate" {
			return "(-$1::bigint)"
		}
		if e.Name == "div" || e.Name == "mod" {
			return "($1::bigint " + op + " NULLIF($2, 0)::bigint)"
		}
		return "($1::bigint " + op + " $2::bigint)"
	case edm.Decimal:
		switch e.Name {
		case "negate":
			return "(-$1)"
		case "div", "divby":
			return "round(($1::numeric * 1.00000000000000000000) / NULLIF($2, 0)::numeric, 10)"
		case "mod":
			return "($1::numeric % NULLIF($2, 0)::numeric)"
		}
		return "($1::numeric " + op + " $2::numeric)"
	case edm.Double, edm.Single:
		switch e.Name {
		case "negate":
			return "(-$1)"
		case "div", "divby":
			return "($1::double precision / NULLIF($2, 0)::double precision)"
		case "mod":
			return "($1::numeric % NULLIF($2, 0)::numeric)::double precision"
		}
		return "($1::double precision " + op + " $2::double precision)"
	}
	return postgresShift(e, op)
}

// postgresShift computes with points in time and durations.
func postgresShift(e *plan.Call, op string) string {
	a, b := e.Args[0].Type().Kind, edm.Invalid
	if len(e.Args) > 1 {
		b = e.Args[1].Type().Kind
	}
	first, second := "$1", "$2"
	if a == edm.Duration && b != edm.Duration && e.T.Kind != edm.Duration {
		first, second = second, first
	}
	switch {
	case e.Name == "negate":
		return "(-$1)"
	case e.T.Kind == edm.DateTimeOffset, e.T.Kind == edm.TimeOfDay:
		return "(" + first + " " + op + " make_interval(secs => " + second + "))"
	case e.T.Kind == edm.Date && op == "-":
		return "(" + first + " + floor(-(" + second + ") / 86400)::int)"
	case e.T.Kind == edm.Date:
		return "(" + first + " + floor(" + second + " / 86400)::int)"
	case a == edm.Date:
		return "(($1 - $2) * 86400)::double precision"
	case a == edm.DateTimeOffset, a == edm.TimeOfDay:
		return "EXTRACT(EPOCH FROM ($1 - $2))::double precision"
	case op == "/":
		return "($1 / NULLIF($2, 0)::double precision)"
	}
	return "($1::double precision " + op + " $2::double precision)"
}

func postgresCast(e *plan.Call) string {
	from := e.Args[0].Type().Kind
	switch {
	case e.T.Kind == edm.String && from == edm.Decimal:
		return "trim_scale($1)::text"
	case e.T.Kind == edm.String && from == edm.DateTimeOffset:
		return `rtrim(rtrim(to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'`
	case e.T.Kind == edm.String:
		return "$1::text"
	case e.T.Kind == edm.Date:
		return "($1 AT TIME ZONE 'UTC')::date"
	case e.T.Kind == edm.TimeOfDay:
		return "($1 AT TIME ZONE 'UTC')::time"
	case e.T.Kind == edm.DateTimeOffset:
		return "($1::timestamp AT TIME ZONE 'UTC')"
	case e.T.Kind.Integer():
		lo, hi := bounds(e.T.Kind)
		return "(CASE WHEN $1 BETWEEN " + lo + " AND " + hi + " THEN trunc($1::numeric) END)::bigint"
	case e.T.Kind == edm.Double, e.T.Kind == edm.Single:
		return "$1::double precision"
	}
	return "$1::numeric"
}

// Mapped changes the case of an argument letter by letter. The result has the collation that comparisons use: two
// collations in one expression would be a fault.
func Mapped(function, arg, caseMap string) string {
	if caseMap == "" {
		return function + "(" + arg + ")"
	}
	return "(" + function + "(" + arg + " COLLATE " + caseMap + `) COLLATE "C")`
}
