package sqltext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// postgres computes with: boolean; integers; numeric; double precision; text; uuid; date; timestamptz; time; microseconds
// as bigint for Duration; bytea. Every parameter has a cast, so that its type never depends on its place.
type postgres struct {
	standard
	db function.Database
	// strict orders by no column that may hold what is beyond its bounds; see bounds.go.
	strict bool
}

func (postgres) quote(name string) string { return identifier(`"`, name) }

func (d postgres) call(g *Generator, e *plan.Call) string {
	if e.T.Kind == edm.Double && isAverage(e) {
		return "(CASE WHEN abs($1) < 5e-324::float8 * $2 THEN 0 ELSE $1 / NULLIF($2, 0) END)" // an underflow would be an error
	}
	db := d.db
	if db.CaseCollation == "" && g.ownCollations(e) {
		db.CaseCollation = `"default"`
	}
	return function.Lookup(e.Name).SQL.Postgres(e, db)
}

func (postgres) placeholder(n int) string { return "$" + strconv.Itoa(n) }

func (postgres) column(name frag, c *Column, t edm.Type) frag {
	template := ""
	switch t.Kind {
	case edm.String:
		if c.Type != "text" && c.Type != "character varying" {
			template = "$1::text"
		}
	case edm.Boolean:
		if c.Type != "boolean" {
			template = "($1 <> 0)"
		}
	case edm.Byte, edm.SByte, edm.Int16, edm.Int32, edm.Int64, edm.Enum:
		if !strings.HasSuffix(c.Type, "int") && c.Type != "integer" {
			template = "$1::bigint"
		}
	case edm.Decimal:
		if c.Type != "numeric" {
			template = "$1::numeric"
		}
	case edm.Single, edm.Double:
		if c.Type != "real" && c.Type != "double precision" { // an integer, which does not compare with NaN
			template = "$1::float8"
		}
	case edm.Guid:
		if c.Type != "uuid" {
			template = "$1::uuid"
		}
	case edm.Date:
		if c.Type != "date" {
			template = "$1::date"
		}
	case edm.DateTimeOffset:
		template = postgresInstant(c.Type)
	case edm.TimeOfDay:
		if c.Type != "time without time zone" {
			template = "$1::time"
		}
	case edm.Duration:
		template = postgresMicros(c.Type)
	}
	if template == "" {
		return bounded(name, name, c, t)
	}
	return bounded(name, fill(template, name), c, t)
}

// postgresMicros is null for an interval with months, which have no length.
func postgresMicros(declared string) string {
	seconds := "$1::numeric"
	switch declared {
	case "interval":
		seconds = "CASE WHEN date_trunc('month', $1) = interval '0' THEN EXTRACT(EPOCH FROM $1)::numeric END"
	case "double precision", "real":
		seconds = "$1::text::numeric"
	}
	return function.WholeOfPostgres("round((" + seconds + ") * 1000000)")
}

func postgresInstant(declared string) string {
	switch declared {
	case "timestamp with time zone":
		return ""
	case "timestamp without time zone", "date":
		return "($1 AT TIME ZONE 'UTC')"
	}
	return "to_timestamp($1::double precision)"
}

// fetch selects a column in the form that package cursor decodes; most columns need no conversion.
func (d postgres) fetch(name frag, c *Column, t edm.Type) frag {
	c = &Column{Name: c.Name, Type: c.Type} // the decoder knows the bounds
	switch t.Kind {
	case edm.Duration:
		return fill("COALESCE('=' || $1::text, '?' || $2::text)", d.column(name, c, t), name)
	case edm.String, edm.Decimal, edm.TimeOfDay, edm.Boolean:
		return d.column(name, c, t)
	case edm.Guid:
		return fill("$1::text", name)
	case edm.DateTimeOffset:
		if !strings.HasPrefix(c.Type, "timestamp") {
			return d.column(name, c, t)
		}
	}
	return name
}

