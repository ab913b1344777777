package function

import "strings"

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
