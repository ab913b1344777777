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

// Busy is what Options.Admit returns where a request has to come back later. It is
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
	f := &fault{status: http.StatusServiceUnavailable, code: "busy", message: busy.Error(), pos: -1, retryAfter: busy.RetryAfter, cause: err}
	if busy.Share {
		f.status = http.StatusTooManyRequests
	}
	return nil, f
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
