package scalar

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FormatDuration writes an Edm.Duration of so many seconds and nanoseconds (0 to 999,999,999) as it stands in JSON.
func FormatDuration(negative bool, seconds, nanos int64) string {
	if seconds == 0 && nanos == 0 {
		return "PT0S"
	}
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	b.WriteByte('P')
	if d := seconds / 86400; d > 0 {
		fmt.Fprintf(&b, "%dD", d)
	}
	if seconds%86400 == 0 && nanos == 0 {
		return b.String()
	}
	b.WriteByte('T')
	if h := seconds % 86400 / 3600; h > 0 {
		fmt.Fprintf(&b, "%dH", h)
	}
	if m := seconds % 3600 / 60; m > 0 {
		fmt.Fprintf(&b, "%dM", m)
	}
	if s := seconds % 60; s > 0 || nanos > 0 {
		fmt.Fprintf(&b, "%d", s)
		if nanos > 0 {
			b.WriteString("." + strings.TrimRight(fmt.Sprintf("%09d", nanos), "0"))
		}
		b.WriteByte('S')
	}
	return b.String()
}

// Span is a length of time: so many seconds and nanoseconds (0 to 999,999,999), to the past when Negative.
type Span struct {
	Negative       bool
	Seconds, Nanos int64
}

// String writes a span as an Edm.Duration with as few parts as it needs.
func (s Span) String() string { return FormatDuration(s.Negative, s.Seconds, s.Nanos) }

// maxSeconds are the whole seconds of the longest duration: as many microseconds as 64 bits count.
const maxSeconds = math.MaxInt64 / 1_000_000

// Micros is an Edm.Duration in microseconds, of which a fraction is cut off; false where ParseDuration is.
func Micros(s string) (int64, bool) {
	d, ok := ParseDuration(s)
	n := d.Seconds*1_000_000 + d.Nanos/1000
	if d.Negative {
		n = -n
	}
	return n, ok
}

// FormatMicros writes a number of microseconds as an Edm.Duration.
func FormatMicros(n int64) string {
	seconds, micros := n/1_000_000, n%1_000_000
	if n < 0 {
		seconds, micros = -seconds, -micros
	}
	return FormatDuration(n < 0, seconds, micros*1000)
}

// ParseDuration reads an Edm.Duration, a dayTimeDuration of XML Schema. Digits behind the ninth of a fraction are cut
// off. False for other text, and for more microseconds than 64 bits count.
func ParseDuration(s string) (Span, bool) {
	var out Span
	if s != "" && (s[0] == '-' || s[0] == '+') {
		out.Negative = s[0] == '-'
		s = s[1:]
	}
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || rest == "" || strings.HasSuffix(rest, "T") {
		return out, false
	}
	day, clock, _ := strings.Cut(rest, "T")
	if !out.add(day, "D", 86400) || !out.add(clock, "HMS", 3600, 60, 1) {
		return out, false
	}
	most := int64(math.MaxInt64 % 1_000_000)
	if out.Negative {
		most++
	}
	return out, out.Seconds < maxSeconds || out.Seconds == maxSeconds && out.Nanos/1000 <= most
}

// add reads the parts of a duration, whose units come in their order.
func (s *Span) add(text, units string, factors ...int64) bool {
	last := -1
	for text != "" {
		i := strings.IndexAny(text, "DHMS")
		if i < 1 {
			return false
		}
		u := strings.IndexByte(units, text[i])
		if u <= last {
			return false
		}
		last = u
		whole, frac, dotted := strings.Cut(text[:i], ".")
		n, err := strconv.ParseUint(whole, 10, 63)
		if err != nil || int64(n) > maxSeconds/factors[u] || dotted && text[i] != 'S' {
			return false
		}
		s.Seconds += int64(n) * factors[u]
		if dotted {
			f, err := strconv.ParseUint((frac + "000000000")[:9], 10, 63)
			if err != nil || frac == "" {
				return false
			}
			s.Nanos = int64(f)
		}
		text = text[i+1:]
	}
	return true
}
