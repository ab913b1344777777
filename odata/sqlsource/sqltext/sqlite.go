package sqltext

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/function"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// sqlite computes with: integers for Boolean, integers and enumerations; integers, reals or, where it was computed or has
// many digits, text for Decimal; reals for Double; text for the rest, except Binary (blob) and
// Duration (an integer, microseconds). A DateTimeOffset is text that starts with "2006-01-02 15:04:05".
type sqlite struct {
	standard
	// wide adds integers up to any number of digits, which takes longer.
	wide bool
	// clean are the loose columns that hold nothing but values of their types; see loose.go.
	clean map[*Column]bool
}

func (sqlite) quote(name string) string { return identifier(`"`, name) }

func (sqlite) call(_ *Generator, e *plan.Call) string {
	return function.Lookup(e.Name).SQL.SQLite(e, function.Database{})
}

// column wraps the stored forms of a type in the function that gives the one form to compute with; package engine
// defines those whose names begin with ves_.
func (d sqlite) column(name frag, c *Column, t edm.Type) frag {
	if !d.bare(c) {
		return fill(d.cleaned(c, t), name)
	}
	switch t.Kind {
	case edm.String:
		return fill("$1 COLLATE BINARY", name)
	case edm.DateTimeOffset:
		return fill("ves_time($1)", name)
	case edm.Guid:
		if c.Layout == scalar.LayoutText {
			return fill("$1 COLLATE BINARY", name)
		}
		return fill("ves_guid($1)", name)
	case edm.Date:
		if c.Layout != scalar.LayoutText {
			return fill("ves_day($1)", name)
		}
	case edm.TimeOfDay:
		return fill("ves_clock($1)", name)
	case edm.Duration:
		return fill("ves_micros($1)", name)
	}
	return name
}

// fetch leaves the work to the decoder, which reads every form but that of a duration as a number.
func (sqlite) fetch(name frag, _ *Column, t edm.Type) frag {
	if t.Kind == edm.Duration {
		return fill("COALESCE(ves_micros($1), CASE WHEN $1 IS NOT NULL THEN '?' END)", name)
	}
	return name
}

// narrow turns a prefix into a range of texts: up to what comes after all that begin with it.
func (d sqlite) narrow(op string, column frag, c *Column, prefix string) frag {
	after, within := next(prefix), "$1 COLLATE BINARY >= $2 AND $1 COLLATE BINARY < $3"
	switch {
	case op != "startswith" || after == "" || strings.ContainsRune(prefix, utf8.RuneError):
		return frag{}
	case d.bare(c):
	case c.Loose == LooseText && c.Collation == "": // an explicit collation would keep SQLite from its index
		within = "($1 >= $2 AND $1 < $3 OR $1 >= x'')"
	default: // numbers may begin with the prefix, and a collation may have another order
		return frag{}
	}
	return fill(within, column, param(prefix), param(after))
}

// next is the smallest text that is larger than all with the prefix; empty when there is none.
func next(prefix string) string {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		if r := runes[i] + 1; utf8.ValidRune(r) {
			return string(append(runes[:i], r))
		}
	}
	return ""
}

const canonicalTime = "2006-01-02 15:04:05.000000000"

func (sqlite) literal(t edm.Type, v plan.Value) frag {
	s := string(v.Bytes)
	switch t.Kind {
	case edm.Decimal:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return param(n)
		}
		if f, native := nativeDecimal(s); native {
			return param(f)
		}
		return param(s)
	case edm.Single, edm.Double:
		return param(v.Float)
	case edm.Binary:
		return param(v.Bytes)
	case edm.DateTimeOffset:
		return param(instant(s).Format(canonicalTime))
	case edm.TimeOfDay:
		return param(padClock(s))
	case edm.Duration:
		return param(micros(s))
	case edm.String, edm.Guid, edm.Date:
		return param(s)
	}
	return param(v.Int)
}

// micros is a duration to compute with.
func micros(s string) int64 {
	n, _ := scalar.Micros(s) // values have this form
	return n
}

// padClock gives a time of day all its digits, so that text compares right.
func padClock(s string) string {
	whole, frac, _ := strings.Cut(s, ".")
	return whole + "." + (frac + "000000000")[:9]
}

func instant(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t.UTC()
}

