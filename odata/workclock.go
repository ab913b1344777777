package odata

import (
	"context"
	"errors"
	"time"
)

// errSlow is the cause of a context that a workClock ended.
var errSlow = errors.New("the database was too slow")

// workClock bounds the time that a database works for a request. It is paused
// while a block is on its way to the client, so that a slow reader is not taken
// for a slow database.
type workClock struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	left   time.Duration
	since  time.Time
}

// limitWork starts a clock that ends the context after limit. Stop it when the
// rows are closed.
func limitWork(ctx context.Context, limit time.Duration) (context.Context, *workClock) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &workClock{cancel: cancel, left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(errSlow) })
	return ctx, c
}

func (c *workClock) pause() {
	c.timer.Stop()
	c.left -= time.Since(c.since)
}

func (c *workClock) resume() {
	c.since = time.Now()
	c.timer.Reset(max(c.left, 0))
}

func (c *workClock) stop() {
	c.timer.Stop()
	c.cancel(nil)
}
