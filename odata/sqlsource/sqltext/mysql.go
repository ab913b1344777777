package sqltext

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// mysql computes with: integers for Boolean and integers; decimal; double; text in utf8mb4_bin, which ignores trailing
// blanks, so that comparisons and orders look at the bytes; lower-case text for GUIDs; date; datetime in UTC; time;
// microseconds as an integer for Duration; binary.
type mysql struct {
	standard
	db function.Database
	// strict orders by no column that may hold dates that are none; see bounds.go.
	strict bool
}

func (mysql) quote(name string) string { return identifier("`", name) }

func (d mysql) call(_ *Generator, e *plan.Call) string {
	if average := mysqlAverage(e); average != "" { // of what $apply computes
		return average
	}
	return function.Lookup(e.Name).SQL.MySQL(e, d.db)
}

const mysqlGUID = "LOWER(INSERT(INSERT(INSERT(INSERT(HEX($1), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'))"

func (mysql) column(name frag, c *Column, t edm.Type) frag {
	template := "$1"
	if c.Type == "bit" {
		name = fill(mysqlBits(c, t), name)
	}
	if zero := mysqlZero(c, t); zero != "" {
		template = zero
	}
	switch t.Kind {
	case edm.String:
		template = "CONVERT($1 USING utf8mb4) COLLATE utf8mb4_bin"
		if strings.HasPrefix(c.Collation, "utf8mb4_") {
			template = "$1 COLLATE utf8mb4_bin"
		}
	case edm.Boolean:
		template = "($1 + 0 <> 0)"
	case edm.Guid:
		template = "LOWER(CAST($1 AS CHAR) COLLATE utf8mb4_bin)"
		if strings.Contains(c.Type, "binary") {
			template = mysqlGUID
		}
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64, edm.Enum:
		if strings.HasSuffix(c.Type, "unsigned") || strings.Contains(c.Type, "char") {
			template = "CAST($1 AS SIGNED)"
		}
	case edm.Decimal:
		switch c.Type {
		case "decimal":
		case "decimal unsigned":
			template = "($1 + 0)" // with a sign, and as many digits
		case "bigint unsigned":
			template = "CAST($1 AS DECIMAL(20, 0))"
		default:
			template = "CAST($1 AS DECIMAL(65, 10))"
		}
	case edm.DateTimeOffset:
		if c.Type != "datetime" {
			template = mysqlInstant(c.Type)
		}
	case edm.Date:
		if c.Type != "date" {
			template = "CAST($1 AS DATE)"
		}
	case edm.TimeOfDay:
		if c.Type != "time" {
			template = "CAST($1 AS TIME(6))"
		}
	case edm.Duration:
		template = "(CASE WHEN ABS($1) < 9223372036854 THEN CAST(ROUND(CAST($1 AS DECIMAL(65, 30)) * 1000000) AS SIGNED) END)"
		if c.Type == "time" {
			template = "CAST(TRUNCATE(TIME_TO_SEC($1), 0) * 1000000 + IF($1 < '00:00:00', -1, 1) * MICROSECOND($1) AS SIGNED)"
		}
	}
	return fill(template, name)
}

// mysqlBits is the template of the number in a BIT(n), which is a text of bytes otherwise.
func mysqlBits(c *Column, t edm.Type) string {
	switch whole := t.Kind.Integer() || t.Kind == edm.Enum; {
	case whole && c.Loose == LooseBits:
		return "(CASE WHEN $1 + 0 <= 9223372036854775807 THEN CAST($1 AS SIGNED) END)"
	case whole:
		return "CAST($1 AS SIGNED)"
	}
	return "($1 + 0)"
}

func mysqlInstant(declared string) string {
	switch {
	case declared == "datetime":
		return "$1"
	case declared == "timestamp":
		return "CONVERT_TZ($1, @@session.time_zone, '+00:00')"
	case strings.Contains(declared, "int"), declared == "bit":
		return "CONVERT_TZ(FROM_UNIXTIME($1), @@session.time_zone, '+00:00')"
	}
	return "CAST(REPLACE(REPLACE($1, 'T', ' '), 'Z', '') AS DATETIME(6))"
}

