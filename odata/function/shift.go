package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// sums are add with a duration. A date moves by whole days; a time of day goes round at midnight. OData-URL 5.1.1.2.1
func sums() []Signature {
	list := []Signature{{Params: []Param{Duration, Duration}, Result: edm.Duration}}
	for _, p := range []Param{Instant, Date, Clock} {
		list = append(list,
			Signature{Params: []Param{p, Duration}, Result: p[0]},
			Signature{Params: []Param{Duration, p}, Result: p[0]})
	}
	return list
}

// differences are sub: of a duration, and between two points in time. OData-URL 5.1.1.2.2
func differences() []Signature {
	list := []Signature{{Params: []Param{Duration, Duration}, Result: edm.Duration}}
	for _, p := range []Param{Instant, Date, Clock} {
		list = append(list,
			Signature{Params: []Param{p, Duration}, Result: p[0]},
			Signature{Params: []Param{p, p}, Result: edm.Duration})
	}
	return list
}

// multiples are mul with a duration. OData-URL 5.1.1.2.4
func multiples() []Signature {
	return []Signature{
		{Params: []Param{Duration, Number}, Result: edm.Duration},
		{Params: []Param{Number, Duration}, Result: edm.Duration},
	}
}

// parts are div and divby of a duration. OData-URL 5.1.1.2.5
func parts() []Signature {
	return []Signature{{Params: []Param{Duration, Number}, Result: edm.Duration}}
}

func sqliteShift(c *plan.Call, sign string) string {
	first := kind(c, 0)
	switch {
	case c.T.Kind != edm.Duration && first == edm.Duration:
		return "ves_shift($2, $1)"
	case c.T.Kind != edm.Duration && c.Name == "sub":
		return "ves_shift($1, -$2)"
	case c.T.Kind != edm.Duration:
		return "ves_shift($1, $2)"
	case first != edm.Duration:
		return "ves_between($2, $1)"
	}
	return "($1" + sign + "$2)"
}

func postgresShift(c *plan.Call, op string) string {
	first, second := operands(c)
	switch a := kind(c, 0); {
	case c.T.Kind == edm.DateTimeOffset, c.T.Kind == edm.TimeOfDay:
		return "(" + first + " " + op + " make_interval(secs => " + second + "))"
	case c.T.Kind == edm.Date && op == "-":
		return "(" + first + " + floor(-(" + second + ") / 86400)::int)"
	case c.T.Kind == edm.Date:
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

func mysqlShift(c *plan.Call, op string) string {
	first, second := operands(c)
	if op == "-" && c.T.Kind != edm.Duration {
		second = "(-" + second + ")"
	}
	micros := "INTERVAL CAST(ROUND(" + second + " * 1000000) AS SIGNED) MICROSECOND"
	switch a := kind(c, 0); {
	case c.T.Kind == edm.DateTimeOffset:
		return "DATE_ADD(" + first + ", " + micros + ")"
	case c.T.Kind == edm.TimeOfDay:
		return "TIME(DATE_ADD(CAST(CONCAT('2000-01-02 ', " + first + ") AS DATETIME(6)), " + micros + "))"
	case c.T.Kind == edm.Date:
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

// operands are the arguments of a sum, the point in time first.
func operands(c *plan.Call) (first, second string) {
	if kind(c, 0) == edm.Duration && c.T.Kind != edm.Duration {
		return "$2", "$1"
	}
	return "$1", "$2"
}
