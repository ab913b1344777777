package host

import (
	"context"
	"errors"

	"github.com/vestibule-dev/vestibule/v2/host/web"
	"github.com/vestibule-dev/vestibule/v2/odata"
)

// admitQueries returns how a query waits for its turn at the database; nil where
// their number is not bounded.
func (o *ODataOptions) admitQueries(limits *web.Limits) func(context.Context, odata.Caller) (func(), error) {
	if o.Connections <= 0 {
		return nil
	}
	concurrent := o.Concurrent
	if concurrent <= 0 {
		concurrent = max(1, o.Connections/4)
	}
	queue := limits.Queries(o.Connections, concurrent)
	return func(ctx context.Context, c odata.Caller) (func(), error) { return admit(ctx, queue, c) }
}

// admit waits for the turn of a caller.
func admit(ctx context.Context, queue *web.Queue, c odata.Caller) (leave func(), err error) {
	leave, err = queue.Enter(ctx, c.Client)
	if busy := new(web.Busy); errors.As(err, &busy) {
		return nil, &odata.Busy{Share: !busy.ByHost, Limit: busy.Limit, Allowed: busy.Allowed, RetryAfter: busy.RetryAfter, Cause: err}
	}
	return leave, err
}