// comparands lets a column whose layout is certain be compared as it is stored, so that its index can be used.
func (d sqlite) comparands(g *Generator, op string, x, y plan.Expr) (a, b frag, ok bool) {
	if x.Type().Kind.Numeric() {
		return d.numbers(g, x, y)
	}
	if replacement(x) || replacement(y) {
		return d.shown(g.value(x)), d.shown(g.value(y)), true
	}
	if x.Type().Kind != edm.DateTimeOffset {
		return a, b, false
	}
	if ref, isRef := x.(*plan.Ref); isRef && d.bare(g.columnOf(ref)) {
		if l, isLit := y.(*plan.Literal); isLit {
			if stored, fits := d.inLayout(g.columnOf(ref), l); fits {
				return g.raw(ref), param(stored), true
			}
		}
	}
	if ref, isRef := y.(*plan.Ref); isRef && d.bare(g.columnOf(ref)) {
		if l, isLit := x.(*plan.Literal); isLit {
			if stored, fits := d.inLayout(g.columnOf(ref), l); fits {
				return param(stored), g.raw(ref), true
			}
		}
	}
	return a, b, false
}

// inLayout writes an instant in the layout of a column; false where that would lose something.
func (sqlite) inLayout(c *Column, l *plan.Literal) (any, bool) {
	t := instant(string(l.Value.Bytes))
	if t.Nanosecond() != 0 {
		return nil, false
	}
	switch c.Layout {
	case scalar.LayoutSpace:
		return t.Format(time.DateTime), true
	case scalar.LayoutT:
		return t.Format("2006-01-02T15:04:05"), true
	case scalar.LayoutZ:
		return t.Format("2006-01-02T15:04:05Z"), true
	case scalar.LayoutUnix:
		return t.Unix(), true
	}
	return nil, false
}

func (sqlite) same(x, y frag) frag     { return fill("$1 IS $2", x, y) }
func (sqlite) distinct(x, y frag) frag { return fill("$1 IS NOT $2", x, y) }

// sortKey leaves out what a certain layout makes unnecessary.
func (d sqlite) sortKey(g *Generator, e plan.Expr) frag {
	if e.Type().Kind == edm.Decimal && !d.native(g, e) {
		return fill("ves_sortkey($1)", g.value(e))
	}
	if ref, ok := e.(*plan.Ref); ok && e.Type().Kind == edm.DateTimeOffset && d.bare(g.columnOf(ref)) {
		switch g.columnOf(ref).Layout {
		case scalar.LayoutSpace, scalar.LayoutT, scalar.LayoutZ, scalar.LayoutUnix:
			return g.raw(ref)
		}
	}
	return g.value(e)
}

// sortConstant has a sign in front, as position has.
func (d sqlite) sortConstant(g *Generator, e plan.Expr, l *plan.Literal) frag {
	value := d.literal(l.T, l.Value)
	ref, isRef := e.(*plan.Ref)
	switch {
	case l.T.Kind == edm.Decimal && !d.native(g, e):
		value = fill("ves_sortkey($1)", value)
	case l.T.Kind == edm.Decimal: // beside numbers, which all texts come behind
		if s, isText := value.args[0].(string); isText {
			f, _ := strconv.ParseFloat(s, 64)
			value = param(f)
		}
	case l.T.Kind == edm.DateTimeOffset && isRef && d.sortKey(g, e).sql == g.raw(ref).sql:
		whole := *l
		whole.Value.Bytes = []byte(instant(string(l.Value.Bytes)).Truncate(time.Second).Format(time.RFC3339))
		if stored, ok := d.inLayout(g.columnOf(ref), &whole); ok { // such columns have no fractions of a second
			value = param(stored)
		}
	}
	return fill("+$1", value)
}

// position has a sign in front, which changes nothing of a value but that SQLite looks at it before it plans: it would plan
// the statement anew for each place, which takes as long as reading forty rows, and always go by the index of the order.
func (sqlite) position(*Column) string { return "+$1" }

func (sqlite) fence() string { return "LIMIT -1" }

func (sqlite) linkKey(name frag, _ *Column) frag { return name }

func (sqlite) contains(column, term frag) frag {
	return fill("instr(ves_lower($1), ves_lower($2)) > 0", column, term)
}

// fullText asks an FTS5 table for the searched columns alone; a word finds what begins with it.
func (d sqlite) fullText(ft *FullText, alias string, s *plan.Search) (frag, bool) {
	columns := make([]string, len(ft.Columns))
	for i, c := range ft.Columns {
		columns[i] = d.quote(c)
	}
	match := "{" + strings.Join(columns, " ") + "} : " + d.quote(s.Term)
	if !s.Phrase {
		match += " *"
	}
	table := d.quote(ft.Table)
	return fill(alias+".rowid IN (SELECT rowid FROM "+table+" WHERE "+table+" MATCH $1)", param(strings.ReplaceAll(match, dollar, "$"))), true
}