// fetch makes text of dates and times, whose form otherwise depends on how the handle was opened.
func (d mysql) fetch(name frag, c *Column, t edm.Type) frag {
	if c.Type == "bit" && t.Kind != edm.DateTimeOffset && t.Kind != edm.Duration {
		return fill("($1 + 0)", name)
	}
	c = &Column{Name: c.Name, Type: c.Type, Collation: c.Collation} // the decoder knows what is none
	switch t.Kind {
	case edm.DateTimeOffset, edm.Date, edm.TimeOfDay:
		return fill("CAST($1 AS CHAR)", d.column(name, c, t))
	case edm.Duration:
		return fill("COALESCE(CONCAT('=', $1), CONCAT('?', $2))", d.column(name, c, t), name)
	case edm.Guid:
		return d.column(name, c, t)
	case edm.Single: // as text it has six digits
		return fill("CAST($1 AS DOUBLE)", name)
	case edm.Boolean, edm.Enum, edm.Int64:
		if c.Type == "boolean" {
			return fill("($1 + 0)", name)
		}
	}
	return name
}

func (mysql) literal(t edm.Type, v plan.Value) frag {
	s := string(v.Bytes)
	switch t.Kind {
	case edm.Decimal:
		_, frac, _ := strings.Cut(s, ".")
		return fill("CAST($1 AS DECIMAL(65, "+strconv.Itoa(len(frac))+"))", param(s))
	case edm.Single, edm.Double:
		return fill("CAST($1 AS DOUBLE)", param(v.Float))
	case edm.Guid, edm.String:
		return fill("CONVERT($1 USING utf8mb4) COLLATE utf8mb4_bin", param(s))
	case edm.Date:
		return fill("CAST($1 AS DATE)", param(s))
	case edm.DateTimeOffset:
		return fill("CAST($1 AS DATETIME(6))", param(instant(s).Format("2006-01-02 15:04:05.000000")))
	case edm.TimeOfDay:
		return fill("CAST($1 AS TIME(6))", param(s))
	case edm.Duration:
		return fill("CAST($1 AS SIGNED)", param(micros(s)))
	case edm.Binary:
		return param(v.Bytes)
	}
	return fill("CAST($1 AS SIGNED)", param(v.Int))
}

// comparands compares text by its bytes, and leaves columns with a zone and unsigned ones as they are, for their indexes.
func (d mysql) comparands(g *Generator, op string, x, y plan.Expr) (a, b frag, ok bool) {
	if floating(x) || floating(y) {
		return d.float(g, x, y), d.float(g, y, x), true
	}
	switch x.Type().Kind {
	case edm.String:
		return bytesOf(g.value(x)), bytesOf(g.value(y)), true
	case edm.DateTimeOffset:
		ref, isRef := x.(*plan.Ref)
		_, isLit := y.(*plan.Literal)
		if isRef && isLit && g.columnOf(ref).Type == "timestamp" {
			return g.raw(ref), fill("CONVERT_TZ($1, '+00:00', @@session.time_zone)", g.value(y)), true
		}
	}
	if x.Type().Kind.Integer() && y.Type().Kind.Integer() || unsigned(g, x) || unsigned(g, y) {
		return d.count(g, x), d.count(g, y), true
	}
	if ref := d.zero(g, x, y); ref != nil {
		return g.raw(ref), g.value(y), true
	}
	if ref := d.zero(g, y, x); ref != nil {
		return g.value(x), g.raw(ref), true
	}
	return a, b, false
}

// zero returns a column that may hold dates or times that are none, if it is compared with a constant; else nil.
func (mysql) zero(g *Generator, e, beside plan.Expr) *plan.Ref {
	ref, isRef := e.(*plan.Ref)
	if _, isLit := beside.(*plan.Literal); isRef && isLit && mysqlZero(g.columnOf(ref), ref.T) != "" {
		return ref
	}
	return nil
}

// numeric takes dates and times that are none out of a comparison with a constant, which none of them is equal to.
func (d mysql) numeric(g *Generator, op string, x, y plan.Expr) frag {
	ref := d.zero(g, x, y)
	if ref == nil {
		ref = d.zero(g, y, x)
	}
	if ref == nil || op == "eq" {
		return frag{}
	}
	return fill("$1 IS NOT NULL", g.value(ref))
}

// float returns a number to compare with a double. MariaDB has no infinity: one lies beyond every number, as 1 lies beyond 0.
// Integers below 2^53 are doubles, so that the column and its index will do.
func (mysql) float(g *Generator, e, beside plan.Expr) frag {
	if sign := infinite(e); sign != 0 {
		return text(strconv.Itoa(sign))
	}
	l, constant := beside.(*plan.Literal)
	switch {
	case infinite(beside) != 0:
		return fill("($1 * 0)", g.value(e))
	case e.Type().Kind.Integer() && !(constant && math.Abs(l.Value.Float) < 1<<53):
		return fill("($1 + 0e0)", g.value(e))
	}
	return g.value(e)
}

// infinite returns the sign of a constant that is INF or -INF, and 0 for all else.
func infinite(e plan.Expr) int {
	l, ok := e.(*plan.Literal)
	switch {
	case ok && math.IsInf(l.Value.Float, 1):
		return 1
	case ok && math.IsInf(l.Value.Float, -1):
		return -1
	}
	return 0
}

