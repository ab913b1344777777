package odata

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// Busy is the error of Options.Admit and Options.Validate for a request that has to come back later. It is
// answered with 429 for a client that has its share, else with 503.
type Busy struct { //nolint:errname // an answer: errors.As(err, &busy)
	// Share tells that the client has its share, rather than that all clients
	// together use all there is.
	Share bool
	// Limit is the setting that was reached, and Allowed what it is.
	Limit   string
	Allowed int
	// RetryAfter is when it makes sense to come back.
	RetryAfter time.Duration
	// Cause is for the log.
	Cause error
}

// Error names what was asked for and the limit that refused it.
func (b *Busy) Error() string {
	if b.Share {
		return fmt.Sprintf("too many requests of this client use the database at once: %s is %d; try again later", b.Limit, b.Allowed)
	}
	return fmt.Sprintf("too many requests use the database at once: %s is %d; try again later", b.Limit, b.Allowed)
}

// Unwrap gives the cause.
func (b *Busy) Unwrap() error { return b.Cause }

// admitted are rows that give back their place when they are closed.
type admitted struct {
	plan.Rows
	leave func()
}

// Close implements plan.Rows.
func (r admitted) Close() error {
	defer r.leave()
	return r.Rows.Close()
}

// admit waits for a place in the database, which counts neither as its work nor
// against the request's time.
func (s *answering) admit(q *request) (leave func(), err error) {
	leave, err = s.opts.Admit(q.ctx, q.caller)
	if err == nil {
		return leave, nil
	}
	var busy *Busy
	if !errors.As(err, &busy) {
		return nil, &fault{
			status: http.StatusServiceUnavailable, code: "unavailable", pos: -1, cause: err,
			message: "the request ended before it was its turn",
		}
	}
	return nil, busy.fault(busy.Error(), err)
}

// fault is the answer for a request that has to come back later.
func (b *Busy) fault(message string, cause error) *fault {
	f := &fault{status: http.StatusServiceUnavailable, code: "busy", message: message, pos: -1, retryAfter: b.RetryAfter, cause: cause}
	if b.Share {
		f.status = http.StatusTooManyRequests
	}
	return f
}

func admitAll(context.Context, Caller) (func(), error) { return func() {}, nil }

// groupBound are rows of $apply, whose number of groups is bounded.
type groupBound struct {
	plan.Rows
	node *plan.Node
	err  error
}

// bounded refuses rows that were computed of more groups than there may be.
func bounded(n *plan.Node, rows plan.Rows) plan.Rows {
	if n == nil || n.MaxGroups == 0 {
		return rows
	}
	return &groupBound{Rows: rows, node: n}
}

// Next implements plan.Rows.
func (r *groupBound) Next() bool {
	if r.err != nil || !r.Rows.Next() {
		return false
	}
	if n := r.Rows.Row()[r.node.Groups].Int; n > r.node.MaxGroups {
		r.err = plan.Exceeded(-1, "apply_groups", r.node.MaxGroups, "$apply makes "+strconv.FormatInt(n, 10)+" groups")
	}
	return r.err == nil
}

// Err implements plan.Rows.
func (r *groupBound) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.Rows.Err()
}

// opened holds the rows of a plan, and what has to be given back after them.
type opened struct {
	ctx context.Context
	// rows are the source's own, which may write themselves; held are the same rows, and Close gives back their slot.
	rows, held plan.Rows
	clock      *workClock
}

// open waits for the caller's turn and opens the rows of a plan.
func (s *answering) open(q *request, p *plan.Plan) (*opened, error) {
	if q.changes.begun() {
		return q.changes.read(q, p)
	}
	leave, err := s.admit(q)
	if err != nil {
		return nil, err
	}
	q.timing.admitted = s.opts.Now()
	o := &opened{}
	o.ctx, o.clock = q.left.start(q.ctx)
	var rows plan.Rows
	if p, err = located(o.ctx, s.source.Open, p); err == nil {
		rows, err = s.source.Open(o.ctx, p)
	}
	if err != nil {
		leave()
		err = faultOf(o.ctx, err)
		o.clock.stop()
		return nil, err
	}
	o.rows = bounded(p.Top, rows)
	o.held = admitted{o.rows, leave}
	q.timing.opened = s.opts.Now()
	return o, nil
}

// located returns the plan of a page with all sort values of the row that it comes behind. Long ones are read from the row,
// which must still have them.
func located(ctx context.Context, open func(context.Context, *plan.Plan) (plan.Rows, error), p *plan.Plan) (found *plan.Plan, err error) {
	if p.Row == nil {
		return p, nil
	}
	rows, err := open(ctx, p.Row)
	if err != nil {
		return nil, fmt.Errorf("look for the end of the page before: %w", err)
	}
	defer func() { _ = rows.Close() }() // nothing was written that could be lost
	if rows.Next() {
		if found, ok := p.Found(rows.Row()); ok {
			return found, nil
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for the end of the page before: %w", err)
	}
	return nil, plan.Errorf(plan.Malformed, -1, "the row at the end of the page before has changed or is gone, and its sort value is too long for a $skiptoken: start again without $skiptoken")
}

// allowance holds what is left to one HTTP request, all parts of a batch together,
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
