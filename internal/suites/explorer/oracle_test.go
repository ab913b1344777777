package explorer

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
)

// A wish is a text that somebody types above a column, and the rows that it means: by SQL, or by holds for the values of a
// row where the SQL of one database has no words for it.
type wish struct {
	column, text string
	where        string
	args         []any
	holds        func(row map[string]any) bool
}

// matching are the keys of the rows that a wish means.
func (s *store) matching(t *testing.T, w wish) []int64 {
	t.Helper()
	if w.holds == nil {
		return s.ids(t, w.where, w.args)
	}
	var list []int64
	for _, row := range s.rows {
		if w.holds(row) {
			id, _ := row["id"].(int64)
			list = append(list, id)
		}
	}
	return list
}

// columns are those that something can be typed above, with what makes a wish of them.
func (s *store) columns() map[string]func(r *rand.Rand, w reader) wish {
	list := map[string]func(*rand.Rand, reader) wish{
		"day": s.days, "at": s.moments, "customer_id": s.customer, "code": s.code,
		"done": s.truth, "status": s.member, "uid": s.guid, "clock": s.clock,
	}
	for path, column := range map[string]string{"note": "note", "word": "word", "ship/city": "ship_city"} {
		list[path] = func(r *rand.Rand, _ reader) wish { return s.texts(r, path, column) }
	}
	for path, column := range map[string]string{"amount": "amount", "exact": "exact", "big": "big", "small": "small", "id": "id", "ship/zip": "ship_zip"} {
		list[path] = func(r *rand.Rand, w reader) wish { return s.decimals(r, w, path, column) }
	}
	list["measure"] = func(r *rand.Rand, w reader) wish { return s.floats(r, w, "measure", 64) }
	for _, column := range []string{"weight", "rounded"} {
		list[column] = func(r *rand.Rand, w reader) wish { return s.floats(r, w, column, 32) }
	}
	return list
}

// value is a value of a column in some row; nil where the row has none.
func (s *store) value(r *rand.Rand, column string) any { return s.rows[r.IntN(len(s.rows))][column] }

func missing(path, column string) wish {
	return wish{column: path, text: "=", where: column + " IS NULL"}
}

// lower maps letter for letter, as tolower does.
func lower(s string) string { return strings.Map(unicode.ToLower, s) }

func (s *store) texts(r *rand.Rand, path, column string) wish {
	v, ok := s.value(r, column).(string)
	switch {
	case !ok:
		return missing(path, column)
	case r.IntN(2) == 0:
		where := map[string]string{"sqlite": "CAST(" + column + " AS BLOB) = CAST(? AS BLOB)", "postgres": column + `::text COLLATE "C" = ?`, "mysql": "CAST(" + column + " AS BINARY) = CAST(? AS BINARY)"}
		return wish{column: path, text: text(r, "=", v, false), where: where[s.dialect], args: []any{v}}
	}
	part := partOf(r, v)
	return wish{column: path, text: text(r, "", part, false), holds: func(row map[string]any) bool {
		v, ok := row[column].(string)
		return ok && strings.Contains(lower(v), lower(part))
	}}
}

// partOf is a part of a text, at times in other letters.
func partOf(r *rand.Rand, v string) string {
	runes := []rune(v)
	from := r.IntN(len(runes) + 1)
	part := string(runes[from:min(len(runes), from+r.IntN(6))])
	return pick(r, part, part, strings.ToUpper(part), strings.ToLower(part))
}

func (s *store) customer(r *rand.Rand, _ reader) wish {
	key, ok := s.value(r, "customer_id").(int64)
	if !ok {
		return missing("customer_id", "customer_id")
	}
	return s.linked(r, "customer_id", strconv.FormatInt(key, 10), s.customers[key], []any{key}, func(row map[string]any) any {
		if key, ok := row["customer_id"].(int64); ok {
			return s.customers[key]
		}
		return nil
	})
}

func (s *store) code(r *rand.Rand, _ reader) wish {
	key, ok := s.value(r, "code").(string)
	if !ok {
		return missing("code", "code")
	}
	return s.linked(r, "code", key, s.codes[key], []any{key}, func(row map[string]any) any {
		if key, ok := row["code"].(string); ok {
			return s.codes[key]
		}
		return nil
	})
}

// linked is a key, or a text of the row that has the key.
func (s *store) linked(r *rand.Rand, column, key string, label any, args []any, labelOf func(map[string]any) any) wish {
	name, named := label.(string)
	if !named || key != "" && r.IntN(3) == 0 {
		if key == "" {
			return missing(column, column)
		}
		return wish{column: column, text: text(r, "#", key, true), where: column + " = ?", args: args}
	}
	if r.IntN(2) == 0 {
		return wish{column: column, text: text(r, "=", name, true), holds: func(row map[string]any) bool {
			return labelOf(row) == any(name)
		}}
	}
	part := partOf(r, name)
	return wish{column: column, text: text(r, "", part, true), holds: func(row map[string]any) bool {
		label, ok := labelOf(row).(string)
		return ok && strings.Contains(lower(label), lower(part))
	}}
}

