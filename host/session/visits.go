package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// A session's last visit is recorded once in an interval: five minutes, or a twentieth of the idle limit. A visit in the last
// fifth of the interval waits in memory for others, for a tenth of the interval at most, and one statement records them all.
// A visit after the interval is recorded before its request goes on, together with the visits that wait and with those that
// arrive while the statement before runs.
//
// A host that dies loses visits within the interval alone, which a host without batches does not record at all. So a session
// ends at most an interval sooner than its idle limit after its last visit, with and without batches, whatever dies. One
// statement records one time, the first of its visits. It is at most a tenth of the interval before the others, so the same
// bound holds.

// TogetherRows are session rows of which one statement can touch several.
type TogetherRows interface {
	auth.SessionRows
	// TouchSessions is TouchSession for each of the hashes.
	TouchSessions(ctx context.Context, hashes [][]byte, seen time.Time) error
}

const (
	// fullBatch is how many visits are recorded without waiting for more.
	fullBatch = 512
	// mostWaiting bounds the visits that wait while the database is slow. Beyond it a visit waits for the end of its
	// interval.
	mostWaiting = 8 * fullBatch
)

// visits records visits in batches.
type visits struct {
	rows auth.SessionRows
	// hold is how long a visit may wait, and how far apart the visits of one statement may be.
	hold time.Duration
	// lost is called with the error of a batch for which no request waits.
	lost func(error)
	// writing holds a value while a batch is written.
	writing chan struct{}

	mu   sync.Mutex
	next *visitBatch
}

// A visitBatch is the visits that the next statement records. Once it is no longer visits.next, only its writer touches it.
type visitBatch struct {
	seen  map[string]time.Time
	timer *time.Timer
	done  chan struct{}
	err   error // to be read once done is closed
}

func newVisits(rows auth.SessionRows, hold time.Duration, lost func(error)) *visits {
	return &visits{rows: rows, hold: hold, lost: lost, writing: make(chan struct{}, 1), next: newVisitBatch()}
}

func newVisitBatch() *visitBatch {
	return &visitBatch{seen: map[string]time.Time{}, done: make(chan struct{})}
}

// waits reports whether a visit of the session waits to be recorded.
func (v *visits) waits(hash []byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.next.seen[string(hash)]
	return ok
}

// later records a visit within hold, or when a batch is full.
func (v *visits) later(hash []byte, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	b := v.next
	if len(b.seen) >= mostWaiting {
		return
	}
	b.seen[string(hash)] = at
	switch {
	case b.timer == nil:
		b.timer = time.AfterFunc(v.hold, func() {
			if err := v.write(context.Background(), context.Background(), b); err != nil {
				v.lost(err)
			}
		})
	case len(b.seen) == fullBatch:
		b.timer.Reset(0)
	}
}

// now records a visit, and all that wait, before it returns.
func (v *visits) now(ctx context.Context, hash []byte, at time.Time) error {
	defer auth.RequestOf(ctx).Spend(time.Now())
	v.mu.Lock()
	b := v.next
	b.seen[string(hash)] = at
	v.mu.Unlock()
	return v.write(ctx, context.Background(), b) // the batch has visits of other requests, and the store bounds the statement
}

// flush records all visits that wait, until ctx ends.
func (v *visits) flush(ctx context.Context) error {
	v.mu.Lock()
	b := v.next
	v.mu.Unlock()
	return v.write(ctx, ctx, b)
}

// write writes a batch once the batch before is written, unless another caller has written it by then. The end of wait ends
// the wait for that, the end of ctx the statement.
func (v *visits) write(wait, ctx context.Context, b *visitBatch) error {
	select {
	case v.writing <- struct{}{}:
	case <-b.done:
		return b.err
	case <-wait.Done():
		return wait.Err()
	}
	defer func() { <-v.writing }()
	if !v.take(b) {
		return b.err
	}
	b.err = v.record(ctx, b.seen)
	close(b.done)
	if b.err != nil { // the visits that arrived meanwhile have waited for the database as well
		v.mu.Lock()
		next := v.next
		v.mu.Unlock()
		if v.take(next) {
			next.err = b.err
			close(next.done)
		}
	}
	return b.err
}

// take makes b the caller's, who has filled writing, and reports whether it was the next batch.
func (v *visits) take(b *visitBatch) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.next != b {
		return false
	}
	v.next = newVisitBatch()
	if b.timer != nil {
		b.timer.Stop()
	}
	return true
}

// record writes visits, by one statement for those that are at most hold apart. Their order is that of the hashes, in which
// every host locks the rows.
func (v *visits) record(ctx context.Context, seen map[string]time.Time) error {
	type visit struct {
		hash []byte
		at   time.Time
	}
	all := make([]visit, 0, len(seen))
	for hash, at := range seen {
		all = append(all, visit{[]byte(hash), at})
	}
	slices.SortFunc(all, func(a, b visit) int { return a.at.Compare(b.at) })
	var failed []error
	for len(all) > 0 {
		first, n := all[0].at, 1
		for n < min(len(all), fullBatch) && all[n].at.Sub(first) <= v.hold {
			n++
		}
		hashes := make([][]byte, n)
		for i := range hashes {
			hashes[i] = all[i].hash
		}
		slices.SortFunc(hashes, bytes.Compare)
		failed = append(failed, v.touch(ctx, hashes, first))
		all = all[n:]
	}
	return errors.Join(failed...)
}

// touch sets when sessions were last seen.
func (v *visits) touch(ctx context.Context, hashes [][]byte, seen time.Time) error {
	if rows, ok := v.rows.(TogetherRows); ok && len(hashes) > 1 {
		return rows.TouchSessions(ctx, hashes, seen)
	}
	var failed []error
	for _, hash := range hashes {
		failed = append(failed, v.rows.TouchSession(ctx, hash, seen))
	}
	return errors.Join(failed...)
}
