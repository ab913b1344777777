package store

import (
	"strings"
	"time"
	"unicode/utf8"
)

// ms is a moment as the tables keep it; the zero time is 0.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMS(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// clip makes any text storable in a column of n bytes.
func clip(s string, n int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// orNull keeps nil apart from empty on every driver.
func orNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// notNull makes nil empty, for columns that are never null.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