// A bound is one comparison of a number or a day.
type bound struct{ op, value string }

// bounds are a comparison or two, and the text for them.
func bounds(r *rand.Rand, show func(string) string, a, b string) (text string, list []bound) {
	switch r.IntN(8) {
	case 0:
		return ">" + show(a), []bound{{">", a}}
	case 1:
		return ">= " + show(a), []bound{{">=", a}}
	case 2:
		return "<" + show(a), []bound{{"<", a}}
	case 3:
		return "<=" + show(a), []bound{{"<=", a}}
	case 4:
		return show(a) + pick(r, "..", " .. ") + show(b), []bound{{">=", a}, {"<=", b}}
	case 5:
		return ">=" + show(a) + " <" + show(b), []bound{{">=", a}, {"<", b}}
	case 6:
		return " =" + show(a) + " ", []bound{{"=", a}}
	}
	return show(a), []bound{{"=", a}}
}

// holds reports whether a comparison has a result that its operator allows.
func (b bound) holds(compared int) bool {
	switch b.op {
	case ">":
		return compared > 0
	case ">=":
		return compared >= 0
	case "<":
		return compared < 0
	case "<=":
		return compared <= 0
	}
	return compared == 0
}

// decimals are exact numbers, at times beyond what their columns hold.
func (s *store) decimals(r *rand.Rand, w reader, path, column string) wish {
	operand := func() string {
		v := s.value(r, column)
		plain, _ := v.(string)
		if n, ok := v.(int64); ok {
			plain = strconv.FormatInt(n, 10)
		}
		if plain == "" || r.IntN(4) == 0 {
			plain = pick(r, "0", "-1", "10", "0.105", "1.5", "9223372036854775808", "-9223372036854775809", "99999999999999999999.99", "32768", "0.0000001", "-0.0", "00012", "2147483648")
		}
		return plain
	}
	if s.value(r, column) == nil && r.IntN(3) == 0 {
		return missing(path, column)
	}
	show := func(plain string) string {
		shown := w.number(r, plain)
		if column == "amount" && r.IntN(2) == 0 {
			shown += pick(r, " EUR", "EUR")
		}
		return shown
	}
	text, list := bounds(r, show, operand(), operand())
	if s.dialect == "sqlite" { // which has no exact numbers
		return wish{column: path, text: text, holds: func(row map[string]any) bool { return exactly(row[column], list) }}
	}
	exact := map[string]string{"postgres": "numeric", "mysql": "DECIMAL(65, 30)"}[s.dialect]
	where, args := conditions(column, "CAST(? AS "+exact+")", list)
	return wish{column: path, text: text, where: where, args: args}
}

// conditions are the SQL of comparisons.
func conditions(column, parameter string, list []bound) (string, []any) {
	parts, args := make([]string, len(list)), make([]any, len(list))
	for i, b := range list {
		parts[i], args[i] = column+" "+b.op+" "+parameter, b.value
	}
	return strings.Join(parts, " AND "), args
}

// exactly compares a stored number digit by digit.
func exactly(v any, list []bound) bool {
	plain, _ := v.(string)
	if n, ok := v.(int64); ok {
		plain = strconv.FormatInt(n, 10)
	}
	a, ok := new(big.Rat).SetString(plain)
	for _, b := range list {
		x, read := new(big.Rat).SetString(b.value)
		ok = ok && read && b.holds(a.Cmp(x))
	}
	return ok
}

