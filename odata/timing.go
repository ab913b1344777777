package odata

import (
	"strconv"
	"time"
)

// timing is when the stages of an answer ended.
type timing struct{ start, parsed, planned, admitted, opened time.Time }

// header writes Server-Timing (W3C): parse, plan, query to the first row, and
// write to the first block, in milliseconds.
func (t timing) header(now time.Time) string {
	b := make([]byte, 0, 96)
	b = appendMS(append(b, "parse;dur="...), t.start, t.parsed)
	b = appendMS(append(b, ", plan;dur="...), t.parsed, t.planned)
	b = appendMS(append(b, ", query;dur="...), t.planned, t.opened)
	b = appendMS(append(b, ", write;dur="...), t.opened, now)
	return string(b)
}

// appendMS appends the milliseconds between two marks with three decimals; 0.000 where one is zero, or the clock was turned back.
func appendMS(b []byte, from, to time.Time) []byte {
	us := int64(0)
	if !from.IsZero() && !to.IsZero() {
		us = max(0, to.Sub(from).Microseconds())
	}
	b = append(strconv.AppendInt(b, us/1000, 10), '.')
	return append(b, byte('0'+us/100%10), byte('0'+us/10%10), byte('0'+us%10))
}

// observe reports the stages of a request that ends now. Marks of stages that it did
// not come to, or that it did without, are zero.
func (t timing) observe(report func(stage string, took time.Duration), now time.Time) {
	began, stage := t.start, "parse"
	for _, next := range []struct {
		at    time.Time
		stage string
	}{{t.parsed, "plan"}, {t.planned, "wait"}, {t.admitted, "database"}, {t.opened, "write"}} {
		if next.at.IsZero() {
			continue
		}
		if stage != "wait" || next.stage == "database" {
			report(stage, next.at.Sub(began))
		}
		began, stage = next.at, next.stage
	}
	report(stage, now.Sub(began))
}
