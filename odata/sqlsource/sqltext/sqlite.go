package sqltext

import (
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
}

func (sqlite) quote(name string) string { return identifier(`"`, name) }

func (sqlite) call(_ *Generator, e *plan.Call) string {
	return function.Lookup(e.Name).SQL.SQLite(e, function.Database{})
}

// column wraps the stored forms of a type in the function that gives the one form to compute with; package engine
// defines those whose names begin with ves_.
func (sqlite) column(name frag, c *Column, t edm.Type) frag {
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
			return fill("substr(ves_time($1), 1, 10)", name)
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
		return fill("CASE WHEN typeof($1) IN ('integer', 'real') THEN COALESCE(ves_micros($1), '?') ELSE $1 END", name)
	}
	return name
}

// narrow turns a prefix into a range of texts: up to what comes after all that begin with it.
func (sqlite) narrow(op string, column frag, _ *Column, prefix string) frag {
	after := next(prefix)
	if op != "startswith" || after == "" {
		return frag{}
	}
	return fill("$1 COLLATE BINARY >= $2 AND $1 COLLATE BINARY < $3", column, param(prefix), param(after))
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
	if x.Type().Kind != edm.DateTimeOffset {
		return a, b, false
	}
	if ref, isRef := x.(*plan.Ref); isRef {
		if l, isLit := y.(*plan.Literal); isLit {
			if stored, fits := d.inLayout(g.columnOf(ref), l); fits {
				return g.raw(ref), param(stored), true
			}
		}
	}
	if ref, isRef := y.(*plan.Ref); isRef {
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
	if ref, ok := e.(*plan.Ref); ok && e.Type().Kind == edm.DateTimeOffset {
		switch g.columnOf(ref).Layout {
		case scalar.LayoutSpace, scalar.LayoutT, scalar.LayoutZ, scalar.LayoutUnix:
			return g.raw(ref)
		}
	}
	return g.value(e)
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
