package function

import "github.com/vestibule-dev/vestibule/v2/odata/edm"

// The date and the time of an instant in UTC. OData-URL 5.1.1.8.1, 5.1.1.8.11
var (
	_ = add(Function{
		Name: "date", Group: Time, Eval: evalInstantPart,
		Signatures: one(edm.Date, Instant),
		SQL:        SQL{SQLite: always("substr($1, 1, 10)"), Postgres: always("($1 AT TIME ZONE 'UTC')::date"), MySQL: always("date($1)")},
	})
	_ = add(Function{
		Name: "time", Group: Time, Eval: evalInstantPart,
		Signatures: one(edm.TimeOfDay, Instant),
		SQL:        SQL{SQLite: always("substr($1, 12)"), Postgres: always("($1 AT TIME ZONE 'UTC')::time"), MySQL: always("TIME($1)")},
	})
)

// Totaloffsetminutes is 0: instants are kept in UTC. OData-URL 5.1.1.8.12
var _ = add(Function{
	Name: "totaloffsetminutes", Group: Time, Eval: evalTimePart,
	Signatures: one(edm.Int64, Instant),
	SQL: SQL{
		SQLite:   always("CASE WHEN $1 IS NOT NULL THEN 0 END"),
		Postgres: always("(CASE WHEN $1 IS NOT NULL THEN 0 END)::bigint"),
		MySQL:    always("CASE WHEN $1 IS NOT NULL THEN 0 END"),
	},
})

// Totalseconds is a duration as a number of seconds, with its fraction. OData-URL 5.1.1.8.13
var _ = add(Function{
	Name: "totalseconds", Group: Time, Eval: evalTotalSeconds,
	Signatures: one(edm.Decimal, Duration),
	SQL:        SQL{SQLite: byCall(sqliteCompute), Postgres: always("($1 * 0.000001)"), MySQL: always("CAST($1 * 0.000001 AS DECIMAL(65, 6))")},
})