// floats are doubles or singles.
func (s *store) floats(r *rand.Rand, w reader, column string, bits int) wish {
	operand := func() string {
		f, ok := s.value(r, column).(float64)
		if !ok || r.IntN(6) == 0 {
			f = pick(r, 0, -1, 0.1, 0.30000000000000004, 1e300, 1e-320, 5, 1e22)
		}
		if bits == 32 && math.Abs(f) <= math.MaxFloat32 && r.IntN(2) == 0 {
			return strconv.FormatFloat(f, 'g', -1, 32)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	if s.value(r, column) == nil && r.IntN(3) == 0 {
		return missing(column, column)
	}
	text, list := bounds(r, func(plain string) string { return w.number(r, plain) }, operand(), operand())
	if bits == 32 {
		return wish{column: column, text: text, holds: func(row map[string]any) bool { return single(row[column], list) }}
	}
	where, args := conditions(column, map[string]string{"sqlite": "?", "postgres": "CAST(? AS float8)", "mysql": "CAST(? AS DOUBLE)"}[s.dialect], list)
	for i := range args {
		args[i], _ = strconv.ParseFloat(list[i].value, 64)
	}
	return wish{column: column, text: text, where: where, args: args}
}

// single compares a stored number as the single that people see.
func single(v any, list []bound) bool {
	f, ok := v.(float64)
	a := float32(f)
	for _, b := range list {
		x, _ := strconv.ParseFloat(b.value, 64)
		if y := float32(x); !strings.Contains(b.value, "e") || strconv.FormatFloat(float64(y), 'g', -1, 32) == b.value {
			x = float64(y) // with an exponent only what is written as a single is one
		}
		ok = ok && b.holds(cmp.Compare(float64(a), x))
	}
	return ok
}

// days are days of the calendar, or months and years of it.
func (s *store) days(r *rand.Rand, w reader) wish {
	at := func() span {
		day, _ := s.value(r, "day").(string)
		t, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t = time.Date(2026, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
		}
		return w.day(r, t)
	}
	if s.value(r, "day") == nil {
		return missing("day", "day")
	}
	text, first, last := spans(r, at(), at())
	var list []bound
	if first.op != "" {
		list = append(list, bound{first.op, first.at.Format(time.DateOnly)})
	}
	if last.op != "" {
		list = append(list, bound{last.op, last.at.Format(time.DateOnly)})
	}
	where, args := conditions("day", map[string]string{"sqlite": "?", "postgres": "CAST(? AS date)", "mysql": "CAST(? AS DATE)"}[s.dialect], list)
	return wish{column: "day", text: text, where: where, args: args}
}

// An edge is where a span of time begins or ends; without an operator it does not.
type edge struct {
	op string
	at time.Time
}

// spans are the text of a comparison with a span or two, and its edges. The last day of a span belongs to it.
func spans(r *rand.Rand, a, b span) (text string, first, last edge) {
	switch r.IntN(7) {
	case 0:
		return ">" + a.text, edge{">", a.to}, edge{}
	case 1:
		return ">=" + a.text, edge{">=", a.from}, edge{}
	case 2:
		return "< " + a.text, edge{}, edge{"<", a.from}
	case 3:
		return "<=" + a.text, edge{}, edge{"<=", a.to}
	case 4:
		return a.text + pick(r, "..", " .. ") + b.text, edge{">=", a.from}, edge{"<=", b.to}
	case 5:
		return ">=" + a.text + " <=" + b.text, edge{">=", a.from}, edge{"<=", b.to}
	}
	return a.text, edge{">=", a.from}, edge{"<=", a.to}
}

// moments are spans of time in the zone of the reader.
func (s *store) moments(r *rand.Rand, w reader) wish {
	at := func() span {
		stored, _ := s.value(r, "at").(string)
		t, err := time.Parse("2006-01-02 15:04:05", stored)
		if err != nil {
			t = time.Date(2026, time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), 0, 0, time.UTC)
		}
		return w.instant(r, t)
	}
	if s.value(r, "at") == nil && r.IntN(2) == 0 {
		return missing("at", "at")
	}
	// A span of time ends before the first second behind it, but for one that is a fraction of a second alone.
	a, b := at(), at()
	text, first, last := spans(r, a, b)
	for _, of := range []span{a, b} {
		if of.from.Equal(of.to) {
			continue
		}
		if first.op == ">" && first.at.Equal(of.to) {
			first.op = ">="
		}
		if last.op == "<=" && last.at.Equal(of.to) {
			last.op = "<"
		}
	}
	if s.dialect == "sqlite" { // where instants are texts of several forms
		return wish{column: "at", text: text, holds: func(row map[string]any) bool {
			stored, _ := row["at"].(string)
			t, err := time.Parse("2006-01-02 15:04:05", stored)
			ok := err == nil
			for _, e := range []edge{first, last} {
				ok = ok && (e.op == "" || bound{op: e.op}.holds(t.Compare(e.at)))
			}
			return ok
		}}
	}
	var list []bound
	for _, e := range []edge{first, last} {
		if e.op != "" {
			list = append(list, bound{e.op, e.at.UTC().Format(map[string]string{"postgres": "2006-01-02 15:04:05.999999Z07:00", "mysql": "2006-01-02 15:04:05.999999"}[s.dialect])})
		}
	}
	where, args := conditions("at", map[string]string{"postgres": "CAST(? AS timestamptz)", "mysql": "CAST(? AS DATETIME(6))"}[s.dialect], list)
	return wish{column: "at", text: text, where: where, args: args}
}

func (s *store) truth(r *rand.Rand, _ reader) wish {
	return pick(r, wish{column: "done", text: "true", where: "done = ?", args: []any{true}}, wish{column: "done", text: "false", where: "done = ?", args: []any{false}}, missing("done", "done"))
}

func (s *store) member(r *rand.Rand, _ reader) wish {
	names := []string{"Open", "Done", "Lost"}
	name := pick(r, names...)
	return pick(r, wish{column: "status", text: name, where: "status = ?", args: []any{slices.Index(names, name)}}, missing("status", "status"))
}

func (s *store) guid(r *rand.Rand, _ reader) wish {
	v, ok := s.value(r, "uid").(string)
	if !ok {
		return missing("uid", "uid")
	}
	return wish{column: "uid", text: pick(r, v, strings.ToUpper(v)), where: "uid = ?", args: []any{v}}
}

func (s *store) clock(r *rand.Rand, _ reader) wish {
	v, ok := s.value(r, "clock").(string)
	if !ok {
		return missing("clock", "clock")
	}
	typed := v
	if strings.HasSuffix(v, ":00") && r.IntN(2) == 0 {
		typed = v[:5]
	}
	return wish{column: "clock", text: typed, where: "clock = ?", args: []any{v}}
}