// count is an integer to compare or to order by. An unsigned column, and one of up to 63 bits, stays as it is,
// for its index: only arithmetic needs it signed.
func (mysql) count(g *Generator, e plan.Expr) frag {
	if ref, ok := e.(*plan.Ref); ok {
		if c := g.columnOf(ref); strings.HasSuffix(c.Type, "unsigned") || c.Type == "bit" && c.Loose == "" {
			return g.raw(ref)
		}
	}
	return g.value(e)
}

// unsigned reports whether an expression is a column of unsigned integers that is Edm.Decimal because of its greatest values.
func unsigned(g *Generator, e plan.Expr) bool {
	ref, ok := e.(*plan.Ref)
	return ok && e.Type().Kind == edm.Decimal && g.columnOf(ref).Type == "bigint unsigned"
}

func bytesOf(f frag) frag { return fill("CAST($1 AS BINARY)", f) }

// finite has nothing to do: MariaDB stores neither infinities nor NaN.
func (mysql) finite(x frag) frag { return x }

func (mysql) same(x, y frag) frag     { return fill("$1 <=> $2", x, y) }
func (mysql) distinct(x, y frag) frag { return fill("NOT ($1 <=> $2)", x, y) }

// sorted is the part of a long value that MariaDB sorts by: max_sort_length bytes, 1,024 of them unless somebody changes it,
// less those of a length; what compares with a sort key must have the same bytes.
const sorted = "LEFT($1, 1000)"

// isLong reports whether an expression has bytes of any number.
func (mysql) isLong(g *Generator, e plan.Expr) bool {
	ref, ok := e.(*plan.Ref)
	return e.Type().Kind == edm.Binary && (!ok || strings.HasSuffix(g.columnOf(ref).Type, "blob"))
}

func (d mysql) sortKey(g *Generator, e plan.Expr) frag {
	if e.Type().Kind == edm.String {
		return fill(sorted, bytesOf(g.value(e)))
	}
	if d.isLong(g, e) {
		return fill(sorted, g.value(e))
	}
	if ref, ok := e.(*plan.Ref); ok && g.columnOf(ref).Type == "timestamp" {
		return g.raw(ref)
	}
	if e.Type().Kind.Integer() || unsigned(g, e) {
		return d.count(g, e)
	}
	return g.value(e)
}

func (d mysql) sortConstant(g *Generator, e plan.Expr, l *plan.Literal) frag {
	value := d.literal(l.T, mysqlHeld(l))
	if l.T.Kind == edm.String {
		return fill(sorted, bytesOf(value))
	}
	if d.isLong(g, e) {
		return fill(sorted, value)
	}
	if ref, ok := e.(*plan.Ref); ok && g.columnOf(ref).Type == "timestamp" {
		return fill("CONVERT_TZ($1, '+00:00', @@session.time_zone)", value)
	}
	return value
}

// mysqlHeld returns a number that MariaDB can hold: others come from no row.
func mysqlHeld(l *plan.Literal) plan.Value {
	const maxScale = 38
	v := l.Value
	switch {
	case l.T.Kind == edm.Decimal:
		if point := bytes.IndexByte(v.Bytes, '.'); point >= 0 && len(v.Bytes) > point+1+maxScale {
			v.Bytes = v.Bytes[:point+1+maxScale]
		}
	case math.IsNaN(v.Float):
		v.Float = math.MaxFloat64
	default:
		v.Float = max(min(v.Float, math.MaxFloat64), -math.MaxFloat64)
	}
	return v
}

// seeksRows is false: MariaDB uses no index for a comparison of row values.
func (mysql) seeksRows() bool { return false }

func (mysql) fence() string { return "LIMIT 18446744073709551615" }

// stored keeps a double from becoming a column with as many digits as the function promises whose result it is.
func (mysql) stored(x frag, t edm.Type) frag {
	if t.Kind.Floating() {
		return fill("($1 + 0e0)", x)
	}
	return x
}

func (mysql) linkKey(name frag, c *Column) frag {
	switch c.Type {
	case "date", "datetime", "timestamp", "time", "uuid":
		return fill("CAST($1 AS CHAR)", name)
	case "bit":
		return fill("($1 + 0)", name)
	}
	return name
}

// among compares numbers beyond 2^63, which the driver has as text, as numbers: beside a text MariaDB compares doubles.
func (mysql) among(column frag, c *Column, values []any) frag {
	if c.Type != "bigint unsigned" {
		return fill("$1 IN ($2)", column, params(values))
	}
	parts := make([]frag, len(values))
	for i, v := range values {
		parts[i] = wholeParam(c, v)
	}
	return fill("$1 IN ($2)", column, join(", ", parts...))
}