// among hands the values over as one JSON text, so that the statement stays the same for any number of them.
func (sqlite) among(column frag, _ *Column, values []any) frag {
	if list, ok := jsonList(values, values); ok {
		return fill("$1 IN (SELECT value FROM json_each($2))", column, list)
	}
	return fill("$1 IN ($2)", column, params(values))
}

// amongRows is among for keys of several values: a chain of OR would nest deeper than SQLite allows.
func (sqlite) amongRows(columns []frag, _ []*Column, keys [][]any) frag {
	row := fill("($1)", join(", ", columns...))
	if list, ok := jsonList(keys, keys...); ok {
		parts := make([]frag, len(columns))
		for i := range parts {
			parts[i] = text("json_extract(value, '$[" + strconv.Itoa(i) + "]')")
		}
		return fill("$1 IN (SELECT $2 FROM json_each($3))", row, join(", ", parts...), list)
	}
	rows := make([]frag, len(keys))
	for i, k := range keys {
		rows[i] = fill("($1)", params(k))
	}
	return fill("$1 IN (VALUES $2)", row, join(", ", rows...))
}

// jsonList is a list as one JSON text, where that holds all values of its keys as they are. A column of SQLite stores
// what it is given, whatever its type: one value in it may be a blob, or a text that is no UTF-8, and others not.
func jsonList(list any, keys ...[]any) (frag, bool) {
	for _, k := range keys {
		if slices.ContainsFunc(k, beyondJSON) {
			return frag{}, false
		}
	}
	b, err := json.Marshal(list)
	return param(string(b)), err == nil
}

func beyondJSON(v any) bool {
	s, isText := v.(string)
	_, blob := v.([]byte)
	return blob || isText && !utf8.ValidString(s)
}

func params(values []any) frag {
	parts := make([]frag, len(values))
	for i, v := range values {
		parts[i] = param(v)
	}
	return join(", ", parts...)
}

// numbers compares as IEEE 754 and the promotions have it: decimals digit by digit, and all numbers as doubles beside
// one. What SQLite itself compares right, columns and constants above all, stays as it is.
func (d sqlite) numbers(g *Generator, x, y plan.Expr) (a, b frag, ok bool) {
	switch {
	case floating(x) || floating(y):
		return d.float(g, x, y), d.float(g, y, x), true
	case d.native(g, x) && d.native(g, y):
		return d.operand(g, x, y), d.operand(g, y, x), true
	}
	return fill("ves_sortkey($1)", g.value(x)), fill("ves_sortkey($1)", g.value(y)), true
}

// float is a number to compare with a double.
func (d sqlite) float(g *Generator, e, beside plan.Expr) frag {
	f := d.operand(g, e, beside)
	switch k := e.Type().Kind; {
	case k == edm.Decimal && !d.native(g, e):
		return fill("ves_compute('cast:Double:Decimal', $1)", f)
	case k == edm.Decimal, k.Integer():
		// Below 2^53 integers are doubles, so that the column itself and its index will do.
		if l, isLit := beside.(*plan.Literal); isLit && math.Abs(l.Value.Float) < 1<<53 {
			return f
		}
		return fill("CAST($1 AS REAL)", f)
	}
	return f
}

// native reports whether SQLite compares and orders an exact number right: an integer, or a decimal that it stores as a
// number or that has few enough digits to be a constant.
func (sqlite) native(g *Generator, e plan.Expr) bool {
	if e.Type().Kind != edm.Decimal {
		return true
	}
	switch e := e.(type) {
	case *plan.Ref:
		return nativeColumn(g.columnOf(e))
	case *plan.Literal:
		_, short := nativeDecimal(string(e.Value.Bytes))
		return e.Value.Null || short
	}
	return false
}

// nativeDecimal is a decimal as a real that has the same digits; false where there is none. Integers beyond 2^53 and
// below 2^63 are integers of SQLite.
func nativeDecimal(s string) (float64, bool) {
	if !strings.Contains(s, ".") {
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			return 0, true
		}
	}
	f, _ := strconv.ParseFloat(s, 64)
	shortest, ok := scalar.DecimalOf(f)
	return f, ok && shortest == s
}

// floating reports whether an expression is a double or a single.
func floating(e plan.Expr) bool { return e.Type().Kind.Floating() }

// finite makes null of an infinity that a column holds. SQLite stores no NaN.
func (sqlite) finite(x frag) frag { return fill("NULLIF(NULLIF($1, 9e999), -9e999)", x) }
