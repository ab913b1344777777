package odata

import (
	"fmt"
	"time"
)

// timing is when the stages of an answer ended.
type timing struct{ start, parsed, planned, admitted, opened time.Time }

// header writes Server-Timing (W3C): parse, plan, query to the first row, and
// write to the first block, in milliseconds.
func (t timing) header(now time.Time) string {
	ms := func(from, to time.Time) float64 {
		if from.IsZero() || to.IsZero() {
			return 0
		}
		return float64(to.Sub(from).Microseconds()) / 1000
	}
	return fmt.Sprintf("parse;dur=%.3f, plan;dur=%.3f, query;dur=%.3f, write;dur=%.3f",
		ms(t.start, t.parsed), ms(t.parsed, t.planned), ms(t.planned, t.opened), ms(t.opened, now))
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
