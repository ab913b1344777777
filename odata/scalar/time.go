package scalar

import (
	"bytes"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// AppendTime reads a date, an instant or a time of day from text as databases write it, and appends it as it stands in
// JSON. Instants without an offset are UTC. False when the text is something else.
func AppendTime(dst, text []byte, k edm.Kind) ([]byte, bool) {
	switch k {
	case edm.Date:
		if isDay(text) && (len(text) == 10 || shaped(text[10:], "_dd")) {
			return append(dst, text[:10]...), true
		}
	case edm.DateTimeOffset:
		return appendInstant(dst, text)
	case edm.TimeOfDay:
		return appendClock(dst, text)
	}
	return dst, false
}

// shaped tells whether text begins like the pattern, in which d is a digit and _ anything.
func shaped(text []byte, pattern string) bool {
	if len(text) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		c := text[i]
		switch pattern[i] {
		case 'd':
			if c < '0' || c > '9' {
				return false
			}
		case '_':
		default:
			if c != pattern[i] {
				return false
			}
		}
	}
	return true
}

// isDay reports whether text begins with a day of the calendar, in a year from 1 on.
func isDay(text []byte) bool {
	if !shaped(text, "dddd-dd-dd") {
		return false
	}
	year, month, day := number(text[:4]), number(text[5:7]), number(text[8:10])
	if year < 1 || month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= 28 || day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// isClock tells whether text begins with a time of day, with seconds or without.
func isClock(text []byte) bool {
	return shaped(text, "dd:dd") && number(text[:2]) < 24 && number(text[3:5]) < 60 && (!shaped(text[5:], ":dd") || number(text[6:8]) < 60)
}

// isUsual tells whether text is an instant of the form that databases write as a rule, 2006-01-02 15:04:05, before the 29th
// of its month. It asks for no more than that, so as to cost a page as little as can be.
func isUsual(text []byte) bool {
	if len(text) != len(time.DateTime) || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' {
		return false
	}
	century, year := two(text[:2]), two(text[2:4])
	month, day := two(text[5:7]), two(text[8:10])
	return century*100+year-1 < 9999 && century < 100 && year < 100 && month-1 < 12 && day-1 < 28 &&
		two(text[11:13]) < 24 && two(text[14:16]) < 60 && two(text[17:19]) < 60
}

// two is the number that two digits make; above 99 where one is no digit.
func two(text []byte) uint {
	tens, ones := text[0]-'0', text[1]-'0'
	if tens > 9 || ones > 9 {
		return 1000
	}
	return 10*uint(tens) + uint(ones)
}

func number(digits []byte) (n int) {
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n
}

func appendInstant(dst, text []byte) ([]byte, bool) {
	if isUsual(text) {
		from := len(dst)
		dst = append(append(dst, text...), 'Z')
		dst[from+10] = 'T'
		return dst, true
	}
	if !isDay(text) {
		return dst, false
	}
	if len(text) == 10 {
		return append(append(dst, text...), "T00:00:00Z"...), true
	}
	if !shaped(text, "dddd-dd-dd_dd:dd") || !isClock(text[11:]) {
		return dst, false
	}
	rest := text[16:]
	seconds := []byte(":00")
	if shaped(rest, ":dd") {
		seconds, rest = rest[:3], rest[3:]
	}
	var fraction []byte
	if len(rest) > 0 && rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		fraction, rest = bytes.TrimRight(rest[:n], "0"), rest[n:]
		if len(fraction) == 1 {
			fraction = nil
		}
	}
	rest = bytes.TrimSpace(rest)
	if len(rest) == 0 || bytes.Equal(rest, []byte("Z")) || bytes.Equal(rest, []byte("+00:00")) || bytes.Equal(rest, []byte("+00")) {
		dst = append(append(append(dst, text[:10]...), 'T'), text[11:16]...)
		return append(append(append(dst, seconds...), fraction...), 'Z'), true
	}
	return appendOffset(dst, text, seconds, fraction, rest)
}

// appendOffset brings an instant with an offset, or one that Go's drivers wrote ("... +0100 CET m=+1"), to UTC.
func appendOffset(dst, text, seconds, fraction, zone []byte) ([]byte, bool) {
	zone, _, _ = bytes.Cut(zone, []byte(" "))
	base := string(text[:10]) + "T" + string(text[11:16]) + string(seconds) + string(fraction)
	for _, layout := range []string{"Z07:00", "Z0700", "Z07"} {
		t, err := time.Parse("2006-01-02T15:04:05.999999999"+layout, base+string(zone))
		if err == nil {
			return t.UTC().AppendFormat(dst, "2006-01-02T15:04:05.999999999Z07:00"), true
		}
	}
	return dst, false
}

func appendClock(dst, text []byte) ([]byte, bool) {
	if shaped(text, "dddd-dd-dd_dd:dd") {
		text = text[11:]
	}
	if !isClock(text) {
		return dst, false
	}
	switch {
	case shaped(text, "dd:dd:dd"):
		whole, fraction := text[:8], text[8:]
		fraction = bytes.TrimRight(fraction, "0")
		if len(fraction) < 2 || fraction[0] != '.' {
			fraction = nil
		}
		return append(append(dst, whole...), fraction...), true
	case shaped(text, "dd:dd") && len(text) == 5:
		return append(append(dst, text...), ":00"...), true
	}
	return dst, false
}

// The layouts in which SQLite columns hold times and the like. A column has one when every sampled value has it;
// otherwise comparisons take the slow, always right way.
const (
	// LayoutSpace is "2006-01-02 15:04:05".
	LayoutSpace = "space"
	// LayoutT is "2006-01-02T15:04:05".
	LayoutT = "t"
	// LayoutZ is "2006-01-02T15:04:05Z".
	LayoutZ = "z"
	// LayoutUnix is seconds since 1970 as an integer.
	LayoutUnix = "unix"
	// LayoutText is plain text in the canonical form of its type: dates, times of day, upper or lower case GUIDs.
	LayoutText = "text"
	// LayoutBlob is 16 bytes for a GUID.
	LayoutBlob = "blob"
	// LayoutMixed is anything else.
	LayoutMixed = "mixed"
)
