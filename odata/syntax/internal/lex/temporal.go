package lex

import "strings"

// scanDate returns the length of what looks like a date at the start of s, else
// 0 (ABNF date). Whether there is such a day is checked later.
func scanDate(s string) int {
	from := 0
	if strings.HasPrefix(s, "-") {
		from = 1
	}
	n := Digits(s[from:])
	if n < 4 || n > 4 && s[from] == '0' {
		return 0
	}
	rest := s[from+n:]
	if len(rest) < 6 || rest[0] != '-' || rest[3] != '-' || Digits(rest[1:]) != 2 || Digits(rest[4:]) != 2 {
		return 0
	}
	return from + n + 6
}

// scanTime returns the length of hh:mm[:ss[.f]] at the start of s, else 0 (ABNF
// timeOfDayLiteral). Second 60 is a leap second.
func scanTime(s string) int {
	if len(s) < 5 || s[2] != ':' || !twoDigits(s, 23) || !twoDigits(s[3:], 59) {
		return 0
	}
	if len(s) < 8 || s[5] != ':' || !twoDigits(s[6:], 60) {
		return 5
	}
	if len(s) < 10 || s[8] != '.' {
		return 8
	}
	n := Digits(s[9:])
	if n == 0 || n > 12 {
		return 8
	}
	return 9 + n
}

// twoDigits tells whether s starts with two digits that are at most limit.
func twoDigits(s string, limit int) bool {
	return len(s) >= 2 && IsDigit(s[0]) && IsDigit(s[1]) && int(s[0]-'0')*10+int(s[1]-'0') <= limit
}

// dateOrTimestamp consumes a date of n bytes, and the time behind it if there is
// one (ABNF dateTimeOffsetLiteral).
func (p *Cursor) dateOrTimestamp(n int) (Token, bool) {
	from, date := p.I, p.Text[p.I:p.I+n]
	if !dayExists(date) {
		panic(p.Malformed(from, "there is no day %s", date))
	}
	i := from + n
	if p.PeekAt(i)|0x20 != 't' {
		return p.finish(i, Date, date)
	}
	t := scanTime(p.Text[i+1 : p.End])
	if t == 0 {
		panic(p.Malformed(i+1, "expected a time of day as in 13:20:00"))
	}
	clock := p.Text[i+1 : i+1+t]
	i += 1 + t
	if p.PeekAt(i)|0x20 == 'z' {
		return p.finish(i+1, DateTimeOffset, date+"T"+clock+"Z")
	}
	sign := p.sign(i)
	if sign == "" {
		panic(p.Malformed(i, "expected Z or an offset as in +01:00, with the plus sent as %%2B"))
	}
	offset := p.Text[i+1 : p.End]
	if len(offset) < 5 || scanTime(offset[:5]) != 5 {
		panic(p.Malformed(i, "expected an offset as in +01:00"))
	}
	return p.finish(i+6, DateTimeOffset, date+"T"+clock+sign+offset[:5])
}

// dayExists checks month and day of [-]yyyy-mm-dd in the Gregorian calendar.
func dayExists(date string) bool {
	n := len(date)
	month := int(date[n-5]-'0')*10 + int(date[n-4]-'0')
	day := int(date[n-2]-'0')*10 + int(date[n-1]-'0')
	last := 31
	switch month {
	case 4, 6, 9, 11:
		last = 30
	case 2:
		last = 28
		if leapYear(date[:n-6]) {
			last = 29
		}
	}
	return month >= 1 && month <= 12 && day >= 1 && day <= last
}

// leapYear looks at the last four digits, which decide: 400 divides 10,000.
func leapYear(year string) bool {
	y := 0
	for _, c := range []byte(year[len(year)-4:]) {
		y = y*10 + int(c-'0')
	}
	return y%4 == 0 && (y%100 != 0 || y%400 == 0)
}

// badDuration returns the position of the first fault in an xs:dayTimeDuration,
// or -1 (ABNF durationValue). No years and no months, and not nothing at all.
func badDuration(s string) int {
	i := 0
	if strings.HasPrefix(s, "-") {
		i = 1
	}
	if !strings.HasPrefix(s[i:], "P") {
		return i
	}
	i++
	parts, units := 0, "D"
	for i < len(s) {
		if s[i] == 'T' && units != "" && !strings.HasSuffix(units, "S") {
			units, parts = "HMS", 0
			i++
			continue
		}
		n := Digits(s[i:])
		if n == 0 {
			return i
		}
		fraction := false
		if i+n < len(s) && s[i+n] == '.' {
			f := Digits(s[i+n+1:])
			if f == 0 {
				return i + n
			}
			n, fraction = n+1+f, true
		}
		if i+n == len(s) {
			return len(s)
		}
		u := strings.IndexByte(units, s[i+n])
		if u < 0 || fraction && s[i+n] != 'S' {
			return i + n
		}
		units = units[u+1:]
		if units == "" && s[i+n] == 'D' {
			units = "-" // only "T" may follow
		}
		parts++
		i += n + 1
	}
	if parts == 0 {
		return len(s)
	}
	return -1
}
