package bind

import (
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/syntax"
)

// formatTime writes an instant as it stands in JSON, in UTC.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z07:00") }

// temporal gives date and time literals their canonical text. Years beyond four digits are part of the standard, but
// no database here keeps them.
func temporal(e *syntax.Literal) (*plan.Literal, error) {
	lit := func(k edm.Kind, v string) (*plan.Literal, error) {
		return &plan.Literal{T: edm.Of(k), Value: plan.Value{Bytes: []byte(v)}}, nil
	}
	bad := plan.Errorf(plan.Malformed, e.Pos(), "%.40q is not a point in time", e.Text)
	switch e.Kind {
	case syntax.Duration:
		d, ok := scalar.ParseDuration(e.Text)
		if !ok {
			return nil, plan.Errorf(plan.Malformed, e.Pos(), "%.40q is not a duration", e.Text)
		}
		return lit(edm.Duration, d.String())
	case syntax.TimeOfDay:
		t, ok := clock(e.Text)
		if !ok {
			return nil, bad
		}
		return lit(edm.TimeOfDay, t)
	}
	year, _, _ := strings.Cut(strings.TrimPrefix(e.Text, "-"), "-")
	if strings.HasPrefix(e.Text, "-") || len(year) > 4 || year == "0000" {
		return nil, plan.Errorf(plan.NotImplemented, e.Pos(), "years before 1 and after 9999 are not supported")
	}
	if e.Kind == syntax.Date {
		if _, err := time.Parse(time.DateOnly, e.Text); err != nil {
			return nil, bad
		}
		return lit(edm.Date, e.Text)
	}
	t, ok := instant(e.Text)
	if !ok {
		return nil, bad
	}
	at, err := lit(edm.DateTimeOffset, formatTime(t))
	_, offset := t.Zone()
	at.Zoned = offset != 0
	return at, err
}

// instant reads a DateTimeOffset: seconds may be missing, and may be 60.
func instant(s string) (time.Time, bool) {
	day, rest, ok := strings.Cut(strings.ToUpper(s), "T")
	cut := strings.IndexAny(rest, "Z+-")
	if !ok || cut < 0 {
		return time.Time{}, false
	}
	of, zone := rest[:cut], rest[cut:]
	if strings.Count(of, ":") == 1 {
		of += ":00"
	}
	leap := strings.HasPrefix(of[min(len(of), 5):], ":60")
	if leap {
		of = of[:5] + ":59" + of[8:]
	}
	t, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", day+"T"+shorten(of)+zone)
	if err != nil {
		return time.Time{}, false
	}
	if leap {
		t = t.Add(time.Second)
	}
	return t, t.UTC().Year() >= 1 && t.UTC().Year() <= 9999
}

// shorten cuts fractional seconds to nanoseconds.
func shorten(of string) string {
	if i := strings.IndexByte(of, '.'); i >= 0 && len(of) > i+10 {
		return of[:i+10]
	}
	return of
}

// clock reads a TimeOfDay.
func clock(s string) (string, bool) {
	if strings.Count(s, ":") == 1 {
		s += ":00"
	}
	t, err := time.Parse("15:04:05.999999999", shorten(s))
	if err != nil {
		return "", false
	}
	return t.Format("15:04:05.999999999"), true
}
