package function

import (
	"fmt"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// A text is cast by what scalar.FromText reads, and null where that reads nothing. Databases look at the pattern before
// they convert: one of them makes an error of a bad text, another a zero. Columns that are declared to hold texts of a
// type are such casts, too. OData-URL 5.1.1.10.1

// fromText are the signatures of casts of a text.
func fromText() []Signature {
	var list []Signature
	for k := edm.Boolean; k < edm.Stream; k++ {
		if scalar.TextPattern(k) != "" {
			list = append(list, Signature{Params: []Param{String}, Result: k})
		}
	}
	return list
}

// evalFromText is the cast of a text.
func evalFromText(to edm.Kind, v plan.Value) (plan.Value, error) {
	r, ok := scalar.FromText(to, v.Bytes)
	if !ok {
		return Undefined()
	}
	out := plan.Value{Int: r.Int, Float: r.Float}
	if r.Text != "" {
		out.Bytes = []byte(r.Text)
	}
	return out, nil
}

// sqliteFromText asks package engine.
func sqliteFromText(to edm.Kind) string { return "ves_read($1, '" + to.String() + "')" }

// when is a result for the texts that a condition holds for; null for all others.
func when(condition, result string) string {
	return "(CASE WHEN " + condition + " THEN " + result + " END)"
}

// within is a number whose size is less than the greatest that a text of its type has.
func within(size string, k edm.Kind, result string) string {
	return when(fmt.Sprintf("%s < %g", size, scalar.TextGreatest(k)), result)
}

func postgresFromText(to edm.Kind) string {
	reads := `($1 COLLATE "C") ~ '^(` + scalar.TextPattern(to) + `)$'`
	switch {
	case to == edm.Boolean:
		return when(reads, "$1::boolean")
	case to.Integer():
		lo, hi := bounds(to)
		return when(reads, when("$1::numeric BETWEEN "+lo+" AND "+hi, "$1::bigint"))
	case to == edm.Double:
		return when(reads, within("abs($1::numeric)", to, "(CASE WHEN abs($1::numeric) > 2.5e-324 THEN $1::double precision + 0 ELSE 0 END)"))
	case to == edm.Single: // twice rounded, as everywhere
		return when(reads, within("abs($1::numeric)", to, "(CASE WHEN abs($1::numeric) > 7.1e-46 THEN $1::double precision::real::double precision ELSE 0 END)"))
	case to == edm.DateTimeOffset:
		at := `($1 || CASE WHEN substr($1, 12) ~ '[Zz+-]' THEN '' ELSE '+00' END)::timestamptz`
		return when(reads, when(at+" BETWEEN '0001-01-01T00:00Z'::timestamptz AND '9999-12-31T23:59:59.999999Z'::timestamptz", at))
	case to == edm.Duration:
		part := func(digits, unit string, factor int) string {
			return fmt.Sprintf("coalesce(substring($1 from '(%s)%s')::numeric, 0) * %d", digits, unit, factor)
		}
		return when(reads, "((CASE WHEN left($1, 1) = '-' THEN -1 ELSE 1 END) * ("+part("[0-9]+", "D", 86400)+" + "+part("[0-9]+", "H", 3600)+" + "+
			part("[0-9]+", "M", 60)+" + "+part("[0-9.]+", "S", 1)+") * 1000000)::bigint")
	}
	return when(reads, "$1::"+map[edm.Kind]string{edm.Decimal: "numeric", edm.Guid: "uuid", edm.Date: "date", edm.TimeOfDay: "time"}[to])
}

// mysqlReads tells whether all of a text has a pattern: the end is where nothing follows, a newline included. The first
// group takes back what default_regex_flags may have set.
func mysqlReads(pattern string) string { return "$1 REGEXP '(?-imx)^(" + pattern + ")(?!(?s:.))'" }

func mysqlFromText(to edm.Kind) string {
	reads := mysqlReads(scalar.TextPattern(to))
	switch {
	case to == edm.Boolean:
		return when(reads, "$1 LIKE 't%' OR $1 LIKE 'T%'")
	case to.Integer():
		lo, hi := bounds(to)
		return when(reads, when("CAST($1 AS DECIMAL(20)) BETWEEN "+lo+" AND "+hi, "CAST($1 AS SIGNED)"))
	case to == edm.Decimal:
		return when(reads, "CAST($1 AS DECIMAL(65, 30))")
	case to == edm.Double:
		return when(reads, within("ABS(CAST($1 AS DOUBLE))", to, "(CAST($1 AS DOUBLE) + 0e0)"))
	case to == edm.Single:
		return when(reads, within("ABS(CAST($1 AS DOUBLE))", to, "(CAST(CAST($1 AS DOUBLE) AS FLOAT) + 0e0)"))
	case to == edm.Guid:
		return when(reads, "LOWER($1)")
	case to == edm.Date:
		return when(reads, "CAST($1 AS DATE)")
	case to == edm.TimeOfDay:
		return when(reads, "CAST($1 AS TIME(6))")
	case to == edm.DateTimeOffset:
		return when(reads, mysqlInstant())
	}
	part := func(digits, unit, as string, factor int) string {
		return fmt.Sprintf("CAST(REGEXP_SUBSTR($1, '%s(?=%s)') AS %s) * %d", digits, unit, as, factor)
	}
	return when(reads, "CAST((CASE WHEN LEFT($1, 1) = '-' THEN -1 ELSE 1 END) * ("+part("[0-9]+", "D", "DECIMAL(20)", 86400)+" + "+part("[0-9]+", "H", "DECIMAL(20)", 3600)+" + "+
		part("[0-9]+", "M", "DECIMAL(20)", 60)+" + "+part("[0-9.]+", "S", "DECIMAL(20, 6)", 1)+") * 1000000 AS SIGNED)")
}

// mysqlInstant is the instant of a text in UTC: what it says of day and clock, less its offset.
func mysqlInstant() string {
	const rest = "SUBSTR($1, 12)"
	offset := "REPLACE(REGEXP_SUBSTR(" + rest + ", '[+-][0-9:]+'), ':', '')"
	minutes := "(CASE WHEN OFFSET LIKE '+%' THEN -1 ELSE 1 END) * (CAST(SUBSTR(OFFSET, 2, 2) AS SIGNED) * 60 + CAST(SUBSTR(OFFSET, 4, 2) AS SIGNED))"
	at := "TIMESTAMPADD(MINUTE, " + strings.ReplaceAll(minutes, "OFFSET", offset) +
		", CAST(CONCAT(SUBSTR($1, 1, 10), ' ', COALESCE(NULLIF(REGEXP_SUBSTR(" + rest + ", '^[0-9:.]+'), ''), '00:00')) AS DATETIME(6)))"
	return when(at+" >= '0001-01-01'", at)
}

// The units of a duration as text, in microseconds, each with the one before it, whose rest it divides.
func durationUnits() [][3]string {
	return [][3]string{{"3600000000", dayMicros, "H"}, {"60000000", "3600000000", "M"}}
}

// postgresDurationText writes microseconds as the standard has durations. The inner query, which OFFSET keeps by itself,
// computes them once.
func postgresDurationText() string {
	var b strings.Builder
	b.WriteString("(SELECT CASE WHEN q.v = 0 THEN 'PT0S' WHEN q.v IS NOT NULL THEN concat(CASE WHEN q.v < 0 THEN '-' END, 'P'")
	b.WriteString(", CASE WHEN q.a >= " + dayMicros + " THEN div(q.a, " + dayMicros + ")::text || 'D' END")
	b.WriteString(", CASE WHEN q.a % " + dayMicros + " > 0 THEN 'T' END")
	for _, u := range durationUnits() {
		b.WriteString(", CASE WHEN q.a % " + u[1] + " >= " + u[0] + " THEN div(q.a % " + u[1] + ", " + u[0] + ")::text || '" + u[2] + "' END")
	}
	b.WriteString(", CASE WHEN q.a % 60000000 > 0 THEN trim_scale(q.a % 60000000 * 0.000001)::text || 'S' END) END")
	b.WriteString(" FROM (SELECT p.v, abs(p.v::numeric) AS a FROM (SELECT $1 AS v OFFSET 0) AS p) AS q)")
	return b.String()
}

func mysqlDurationText() string {
	const a = "ABS(CAST($1 AS DECIMAL(20)))"
	var b strings.Builder
	b.WriteString("(CASE WHEN $1 = 0 THEN 'PT0S' WHEN $1 IS NOT NULL THEN CONCAT(IF($1 < 0, '-', ''), 'P'")
	b.WriteString(", IF(" + a + " >= " + dayMicros + ", CONCAT(" + a + " DIV " + dayMicros + ", 'D'), '')")
	b.WriteString(", IF(" + a + " MOD " + dayMicros + " > 0, 'T', '')")
	for _, u := range durationUnits() {
		b.WriteString(", IF(" + a + " MOD " + u[1] + " >= " + u[0] + ", CONCAT((" + a + " MOD " + u[1] + ") DIV " + u[0] + ", '" + u[2] + "'), '')")
	}
	b.WriteString(", IF(" + a + " MOD 60000000 > 0, CONCAT(TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM CAST((" + a + " MOD 60000000) * 0.000001 AS DECIMAL(8, 6)))), 'S'), '')) END COLLATE utf8mb4_bin)")
	return b.String()
}
