package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// EndedConnections tests that sessions of a migrated database are found, and that none is invented, after end has closed
// its connections from the side of the server. A context that has ended is an error, and no missing session.
func EndedConnections(t *testing.T, db *store.DB, end func() error) {
	e := &env{TB: t, ctx: t.Context(), now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	want := e.record(1, "7")
	want.Created = time.UnixMilli(12345678).UTC() // as long as a text as it is as bytes
	e.session(db, want)
	for range 3 {
		var all sync.WaitGroup
		for range 8 { // several connections
			all.Go(func() {
				if _, err := db.Sessions().FindSession(e.ctx, want.Hash); err != nil {
					t.Errorf("find a session: %v", err)
				}
			})
		}
		all.Wait()
		e.stored(db, want)
		if e.lives(db, e.record(2, "7")) {
			t.Error("found what was not created")
		}
		e.must(end())
	}
	ended, cancel := context.WithCancel(e.ctx)
	cancel()
	if _, err := db.Sessions().FindSession(ended, want.Hash); err == nil || errors.Is(err, auth.ErrSessionGone) {
		t.Errorf("with a context that has ended: %v", err)
	}
	e.stored(db, want)
}

// Interrupted tests that a read which waits for the server ends with its context, and leaves no connection behind that is
// of no use. held takes the table of sessions from everybody else and returns what gives it back.
func Interrupted(t *testing.T, db *store.DB, held func() (release func() error)) {
	e := &env{TB: t, ctx: t.Context(), now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	want := e.record(1, "7")
	e.session(db, want)
	db.SetMaxConnections(1)
	for range 3 {
		release := held()
		ctx, cancel := context.WithCancel(e.ctx)
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := db.Sessions().FindSession(ctx, want.Hash); !errors.Is(err, context.Canceled) || errors.Is(err, auth.ErrUnavailable) {
			t.Errorf("interrupted: %v", err)
		}
		_, err := db.With(store.Settings{Wait: 50 * time.Millisecond}).Sessions().FindSession(e.ctx, want.Hash)
		if !errors.Is(err, auth.ErrUnavailable) {
			t.Errorf("it takes too long: %v", err)
		}
		e.must(release())
		e.stored(db, want)
	}
}
