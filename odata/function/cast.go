package function

import (
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Cast gives null where the value does not fit; numbers lose their fraction. The binder computes casts of constants and
// to the same type. OData-URL 5.1.1.10.1
var _ = add(Function{
	Name: "cast", Group: TypeTest, Null: OrUndefined, Range: ToNull,
	Signatures: casts(), Eval: evalCast,
	SQL: SQL{SQLite: byCall(sqliteCast), Postgres: byCall(postgresCast), MySQL: byCall(mysqlCast)},
})

// Isof is the comparison with null when it is bound: types are static. OData-URL 5.1.1.10.2
var _ = add(Function{Name: "isof", Group: TypeTest, Null: Never, Signatures: one(edm.Boolean, nil)})

// casts has one signature for each kind of result.
func casts() []Signature {
	list := one(edm.String, Param{
		edm.Decimal, edm.Double, edm.Single, edm.Int64, edm.Int32, edm.Int16, edm.Byte, edm.SByte,
		edm.Boolean, edm.Guid, edm.Enum, edm.Date, edm.DateTimeOffset, edm.TimeOfDay, edm.Duration,
	})
	for _, k := range Number {
		from := Number
		if k.Integer() {
			from = append(Param{edm.Enum}, Number...)
		}
		list = append(list, Signature{Params: []Param{from}, Result: k})
	}
	list = append(list, fromText()...)
	return append(list,
		Signature{Params: []Param{Instant}, Result: edm.Date},
		Signature{Params: []Param{Instant}, Result: edm.TimeOfDay},
		Signature{Params: []Param{Date}, Result: edm.DateTimeOffset})
}

// bounds are the smallest and the largest value of an integer kind.
func bounds(k edm.Kind) (lo, hi string) {
	switch k {
	case edm.Byte:
		return "0", "255"
	case edm.SByte:
		return "-128", "127"
	case edm.Int16:
		return "-32768", "32767"
	case edm.Int32:
		return "-2147483648", "2147483647"
	}
	return "-9223372036854775808", "9223372036854775807"
}

func sqliteCast(c *plan.Call) string {
	from := kind(c, 0)
	switch {
	case from == edm.String:
		return sqliteFromText(c.T.Kind)
	case c.T.Kind == edm.String && from == edm.Boolean:
		return "CASE $1 WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
	case from == edm.Decimal, from.Floating(), c.T.Kind == edm.Single:
		return sqliteCompute(c)
	case c.T.Kind == edm.String:
		return "ves_text($1, '" + from.String() + "')"
	case c.T.Kind == edm.Date:
		return "substr($1, 1, 10)"
	case c.T.Kind == edm.TimeOfDay:
		return "substr($1, 12)"
	case c.T.Kind == edm.DateTimeOffset:
		return "($1 || ' 00:00:00.000000000')"
	case c.T.Kind.Integer():
		lo, hi := bounds(c.T.Kind)
		return "CASE WHEN $1 BETWEEN " + lo + " AND " + hi + " THEN CAST($1 AS INTEGER) END"
	case c.T.Kind == edm.Double:
		return "CAST($1 AS REAL)"
	}
	return "$1"
}

func postgresCast(c *plan.Call) string {
	from := kind(c, 0)
	switch {
	case from == edm.String:
		return postgresFromText(c.T.Kind)
	case from.Floating(), c.T.Kind == edm.Single:
		return postgresFloatCast(c)
	case c.T.Kind == edm.String && from == edm.Decimal:
		return "trim_scale($1)::text"
	case c.T.Kind == edm.String && from == edm.Duration:
		return postgresDurationText()
	case c.T.Kind == edm.String && from == edm.Date: // whatever DateStyle says
		return "to_char($1, 'YYYY-MM-DD')"
	case c.T.Kind == edm.String && from == edm.DateTimeOffset:
		return `(rtrim(rtrim(to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z')`
	case c.T.Kind == edm.String:
		return "$1::text"
	case c.T.Kind == edm.Date:
		return "($1 AT TIME ZONE 'UTC')::date"
	case c.T.Kind == edm.TimeOfDay:
		return "($1 AT TIME ZONE 'UTC')::time"
	case c.T.Kind == edm.DateTimeOffset:
		return "($1::timestamp AT TIME ZONE 'UTC')"
	case c.T.Kind.Integer():
		lo, hi := bounds(c.T.Kind)
		return "(CASE WHEN $1 BETWEEN " + lo + " AND " + hi + " THEN trunc($1::numeric) END)::bigint"
	case c.T.Kind == edm.Double:
		return "$1::double precision"
	}
	return "$1::numeric"
}

func mysqlCast(c *plan.Call) string {
	from := kind(c, 0)
	switch {
	case from == edm.String:
		return mysqlFromText(c.T.Kind)
	case from.Floating(), c.T.Kind == edm.Single:
		return mysqlFloatCast(c)
	case c.T.Kind == edm.String && from == edm.Boolean:
		return "CASE WHEN $1 THEN 'true' WHEN NOT $1 THEN 'false' END"
	case c.T.Kind == edm.String && from == edm.Decimal:
		return `(TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM CAST($1 + 0.0 AS CHAR))) COLLATE utf8mb4_bin)` // the sum has a point
	case c.T.Kind == edm.String && from == edm.Duration:
		return mysqlDurationText()
	case c.T.Kind == edm.String && from == edm.DateTimeOffset:
		return `CONCAT(REGEXP_REPLACE(DATE_FORMAT($1, '%Y-%m-%dT%H:%i:%s.%f'), '[.]?0+$', ''), 'Z')`
	case c.T.Kind == edm.String && from == edm.TimeOfDay:
		return `(REGEXP_REPLACE(TIME_FORMAT($1, '%H:%i:%s.%f'), '[.]?0+$', '') COLLATE utf8mb4_bin)`
	case c.T.Kind == edm.String:
		return "(CAST($1 AS CHAR) COLLATE utf8mb4_bin)"
	case c.T.Kind == edm.Date:
		return "DATE($1)"
	case c.T.Kind == edm.TimeOfDay:
		return "TIME($1)"
	case c.T.Kind == edm.DateTimeOffset:
		return "CAST($1 AS DATETIME(6))"
	case c.T.Kind.Integer():
		lo, hi := bounds(c.T.Kind)
		return "CASE WHEN $1 BETWEEN " + lo + " AND " + hi + " THEN CAST(TRUNCATE($1, 0) AS SIGNED) END"
	case c.T.Kind == edm.Double:
		return "($1 + 0e0)"
	}
	return "CAST($1 AS DECIMAL(20, 0))"
}
