package engine

import (
	"regexp"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// canonical is how instants are compared: all digits, so that text orders like time.
const canonical = "2006-01-02 15:04:05.000000000"

// register adds what SQLite lacks for the answers of the other databases. A function of null is null.
func register(conn *conn) error {
	if err := registerNumbers(conn); err != nil {
		return err
	}
	if err := registerAggregates(conn); err != nil {
		return err
	}
	if err := registerSearch(conn); err != nil {
		return err
	}
	add := func(name string, n int, f func([]sqlite3.Value) sqlite3.Value) error {
		return conn.Function(name, n, func(args []sqlite3.Value) (sqlite3.Value, error) {
			for _, a := range args {
				if a.Kind() == sqlite3.KindNull {
					return sqlite3.Null(), nil
				}
			}
			return f(args), nil
		})
	}
	for _, f := range []struct {
		name string
		args int
		impl func([]sqlite3.Value) sqlite3.Value
	}{
		{"ves_lower", 1, textFunc(strings.ToLower)},
		{"ves_upper", 1, textFunc(strings.ToUpper)},
		{"ves_trim", 1, textFunc(strings.TrimSpace)},
		{"ves_matches", 2, matches()},
		{"ves_time", 1, canonicalInstant},
		{"ves_clock", 1, canonicalClock},
		{"ves_day", 1, as(edm.Date)},
		{"ves_guid", 1, as(edm.Guid)},
		{"ves_fit", 2, fitting},
		{"ves_shown", 1, shown},
		{"ves_whole", 1, whole},
		{"ves_micros", 1, micros},
		{"ves_shift", 3, shift},
		{"ves_between", 2, between},
		{"ves_text", 2, asText},
		{"ves_read", 2, fromText},
	} {
		if err := add(f.name, f.args, f.impl); err != nil {
			return err
		}
	}
	return nil
}

// whole gives the result of integer arithmetic: SQLite makes a real of one that leaves the 64 bits, which is null here.
func whole(args []sqlite3.Value) sqlite3.Value {
	if args[0].Kind() == sqlite3.KindFloat {
		return sqlite3.Null()
	}
	return args[0]
}

func textFunc(f func(string) string) func([]sqlite3.Value) sqlite3.Value {
	return func(args []sqlite3.Value) sqlite3.Value { return sqlite3.Text(f(args[0].Text())) }
}

// matches remembers the last pattern, which is a constant as a rule. Connections are not shared between goroutines.
func matches() func([]sqlite3.Value) sqlite3.Value {
	var last string
	var compiled *regexp.Regexp
	return func(args []sqlite3.Value) sqlite3.Value {
		if p := args[1].Text(); compiled == nil || p != last {
			re, err := regexp.Compile(p)
			if err != nil {
				return sqlite3.Null()
			}
			last, compiled = p, re
		}
		return flag(compiled.MatchString(args[0].Text()))
	}
}

func flag(v bool) sqlite3.Value {
	if v {
		return sqlite3.Int(1)
	}
	return sqlite3.Int(0)
}

// instant reads any stored form of a point in time: text, or seconds since 1970.
func instant(v sqlite3.Value) (time.Time, bool) {
	switch v.Kind() {
	case sqlite3.KindInt:
		return time.Unix(v.Int(), 0).UTC(), scalar.FirstSecond <= v.Int() && v.Int() <= scalar.LastSecond
	case sqlite3.KindFloat, sqlite3.KindBlob:
		return time.Time{}, false
	}
	text, ok := scalar.AppendTime(nil, v.Bytes(), edm.DateTimeOffset)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	return t, err == nil
}

func canonicalInstant(args []sqlite3.Value) sqlite3.Value {
	t, ok := instant(args[0])
	if !ok {
		return sqlite3.Null()
	}
	return sqlite3.Text(t.Format(canonical))
}

func canonicalClock(args []sqlite3.Value) sqlite3.Value {
	text, ok := calendar(args[0], edm.TimeOfDay)
	if !ok {
		return sqlite3.Null()
	}
	whole, frac, _ := strings.Cut(string(text), ".")
	return sqlite3.Text(whole + "." + (frac + "000000000")[:9])
}

// asText is cast(x,Edm.String): the second argument names the kind of the first.
func asText(args []sqlite3.Value) sqlite3.Value {
	v := args[0]
	switch args[1].Text() {
	case "DateTimeOffset", "TimeOfDay", "Date":
		k := edm.PrimitiveKind(args[1].Text())
		if text, ok := scalar.AppendTime(nil, v.Bytes(), k); ok {
			return sqlite3.Text(string(text))
		}
		return sqlite3.Null()
	case "Duration":
		return sqlite3.Text(scalar.FormatMicros(v.Int()))
	}
	return sqlite3.Text(v.Text())
}

// fromText reads a text as a value of the type that the second argument names, in the form that is computed with; null
// when it is none. What is no text, which SQLite lets any column hold, counts as that of a column of the type.
func fromText(args []sqlite3.Value) sqlite3.Value {
	k := edm.PrimitiveKind(args[1].Text())
	if args[0].Kind() != sqlite3.KindText {
		return fit(args[0], k)
	}
	r, ok := scalar.FromText(k, args[0].Bytes())
	if !ok {
		return sqlite3.Null()
	}
	switch {
	case k == edm.Boolean, k.Integer():
		return sqlite3.Int(r.Int)
	case k == edm.Double, k == edm.Single:
		return sqlite3.Float(r.Float)
	case k == edm.Decimal:
		return computed(plan.Value{Bytes: []byte(r.Text)}, k)
	case k == edm.DateTimeOffset:
		return canonicalInstant([]sqlite3.Value{sqlite3.Text(r.Text)})
	case k == edm.TimeOfDay:
		return canonicalClock([]sqlite3.Value{sqlite3.Text(r.Text)})
	case k == edm.Duration:
		return micros([]sqlite3.Value{sqlite3.Text(r.Text)})
	}
	return sqlite3.Text(r.Text)
}
