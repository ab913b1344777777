package explorer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
)

// A reader is somebody who types: in a language and in a zone.
type reader struct {
	lang, zone string
	place      *time.Location
}

// A span is the time that a text names: from its first second up to the first one behind it.
type span struct {
	text     string
	from, to time.Time
}

// pick is one of several values.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// number writes the digits of a number as the reader does.
func (w reader) number(r *rand.Rand, plain string) string {
	group, point := ",", "."
	if w.lang == "de" {
		group, point = ".", ","
	}
	sign, rest := "", plain
	if strings.HasPrefix(plain, "-") {
		sign, rest = pick(r, "-", "-", "−"), plain[1:]
	}
	digits, exponent, scaled := strings.Cut(rest, "e")
	whole, fraction, broken := strings.Cut(digits, ".")
	if r.IntN(2) == 0 {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + group + whole[i:]
		}
	}
	if broken {
		whole += point + fraction
	}
	if scaled {
		whole += pick(r, "e", "E") + exponent
	}
	return sign + whole
}

// months are the names of a language, long and short where the short one has no point.
func (w reader) months() []string {
	if w.lang == "de" {
		return []string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
	}
	return []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
}

// date writes a day, a month or a year: what it names ends before the day that is returned, counted in days of the calendar.
func (w reader) date(r *rand.Rand, y int, m time.Month, d int) (text string, from, behind time.Time) {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	name := w.months()[m-1]
	short := name
	if w.lang == "en" {
		short = name[:3]
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("%04d", y), day(y, 1, 1), day(y+1, 1, 1)
	case 1:
		forms := []string{fmt.Sprintf("%04d-%02d", y, m)}
		if y >= 1000 {
			forms = append(forms, fmt.Sprintf("%s %d", name, y), fmt.Sprintf("%d.%d", m, y), fmt.Sprintf("%02d.%d", m, y))
		}
		return pick(r, forms...), day(y, m, 1), day(y, m+1, 1)
	}
	forms := []string{fmt.Sprintf("%04d-%02d-%02d", y, m, d)}
	if y >= 1000 {
		forms = append(forms, fmt.Sprintf("%d.%d.%d", d, m, y), fmt.Sprintf("%02d.%02d.%d", d, m, y), fmt.Sprintf("%d. %s %d", d, name, y), fmt.Sprintf("%d %s %d", d, short, y))
		if w.lang == "en" {
			forms = append(forms, fmt.Sprintf("%s %d, %d", short, d, y), fmt.Sprintf("%s %d, %d", name, d, y))
		}
	}
	return pick(r, forms...), day(y, m, d), day(y, m, d+1)
}

// day writes a day of the calendar, or a month or year around it.
func (w reader) day(r *rand.Rand, at time.Time) span {
	text, from, behind := w.date(r, at.Year(), at.Month(), at.Day())
	return span{text, from, behind.AddDate(0, 0, -1)}
}

// instant writes an instant, or the minute, day, month or year around it in the zone of the reader.
func (w reader) instant(r *rand.Rand, at time.Time) span {
	local := at.In(w.place)
	if r.IntN(3) > 0 || !w.unique(at) {
		if r.IntN(4) == 0 {
			return w.exact(r, at)
		}
		text, from, behind := w.date(r, local.Year(), local.Month(), local.Day())
		return span{text, w.start(from), w.start(behind)}
	}
	second := at.Truncate(time.Second)
	minute := second.Add(-time.Duration(local.Second()) * time.Second)
	day, clock := fmt.Sprintf("%04d-%02d-%02d", local.Year(), local.Month(), local.Day()), fmt.Sprintf("%02d:%02d", local.Hour(), local.Minute())
	if r.IntN(3) == 0 {
		return pick(r, span{day + " " + clock, minute, minute.Add(time.Minute)}, span{day + "T" + clock + local.Format(":05"), second, second.Add(time.Second)})
	}
	if w.lang == "de" {
		text := fmt.Sprintf("%02d.%02d.%d%s%s", local.Day(), local.Month(), local.Year(), pick(r, ", ", " ", " um "), clock)
		return pick(r, span{text, minute, minute.Add(time.Minute)}, span{text + local.Format(":05"), second, second.Add(time.Second)})
	}
	text := local.Format(pick(r, "Jan 2, 2006, ", "January 2, 2006 at ", "2 Jan 2006 "))
	return pick(r, span{text + local.Format("3:04 PM"), minute, minute.Add(time.Minute)}, span{text + local.Format("3:04:05 PM"), second, second.Add(time.Second)},
		span{text + local.Format("15:04"), minute, minute.Add(time.Minute)})
}

// exact writes an instant with its offset, to the second or with all its digits.
func (w reader) exact(r *rand.Rand, at time.Time) span {
	second := at.Truncate(time.Second)
	if at.After(second) {
		return span{at.Format("2006-01-02T15:04:05.999999Z07:00"), at, at}
	}
	shown := pick(r, at, at.In(time.FixedZone("", 2*3600)), at.In(time.FixedZone("", -(9*3600+1800))))
	return span{shown.Format("2006-01-02T15:04:05Z07:00"), second, second.Add(time.Second)}
}

// unique reports whether clocks of the zone show the time of an instant once, with seconds that no year before time zones has.
func (w reader) unique(at time.Time) bool {
	local := at.In(w.place)
	if local.Year() < 1930 {
		return false
	}
	for _, shift := range []time.Duration{-time.Hour, time.Hour, -30 * time.Minute, 30 * time.Minute} {
		if other := at.Add(shift).In(w.place); other.Format(time.DateTime) == local.Format(time.DateTime) {
			return false
		}
	}
	return true
}

// start is the first instant of the zone that belongs to a day of the calendar, or to a later one.
func (w reader) start(day time.Time) time.Time {
	want := day.Format(time.DateOnly)
	early, late := day.Add(-36*time.Hour), day.Add(36*time.Hour)
	for late.Sub(early) > time.Second {
		middle := early.Add(late.Sub(early) / 2).Truncate(time.Second)
		if middle.In(w.place).Format(time.DateOnly) >= want {
			late = middle
		} else {
			early = middle
		}
	}
	return late
}

// text writes a text for the field of a column, between quotes where the field would take it otherwise. Quotes turn pictures
// of control characters into these, so that a text with pictures of its own is written without quotes.
func text(r *rand.Rand, sign, value string, linked bool) string {
	special := sign == "" && (strings.HasPrefix(value, "=") || linked && strings.HasPrefix(value, "#"))
	trimmed := strings.TrimFunc(value, func(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.Zs, c) || c == '\ufeff' })
	plain := value != "" && value == trimmed && !special && !strings.HasPrefix(value, `"`) && strings.IndexFunc(value, func(c rune) bool { return c < ' ' }) < 0
	pictures := strings.IndexFunc(value, func(c rune) bool { return c >= 0x2400 && c < 0x2420 }) >= 0
	if plain && (pictures || r.IntN(5) > 0) {
		return sign + value
	}
	shown := strings.Map(func(c rune) rune {
		if c < ' ' {
			return c + 0x2400
		}
		return c
	}, value)
	return sign + `"` + strings.ReplaceAll(shown, `"`, `""`) + `"`
}
