package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// Abandoned tests that a server ends a transaction whose host says nothing any more, as
// one whose connection a failover or a firewall has cut without the server being told:
// what waits for its locks goes on within [store.DB].Wait. The host that stood still runs
// its transaction again. It takes some 3 s and is for servers only.
func Abandoned(t *testing.T, fixture Fixture) {
	e := newEnv(t, fixture)
	db, other := e.migrated(), e.pool()
	u := e.user(db, "ada@example.com")
	locked, over, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	tries := 0
	go func() {
		done <- other.InTx(e.ctx, func(ctx context.Context) error {
			tries++
			if _, err := other.Users().Lock(ctx, u.ID); err != nil {
				return err
			}
			if tries == 1 {
				close(locked)
				<-over
			}
			return appendName(ctx, other, u.ID)
		})
	}()
	select {
	case <-locked:
	case err := <-done:
		t.Fatal("ended before it had the lock:", err)
	}
	began := time.Now()
	err := db.InTx(e.ctx, func(ctx context.Context) error { return appendName(ctx, db, u.ID) })
	t.Logf("waited %v for the lock", time.Since(began).Round(time.Millisecond))
	close(over)
	if err != nil {
		t.Error("the locks of a transaction that stands still are kept:", err)
	}
	if err := <-done; err != nil || tries != 2 {
		t.Errorf("the transaction that stood still: %v after %d tries, want 2", err, tries)
	}
	e.equal("Ada++", e.find(db, u.ID).Name)
}

// LostCommit tests what becomes of a transaction whose connection is lost with its
// commit: only one that may be done twice is run again. breakAll breaks the connections
// of db under the commit, without its noticing before.
func LostCommit(t *testing.T, db *store.DB, breakAll func()) {
	for _, tt := range []struct {
		name string
		run  func(context.Context, func(context.Context) error) error
		// done are the mails that are queued at last, of one for each try that is committed.
		tries int
		done  int64
		want  error
	}{
		{"may be done once", db.InTx, 1, 0, auth.ErrUnavailable},
		{"may be done twice", db.Settle, 2, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &env{TB: t, ctx: t.Context()}
			tries := 0
			err := tt.run(e.ctx, func(ctx context.Context) error {
				if err := db.Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "en"}); err != nil {
					return err
				}
				if tries++; tries == 1 {
					breakAll()
				}
				return nil
			})
			if !errors.Is(err, tt.want) || tries != tt.tries {
				t.Errorf("%v after %d tries; want %v after %d", err, tries, tt.want, tt.tries)
			}
			waits, err := db.Outbox().Backlog(e.ctx)
			e.must(err)
			e.equal(tt.done, waits[0].Waiting)
		})
	}
}
