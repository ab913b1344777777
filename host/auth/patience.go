package auth

import (
	"context"
	"sync/atomic"
	"time"
)

// A Patience is how long one request has waited for the database: several calls of
// a request share what one call may wait, so that the request as a whole does not take
// longer. Hashing counts as well, but for a second, which the database has in any case.
// It is safe for concurrent use; nil shares nothing.
type Patience struct{ spent, hashed atomic.Int64 }

// leastForTheDatabase is what hashing, however long it took, leaves to the database.
const leastForTheDatabase = time.Second

// PatienceOf returns that of the request that ctx is of, nil where it is of none.
func PatienceOf(ctx context.Context) *Patience {
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return &e.patience
	}
	return nil
}

// Left returns what is left of the time that one call may wait.
func (p *Patience) Left(wait time.Duration) time.Duration {
	if p == nil {
		return wait
	}
	left := wait - time.Duration(p.spent.Load())
	return min(left, max(left-time.Duration(p.hashed.Load()), leastForTheDatabase))
}

// SpendHashing counts the time since a password was to be hashed.
func (p *Patience) SpendHashing(since time.Time) {
	if p != nil {
		p.hashed.Add(int64(time.Since(since)))
	}
}

// Spend counts the time since a call began.
func (p *Patience) Spend(since time.Time) {
	if p != nil {
		p.spent.Add(int64(time.Since(since)))
	}
}
