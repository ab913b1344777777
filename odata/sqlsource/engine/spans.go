package engine

import (
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
)

// Durations are whole microseconds, as integers. What is computed and leaves its range is null.

// clockLayout is the form of a time of day.
const clockLayout = "15:04:05.000000000"

// spanDigits are as many as a double has before the point, and some.
const spanDigits = 400

// micros reads a stored duration: a number of seconds, or text in the form of the standard. Null for everything else.
func micros(args []sqlite3.Value) sqlite3.Value {
	switch v := args[0]; v.Kind() {
	case sqlite3.KindText:
		if n, ok := scalar.Micros(v.Text()); ok {
			return sqlite3.Int(n)
		}
	case sqlite3.KindInt:
		return rounded(apd.New(v.Int(), 6))
	case sqlite3.KindFloat:
		if d, err := new(apd.Decimal).SetFloat64(v.Float()); err == nil {
			d.Exponent += 6
			return rounded(d)
		}
	}
	return sqlite3.Null()
}

// rounded is a number of microseconds as an integer, halves away from zero.
func rounded(d *apd.Decimal) sqlite3.Value {
	ctx := apd.BaseContext.WithPrecision(spanDigits)
	ctx.Rounding = apd.RoundHalfUp
	if d.Form != apd.Finite {
		return sqlite3.Null()
	}
	if _, err := ctx.Quantize(d, d, 0); err != nil {
		return sqlite3.Null()
	}
	n, err := d.Int64()
	if err != nil {
		return sqlite3.Null()
	}
	return sqlite3.Int(n)
}

// shift adds a duration to a date, an instant or a time of day in canonical form, or with "-" takes it away, and gives
// the same form back. A date moves by whole days, downwards; a time of day goes round at midnight.
func shift(args []sqlite3.Value) sqlite3.Value {
	const day = 86_400_000_000
	text, by, layout := args[0].Text(), args[1].Int(), canonical
	clock := len(text) > 2 && text[2] == ':'
	if clock {
		layout = clockLayout
		by %= day
	}
	if args[2].Text() == "-" {
		by = -by
	}
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
		by -= (by%day + day) % day
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return sqlite3.Null()
	}
	t = time.Unix(t.Unix()+by/1_000_000, int64(t.Nanosecond())+by%1_000_000*1000).UTC()
	if !clock && (t.Year() < 1 || t.Year() > 9999) {
		return sqlite3.Null()
	}
	return sqlite3.Text(t.Format(layout))
}

// between is the duration from the first to the second.
func between(args []sqlite3.Value) sqlite3.Value {
	a, ok := point(args[0].Text())
	b, ok2 := point(args[1].Text())
	if !ok || !ok2 {
		return sqlite3.Null()
	}
	d := apd.New(b.Unix()-a.Unix(), 9)
	if _, err := apd.BaseContext.WithPrecision(spanDigits).Add(d, d, apd.New(int64(b.Nanosecond()-a.Nanosecond()), 0)); err != nil {
		return sqlite3.Null()
	}
	d.Exponent -= 3
	return rounded(d)
}

// point reads a date, an instant or a time of day in canonical form.
func point(s string) (time.Time, bool) {
	for _, layout := range []string{canonical, time.DateOnly, clockLayout} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