func wholeParam(c *Column, v any) frag {
	if _, isText := v.(string); isText && c.Type == "bigint unsigned" {
		return fill("CAST($1 AS UNSIGNED)", param(v))
	}
	return param(v)
}

func (mysql) amongRows(columns []frag, as []*Column, keys [][]any) frag {
	any := make([]frag, len(keys))
	for i, k := range keys {
		parts := make([]frag, len(columns))
		for j := range columns {
			parts[j] = fill("$1 = $2", columns[j], wholeParam(as[j], k[j]))
		}
		any[i] = fill("($1)", joinFrags(parts))
	}
	return fill("($1)", join(" OR ", any...))
}

func (d mysql) contains(column, term frag) frag {
	return fill("(LOCATE($2, $1) > 0)", fill(d.lower(), column), fill(d.lower(), term))
}

// lower returns the template of a text in small letters.
func (d mysql) lower() string {
	return function.Lookup("tolower").SQL.MySQL(&plan.Call{Name: "tolower"}, d.db)
}

// minToken is the length of the shortest word that InnoDB indexes.
const minToken = 3

// fullText asks a FULLTEXT index; a word finds what begins with it. What the index leaves out, short words above all, is
// looked for in the columns.
func (d mysql) fullText(ft *FullText, alias string, s *plan.Search) (frag, bool) {
	if s.Phrase || !word(s.Term) || utf8.RuneCountInString(s.Term) < minToken {
		return frag{}, false
	}
	columns := make([]string, len(ft.Columns))
	for i, c := range ft.Columns {
		columns[i] = alias + "." + d.quote(c)
	}
	return fill("(MATCH ("+strings.Join(columns, ", ")+") AGAINST ($1 IN BOOLEAN MODE) > 0)", param(s.Term+"*")), true
}

// A decimal of MariaDB has 65 digits, of which as many are behind the point as the type of the column says. What is larger
// becomes the largest number, 65 nines, without an error.

// full adds more than an integer holds to the length of such a number, or of one that is about to become one, which is an
// error, ER_DATA_OUT_OF_RANGE.
func (mysql) full(name frag) frag {
	return fill("CASE WHEN REPLACE(REPLACE($1, '.', ''), '-', '') REGEXP '^(9{65}|[1-9][0-9]{65,})$' THEN LENGTH($1) + 18446744073709551615 ELSE 1 END", name)
}

// safeWhole is how many digits before the point a column has, whatever the digits behind it: those are 38 at most. Fewer than
// 10 to the power of countDigits rows are added up.
const (
	safeWhole   = 65 - 38
	countDigits = 12
)

// fullSums is the condition that the sums of a part were not cut; empty where they cannot be.
func (g *Generator) fullSums(p *plan.Part) frag {
	return g.fullColumns(len(p.Values), func(column int) bool {
		e := p.Values[column]
		sums := false
		plan.Walk(e, func(e plan.Expr) bool {
			a, ok := e.(*plan.Aggregate)
			sums = sums || ok && a.Op == "sum"
			return !ok
		})
		return sums && p.Grouped && e.Type().Kind == edm.Decimal && wholeOf(e) > safeWhole
	})
}

// fullRows is the condition that the columns of several parts have held the values of each of them.
func (g *Generator) fullRows(d *plan.Derived) frag {
	return g.fullColumns(len(d.Columns), func(column int) bool {
		return len(d.Parts) > 1 && d.Columns[column].T.Kind == edm.Decimal && wholeOfColumn(d, column) > safeWhole
	})
}

func (g *Generator) fullColumns(columns int, may func(column int) bool) frag {
	var list []frag
	for i := range columns {
		if full := g.d.full(text(g.cellName(i))); full.sql != "" && may(i) {
			list = append(list, full)
		}
	}
	return join(" AND ", list...)
}

// wholeOf is how many digits before the point a number has at most.
func wholeOf(e plan.Expr) int {
	switch e := e.(type) {
	case *plan.Cell:
		return wholeOfColumn(e.Range.Derived, e.Column)
	case *plan.Aggregate:
		switch e.Op {
		case "sum":
			return wholeOf(e.Arg) + countDigits
		case "min", "max":
			return wholeOf(e.Arg)
		}
		return countDigits
	}
	return function.WholeDigits(e)
}

func wholeOfColumn(d *plan.Derived, column int) int {
	most := 0
	for _, p := range d.Parts {
		most = max(most, wholeOf(p.Values[column]))
	}
	return most
}
