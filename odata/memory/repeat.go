package memory

import (
	"context"
	"maps"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/write"
)

// remembered is a request that had its effect.
type remembered struct {
	write.Kept
	ends time.Time
}

// Repeats is true. See odata.Repeating.
func (s *Source) Repeats() bool { return true }

// Forget forgets all requests that have ended. See odata.Repeating.
func (s *Source) Forget(ctx context.Context, now time.Time) (int, error) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	before := len(s.requests)
	maps.DeleteFunc(s.requests, func(_ string, r remembered) bool { return r.ends.Before(now) })
	n := before - len(s.requests)
	s.turn <- struct{}{}
	return n, nil
}

// Claim returns what is kept of the request. See write.Transaction.
func (t *transaction) Claim(r *write.Repeat) (*write.Kept, error) {
	if t.state == nil {
		return nil, errEnded
	}
	if kept, ok := t.source.requests[string(r.ID)]; ok {
		return &kept.Kept, nil
	}
	return nil, nil //nolint:nilnil // nothing is kept, and nothing is wrong
}

// Keep keeps an answer, from the commit on. See write.Transaction.
func (t *transaction) Keep(r *write.Repeat, answer []byte) error {
	if t.state == nil {
		return errEnded
	}
	t.id, t.kept = string(r.ID), remembered{write.Kept{Print: r.Print, Answer: answer}, r.Ends}
	return nil
}
