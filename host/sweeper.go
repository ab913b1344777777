package host

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// A sweeper removes the rows that nobody needs any more, and changes keys.
type sweeper struct {
	db   *store.DB
	keep store.Retention
	// forget removes the requests to the query endpoint that are remembered too long, and returns how many; nil where there are none.
	forget func(context.Context, time.Time) (int, error)
	// refresh reads again what hosts share and each keeps a copy of.
	refresh func(context.Context) error
	now     func() time.Time
	log     hclog.Logger
}

// sweepEvery is how often expired rows are looked for, and sweepPause how long
// requests have the database to themselves while there are more.
const (
	sweepEvery = 5 * time.Minute
	sweepPause = 50 * time.Millisecond
)

// run removes a limited number of rows at a time, as often as there are more,
// until ctx ends: whoever tries many logins must not fill the database.
func (s sweeper) run(ctx context.Context) {
	for {
		n, err := s.sweep(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("expired rows not removed; the next try is in 5 minutes", "error", err)
		}
		wait := sweepEvery
		if n > 0 && err == nil {
			wait = sweepPause
		} else if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("keys not read; the last ones stay in use", "error", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

func (s sweeper) sweep(ctx context.Context) (int, error) {
	n, err := s.db.Sweep(ctx, s.now(), s.keep)
	if s.forget == nil {
		return n, err
	}
	requests, err2 := s.forget(ctx, s.now())
	return n + requests, errors.Join(err, err2)
}
