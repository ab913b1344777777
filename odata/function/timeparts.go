package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// The parts of a date, which is that in UTC. OData-URL 5.1.1.8.2, 5.1.1.8.8, 5.1.1.8.14
var (
	_ = add(datePart("year", "CAST(substr($1, 1, 4) AS INTEGER)"))
	_ = add(datePart("month", "CAST(substr($1, 6, 2) AS INTEGER)"))
	_ = add(datePart("day", "CAST(substr($1, 9, 2) AS INTEGER)"))
)

func datePart(name, sqlite string) Function {
	return Function{
		Name: name, Group: Time, Eval: evalTimePart,
		Signatures: one(edm.Int64, Dated),
		SQL: SQL{
			SQLite: always(sqlite),
			Postgres: byCall(func(c *plan.Call) string {
				return "EXTRACT(" + c.Name + " FROM " + postgresUTC(c) + ")::bigint"
			}),
			MySQL: named("NAME($1)"),
		},
	}
}

// postgresUTC is the first argument without its zone.
func postgresUTC(c *plan.Call) string {
	if kind(c, 0) == edm.DateTimeOffset {
		return "($1 AT TIME ZONE 'UTC')"
	}
	return "$1"
}

// The parts of a time of day. Second is whole; fractionalseconds is what it leaves. OData-URL 5.1.1.8.3, 5.1.1.8.4,
// 5.1.1.8.7, 5.1.1.8.10
var (
	_ = add(timePart("hour", "12, 2", "1, 2"))
	_ = add(timePart("minute", "15, 2", "4, 2"))
	_ = add(timePart("second", "18, 2", "7, 2"))
	_ = add(Function{
		Name: "fractionalseconds", Group: Time, Eval: evalFraction,
		Signatures: one(edm.Decimal, Timed),
		SQL: SQL{
			SQLite: byCall(func(c *plan.Call) string {
				if kind(c, 0) == edm.DateTimeOffset {
					return "CAST('0' || substr($1, 20) AS REAL)"
				}
				return "CAST('0' || substr($1, 9) AS REAL)"
			}),
			Postgres: byCall(func(c *plan.Call) string {
				of := postgresUTC(c)
				return "(EXTRACT(SECOND FROM " + of + ") - floor(EXTRACT(SECOND FROM " + of + ")))::numeric"
			}),
			MySQL: always("CAST(MICROSECOND($1) * 0.000001 AS DECIMAL(7, 6))"),
		},
	})
)

// timePart has the place in the text of SQLite, for an instant and for a time of day.
func timePart(name, ofInstant, ofClock string) Function {
	return Function{
		Name: name, Group: Time, Eval: evalTimePart,
		Signatures: one(edm.Int64, Timed),
		SQL: SQL{
			SQLite: byCall(func(c *plan.Call) string {
				at := ofClock
				if kind(c, 0) == edm.DateTimeOffset {
					at = ofInstant
				}
				return "CAST(substr($1, " + at + ") AS INTEGER)"
			}),
			Postgres: byCall(func(c *plan.Call) string {
				if c.Name == "second" {
					return "floor(EXTRACT(SECOND FROM " + postgresUTC(c) + "))::bigint"
				}
				return "EXTRACT(" + c.Name + " FROM " + postgresUTC(c) + ")::bigint"
			}),
			MySQL: named("NAME($1)"),
		},
	}
}
