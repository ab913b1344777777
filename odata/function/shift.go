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

// In SQL a duration is a whole number of microseconds.

func sqliteShift(c *plan.Call, op string) string {
	switch {
	case scales(c):
		if op == "*" && (kind(c, 0).Integer() || kind(c, 1).Integer()) {
			return sqliteWhole(c, op)
		}
		return sqliteCompute(c)
	case c.T.Kind != edm.Duration:
		first, span := operands(c)
		return "ves_shift(" + first + ", " + span + ", '" + op + "')"
	case kind(c, 0) != edm.Duration:
		return "ves_between($2, $1)"
	}
	return sqliteWhole(c, op)
}

// Days in microseconds, and as many of them as make every duration positive, so that a quotient that is cut off is the
// next smaller whole number.
const (
	dayMicros = "86400000000"
	dayOffset = "17280000000000000000"
	dayCount  = "200000000"
)

// Points in time of PostgreSQL are shifted 10,000 years behind themselves, because those before 4713 BC, which a sum may
// lead to, are none there; so the ends stand 10,000 years behind the years 1 and 9999, too.
const (
	tenThousandYears = "interval '87660000 hours'"
	instantEnd       = "timestamptz '20000-03-16 00:00:00+00'"
	instantBeginning = "timestamptz '10001-03-16 23:59:59.999999+00'"
)

func postgresShift(c *plan.Call, op string) string {
	first, span := operands(c)
	switch a := kind(c, 0); {
	case scales(c):
		return postgresScale(c, op)
	case c.T.Kind == edm.DateTimeOffset:
		by := "make_interval(hours => LEAST(GREATEST(" + span + " / 3600000000, -89000000), 89000000)::int, secs => (" + span + " % 3600000000) * 0.000001)"
		sum := first + " + " + tenThousandYears + " " + op + " " + by
		return "(NULLIF(GREATEST(NULLIF(LEAST(" + sum + ", " + instantEnd + "), " + instantEnd + "), " + instantBeginning + "), " + instantBeginning + ") - " + tenThousandYears + ")"
	case c.T.Kind == edm.TimeOfDay:
		return "(" + first + " " + op + " make_interval(secs => (" + span + " % " + dayMicros + ") * 0.000001))"
	case c.T.Kind == edm.Date:
		day := "(" + first + " - date '0001-01-01') + div(" + dayOffset + " " + op + " " + span + ", " + dayMicros + ") - " + dayCount
		return "(date '0001-01-01' + NULLIF(GREATEST(NULLIF(LEAST(" + day + ", 3652059), 3652059), -1), -1)::int)"
	case a == edm.Date:
		return "(($1 - $2) * " + dayMicros + "::bigint)"
	case a == edm.DateTimeOffset, a == edm.TimeOfDay:
		return "(EXTRACT(EPOCH FROM ($1 - $2)) * 1000000)::bigint"
	}
	return postgresWhole(c, op)
}

func mysqlShift(c *plan.Call, op string) string {
	first, span := operands(c)
	move := "DATE_ADD("
	if op == "-" {
		move = "DATE_SUB("
	}
	switch a := kind(c, 0); {
	case scales(c):
		return mysqlScale(c, op)
	case c.T.Kind == edm.DateTimeOffset:
		return move + first + ", INTERVAL " + span + " MICROSECOND)"
	case c.T.Kind == edm.TimeOfDay:
		return "TIME(" + move + "CAST(CONCAT('2000-01-02 ', " + first + ") AS DATETIME(6)), INTERVAL (" + span + " MOD " + dayMicros + ") MICROSECOND))"
	case c.T.Kind == edm.Date:
		return "DATE_ADD(" + first + ", INTERVAL ((" + dayOffset + " " + op + " CAST(" + span + " AS DECIMAL(20))) DIV " + dayMicros + " - " + dayCount + ") DAY)"
	case a == edm.Date:
		return "(DATEDIFF($1, $2) * " + dayMicros + ")"
	case a == edm.DateTimeOffset:
		return "TIMESTAMPDIFF(MICROSECOND, $2, $1)"
	case a == edm.TimeOfDay:
		return "TIMESTAMPDIFF(MICROSECOND, CONCAT('2000-01-01 ', $2), CONCAT('2000-01-01 ', $1))"
	}
	return mysqlWhole(c, op)
}

// operands are the arguments of a sum, the point in time first, and those of a product, the duration first.
func operands(c *plan.Call) (first, second string) {
	swapped := kind(c, 0) == edm.Duration && c.T.Kind != edm.Duration
	if scales(c) {
		swapped = kind(c, 1) == edm.Duration
	}
	if swapped {
		return "$2", "$1"
	}
	return "$1", "$2"
}