func (postgres) literal(t edm.Type, v plan.Value) frag {
	s := string(v.Bytes)
	cast := func(v any, as string) frag { return frag{mark + "::" + as, []any{v}} }
	switch t.Kind {
	case edm.Boolean:
		return cast(v.Int != 0, "boolean")
	case edm.Decimal:
		return cast(s, "numeric")
	case edm.Single, edm.Double:
		return cast(v.Float, "double precision")
	case edm.Guid:
		return cast(s, "uuid")
	case edm.Date:
		return cast(s, "date")
	case edm.DateTimeOffset:
		return cast(s, "timestamptz")
	case edm.TimeOfDay:
		return cast(s, "time")
	case edm.Duration:
		return cast(micros(s), "bigint")
	case edm.Binary:
		return cast(v.Bytes, "bytea")
	case edm.String:
		return cast(strings.ReplaceAll(s, "\x00", "\uFFFD"), "text")
	}
	return cast(v.Int, "bigint")
}

// null has the type that a constant would have: functions of an untyped one are ambiguous.
func (d postgres) null(t edm.Type) frag {
	if t.Kind == edm.Null {
		return text("NULL")
	}
	sql := d.literal(t, plan.Value{}).sql
	return text("NULL" + sql[strings.LastIndex(sql, "::"):])
}

// comparands orders strings by code point, and leaves columns without a zone as they are, for their indexes.
func (d postgres) comparands(g *Generator, op string, x, y plan.Expr) (a, b frag, ok bool) {
	if floating(x) || floating(y) {
		return d.floats(g, op, x, y)
	}
	switch x.Type().Kind {
	case edm.String:
		if op != "eq" && op != "ne" || g.needsCollation(x) || g.needsCollation(y) || g.collide(x, y) {
			return fill(`$1 COLLATE "C"`, g.value(x)), g.value(y), true
		}
	case edm.DateTimeOffset:
		if ref, isRef := x.(*plan.Ref); isRef && g.columnOf(ref).Type == "timestamp without time zone" {
			if _, isLit := y.(*plan.Literal); isLit {
				return g.raw(ref), fill("($1 AT TIME ZONE 'UTC')", g.value(y)), true
			}
		}
	}
	_, constant := x.(*plan.Literal)
	if a, ok = g.unbounded(x); ok {
		_, constant = y.(*plan.Literal)
		return a, g.value(y), constant
	}
	if b, ok = g.unbounded(y); ok {
		return g.value(x), b, constant
	}
	return a, b, false
}

// floats keeps NaN, which PostgreSQL takes for equal to itself and greater than all numbers, from comparing at all.
func (d postgres) floats(g *Generator, op string, x, y plan.Expr) (a, b frag, ok bool) {
	a, b = g.value(x), g.value(y)
	greater, operand := greaterSide(op, x, y, &a, &b)
	switch {
	case greater == nil && !g.finite(x) && !g.finite(y):
		// The texts of doubles are equal where the doubles are, but for the sign of zero.
		return fill("($1 + 0::float8)::text", a), fill("replace(($1 + 0::float8)::text, 'NaN', '')", b), true
	case greater != nil && !g.finite(greater) && !isRef(greater):
		*operand = fill("NULLIF($1, 'NaN'::float8)", *operand)
	}
	return a, b, true
}

// numeric leaves a column with NaN to its index, and takes NaN out.
func (d postgres) numeric(g *Generator, op string, x, y plan.Expr) frag {
	var a, b frag
	if ref, ok := first(greaterSide(op, x, y, &a, &b)).(*plan.Ref); ok && floating(ref) {
		c, stored := g.columnOf(ref), g.raw(ref)
		if !c.Text { // a text is compared as one
			stored = d.column(stored, c, edm.Of(edm.Double))
		}
		return fill("$1 <> 'NaN'", stored)
	}
	if floating(x) || floating(y) {
		return frag{}
	}
	return g.bound(op, x, y)
}

func first(e plan.Expr, _ *frag) plan.Expr { return e }

// greaterSide is the operand that lt, le, gt or ge take for the greater one; nil for eq and ne.
func greaterSide(op string, x, y plan.Expr, a, b *frag) (plan.Expr, *frag) {
	switch op {
	case "lt", "le":
		return y, b
	case "gt", "ge":
		return x, a
	}
	return nil, nil
}

func isRef(e plan.Expr) bool {
	_, ok := e.(*plan.Ref)
	return ok
}

// finite makes null of an infinity and of NaN.
func (postgres) finite(x frag) frag {
	return fill("NULLIF(NULLIF(NULLIF($1, 'NaN'), 'Infinity'), '-Infinity')", x)
}

