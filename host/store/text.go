package store

import (
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/internal/words"
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
	return words.Cut(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", ""), n)
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
