package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func txRules() []rule {
	return []rule{
		{"an error rolls everything back and is returned", errorRollsBack},
		{"a nested transaction is part of the outer one", nestedJoins},
		{"a copy with other settings joins the transaction", copyJoins},
		{"a transaction sees its own writes, others do not", ownWrites},
		{"a panic rolls back", panicRollsBack},
		{"transactions that block each other both succeed", deadlockIsRetried},
		{"a transaction of one database is not one of another", otherDatabase},
		{"a context that is over stops the wait", contextEnds},
	}
}

// rollBack runs f in a transaction that ends with an error.
func (e *env) rollBack(db *store.DB, f func(ctx context.Context)) {
	e.Helper()
	errStop := errors.New("stop")
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		f(ctx)
		return errStop
	})
	if !errors.Is(err, errStop) {
		e.Errorf("got %v, want the error of the step", err)
	}
}

func errorRollsBack(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	calls := 0
	e.rollBack(db, func(ctx context.Context) {
		calls++
		e.must(db.Users().SetColumns(ctx, u.ID, map[string]any{"name": "Grace"}))
		e.must(db.Outbox().Queue(ctx, outbox.Item{UserID: u.ID, Purpose: purpose, Locale: "en"}))
	})
	e.equal(1, calls)
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_outbox`)
	e.equal("Ada", e.find(db, u.ID).Name)
}

func nestedJoins(t *testing.T, e *env, db *store.DB) {
	e.rollBack(db, func(ctx context.Context) {
		e.must(db.InTx(ctx, func(ctx context.Context) error {
			return db.Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "en"})
		}))
	})
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_outbox`)
}

func copyJoins(_ *testing.T, e *env, db *store.DB) {
	e.rollBack(db, func(ctx context.Context) {
		e.must(db.With(store.Settings{Wait: time.Second}).Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "en"}))
	})
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_outbox`)
}

func ownWrites(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	e.must(db.InTx(e.ctx, func(ctx context.Context) error {
		e.must(db.Users().SetColumns(ctx, u.ID, map[string]any{"name": "Grace"}))
		inside, err := db.Users().FindByID(ctx, u.ID)
		e.must(err)
		outside := e.find(db, u.ID)
		if inside.Name != "Grace" || outside.Name != "Ada" {
			t.Errorf("inside %q, outside %q", inside.Name, outside.Name)
		}
		return nil
	}))
	e.equal("Grace", e.find(db, u.ID).Name)
}

func panicRollsBack(t *testing.T, e *env, db *store.DB) {
	func() {
		defer func() { _ = recover() }()
		_ = db.InTx(e.ctx, func(ctx context.Context) error {
			e.must(db.Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "en"}))
			panic("in the middle")
		})
	}()
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_outbox`)
	e.must(db.Outbox().Queue(e.ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "en"})) // the connection is free again
}

// Two transactions change two rows in opposite order. Where locks are of rows
// the engine ends one of them, and it has to be run again.
func deadlockIsRetried(t *testing.T, e *env, db *store.DB) {
	a, b := e.user(db, "ada@example.com"), e.user(db, "bob@example.com")
	var first sync.WaitGroup
	first.Add(2)
	bothHoldOne := make(chan struct{})
	go func() { first.Wait(); close(bothHoldOne) }()
	e.together(2, []*store.DB{db, e.pool()}, func(i int, db *store.DB) error {
		ids := []string{a.ID, b.ID}
		tries := 0
		return db.InTx(e.ctx, func(ctx context.Context) error {
			tries++
			if err := appendName(ctx, db, ids[i]); err != nil {
				return err
			}
			if tries == 1 {
				first.Done()
				select { // one writer at a time never gets both here
				case <-bothHoldOne:
				case <-time.After(300 * time.Millisecond):
				}
			}
			return appendName(ctx, db, ids[1-i])
		})
	})
	for _, id := range []string{a.ID, b.ID} {
		e.equal("Ada++", e.find(db, id).Name)
	}
}

// appendName writes before it reads, so that the row is locked.
func appendName(ctx context.Context, db *store.DB, id string) error {
	token, err := db.Users().EnsureDeviceSecret(ctx, id, "token") // locks
	if err != nil || token == "" {
		return err
	}
	u, err := db.Users().FindByID(ctx, id)
	if err != nil {
		return err
	}
	return db.Users().SetColumns(ctx, id, map[string]any{"name": u.Name + "+"})
}

func otherDatabase(t *testing.T, e *env, db *store.DB) {
	other := newEnv(e.TB, e.fixture).migrated()
	e.rollBack(db, func(ctx context.Context) {
		e.must(other.Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "en"}))
	})
	e.counts(other, 1, `SELECT COUNT(*) FROM vestibule_outbox`)
}

func contextEnds(t *testing.T, e *env, db *store.DB) {
	ctx, cancel := context.WithCancel(e.ctx)
	err := db.InTx(ctx, func(ctx context.Context) error {
		e.must(db.Outbox().Queue(ctx, outbox.Item{UserID: "1", Purpose: purpose, Locale: "en"}))
		cancel()
		return nil
	})
	if err == nil {
		t.Fatal("committed under a context that is over")
	}
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_outbox`)
}
