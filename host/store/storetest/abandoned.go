package storetest

import (
	"context"
	"testing"
	"time"
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
