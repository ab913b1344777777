package odata

import (
	"context"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// allowance is what is left to one HTTP request, all parts of a batch together,
// of its time in the database, its rows and its bytes. The parts run one after the
// other, so it is for one goroutine.
type allowance struct {
	limits  Limits
	timeout time.Duration
	// work is the time in the database.
	work        time.Duration
	rows, bytes int64
}

func newAllowance(o *Options) *allowance {
	return &allowance{limits: o.Limits, timeout: o.Timeout, work: o.Timeout, rows: o.Limits.Rows, bytes: o.Limits.Bytes}
}

// takeRow takes one row.
func (a *allowance) takeRow() error {
	if a.rows--; a.rows >= 0 {
		return nil
	}
	return plan.Exceeded(-1, "rows", a.limits.Rows, "the answer to this HTTP request has more rows than it may, those of expanded properties included")
}

// takeBytes takes the bytes of a block that is to be sent.
func (a *allowance) takeBytes(n int) error {
	if a.bytes -= int64(n); a.bytes >= 0 {
		return nil
	}
	return plan.Exceeded(-1, "bytes", a.limits.Bytes, "the answer to this HTTP request has more bytes than it may")
}

// slowError is the cause of a context whose workClock ran out.
type slowError struct{ limit time.Duration }

func (e *slowError) Error() string {
	return fmt.Sprintf("the database was too slow: it worked longer for this HTTP request than odata.limits.timeout, which is %v", e.limit)
}

// workClock bounds the time that a database works for a request. It is paused
// while a block is on its way to the client, so that a slow reader is not taken
// for a slow database.
type workClock struct {
	of     *allowance
	cancel context.CancelCauseFunc
	timer  *time.Timer
	since  time.Time
}

// start starts a clock that ends the context when the time is used up. Stop it
// when the rows are closed.
func (a *allowance) start(ctx context.Context) (context.Context, *workClock) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &workClock{of: a, cancel: cancel, since: time.Now()}
	slow := &slowError{a.timeout}
	if a.work <= 0 {
		cancel(slow)
	}
	c.timer = time.AfterFunc(max(a.work, 0), func() { cancel(slow) })
	return ctx, c
}

func (c *workClock) pause() {
	c.timer.Stop()
	c.of.work -= time.Since(c.since)
}

func (c *workClock) resume() {
	c.since = time.Now()
	c.timer.Reset(max(c.of.work, 0))
}

// stop must not be called while the clock is paused.
func (c *workClock) stop() {
	c.pause()
	c.cancel(nil)
}