// needsCollation tells whether a column compares different texts as equal.
func (g *Generator) needsCollation(e plan.Expr) bool {
	ref, ok := e.(*plan.Ref)
	return ok && g.columnOf(ref).folds()
}

func (postgres) same(x, y frag) frag     { return fill("$1 IS NOT DISTINCT FROM $2", x, y) }
func (postgres) distinct(x, y frag) frag { return fill("$1 IS DISTINCT FROM $2", x, y) }

func (postgres) sortKey(g *Generator, e plan.Expr) frag {
	if e.Type().Kind == edm.String {
		if ref, ok := e.(*plan.Ref); ok && g.columnOf(ref).Collation == "C" {
			return g.value(e)
		}
		return fill(`$1 COLLATE "C"`, g.value(e))
	}
	if ref, ok := e.(*plan.Ref); ok {
		c := g.columnOf(ref)
		if _, high := postgresBounds(c, ref.T); high != "" || c.Type == "timestamp without time zone" {
			return bounded(g.raw(ref), g.raw(ref), c, ref.T)
		}
	}
	return g.value(e)
}

func (d postgres) sortConstant(g *Generator, e plan.Expr, l *plan.Literal) frag {
	value := d.literal(l.T, l.Value)
	if ref, ok := e.(*plan.Ref); ok && g.columnOf(ref).Type == "timestamp without time zone" {
		return fill("($1 AT TIME ZONE 'UTC')", value)
	}
	return value
}

func (postgres) order(x frag, desc, nullable bool) frag {
	switch {
	case desc && nullable:
		return fill("$1 DESC NULLS LAST", x)
	case desc:
		return fill("$1 DESC", x)
	case nullable:
		return fill("$1 NULLS FIRST", x)
	}
	return x
}

// nullsFirst tells for columns that cannot be null what PostgreSQL does where nothing is said.
func (postgres) nullsFirst(desc, nullable bool) bool { return desc != nullable }

func (postgres) fence() string { return "" }

func (postgres) number(n int64) frag { return fill("$1::bigint", param(n)) }

// linkKey comes back as text where the driver has a form of its own.
func (postgres) linkKey(name frag, c *Column) frag {
	switch c.Type {
	case "smallint", "integer", "bigint", "text", "character varying":
		return name
	}
	return fill("$1::text", name)
}

func keyText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// among hands the values over as one array, so that the statement stays the same for any number of them.
func (d postgres) among(column frag, c *Column, values []any) frag {
	return fill("$1 = ANY ($2)", column, d.array(c, values))
}

// amongRows hands each column's values over as an array, so that the statement stays the same for any number of them.
func (d postgres) amongRows(columns []frag, as []*Column, keys [][]any) frag {
	arrays := make([]frag, len(columns))
	for i := range columns {
		values := make([]any, len(keys))
		for j, k := range keys {
			values[j] = k[i]
		}
		arrays[i] = d.array(as[i], values)
	}
	return fill("($1) IN (SELECT * FROM unnest($2))", join(", ", columns...), join(", ", arrays...))
}

// array is a parameter with many values of a column.
func (postgres) array(c *Column, values []any) frag {
	if _, ok := values[0].(int64); ok {
		list := make([]int64, 0, len(values))
		for _, v := range values {
			if n, ok := v.(int64); ok {
				list = append(list, n)
			}
		}
		return fill("$1::bigint[]", param(list))
	}
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = keyText(v)
	}
	return fill("$1::text[]::"+c.Type+"[]", param(list))
}

func (d postgres) contains(column, term frag) frag {
	return fill("(strpos($1, $2) > 0)", fill(d.lower(), column), fill(d.lower(), term))
}

// fullText asks a tsvector column; a word finds what begins with it.
func (d postgres) fullText(ft *FullText, alias string, s *plan.Search) (frag, bool) {
	column := alias + "." + d.quote(ft.Columns[0])
	if s.Phrase || !word(s.Term) {
		return fill("("+column+" @@ phraseto_tsquery($1::text))", param(s.Term)), true
	}
	return fill("("+column+" @@ to_tsquery($1::text))", param(s.Term+":*")), true
}
