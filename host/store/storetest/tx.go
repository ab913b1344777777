package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/host/auth"
	"github.com/vestibule-dev/vestibule/host/store"
)

func txRules() []rule {
	return []rule{
		{"an error rolls everything back and is returned", errorRollsBack},
		{"a nested transaction is part of the outer one", nestedJoins},
		{"a transaction sees its own writes, others do not", ownWrites},
		{"a panic rolls back", panicRollsBack},
		{"transactions that block each other both succeed", deadlockIsRetried},
		{"a transaction of one database is not one of another", otherDatabase},
		{"a context that is over stops the wait", contextEnds},
	}
}

var errStop = errors.New("stop")

func errorRollsBack(t *testing.T, e *env) {
	db := e.migrated()
	u := e.user(db, "ada@example.com")
	calls := 0
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		calls++
		e.must(db.Users().SetColumns(ctx, u.ID, map[string]any{"name": "Grace"}))
		e.must(db.Outbox().Enqueue(ctx, u.ID, auth.PurposeReset, "en"))
		return errStop
	})
	if !errors.Is(err, errStop) || calls != 1 {
		t.Fatalf("InTx returned %v after %d calls", err, calls)
	}
	if n := e.count(db, `SELECT COUNT(*) FROM vestibule_outbox`); n != 0 {
		t.Fatalf("%d mails after a rollback", n)
	}
	if got, err := db.Users().FindByID(e.ctx, u.ID); err != nil || got.Name != "Ada" {
		t.Fatalf("name is %q after a rollback, %v", got.Name, err)
	}
}

func nestedJoins(t *testing.T, e *env) {
	db := e.migrated()
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		e.must(db.InTx(ctx, func(ctx context.Context) error {
			return db.Outbox().Enqueue(ctx, "1", auth.PurposeReset, "en")
		}))
		return errStop
	})
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if n := e.count(db, `SELECT COUNT(*) FROM vestibule_outbox`); n != 0 {
		t.Fatalf("the inner transaction outlived the outer one: %d mails", n)
	}
}

func ownWrites(t *testing.T, e *env) {
	db := e.migrated()
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
	if got, err := db.Users().FindByID(e.ctx, u.ID); err != nil || got.Name != "Grace" {
		t.Fatalf("name is %q after the commit, %v", got.Name, err)
	}
}

func panicRollsBack(t *testing.T, e *env) {
	db := e.migrated()
	func() {
		defer func() { _ = recover() }()
		_ = db.InTx(e.ctx, func(ctx context.Context) error {
			e.must(db.Outbox().Enqueue(ctx, "1", auth.PurposeReset, "en"))
			panic("in the middle")
		})
	}()
	if n := e.count(db, `SELECT COUNT(*) FROM vestibule_outbox`); n != 0 {
		t.Fatalf("%d mails after a panic", n)
	}
	e.must(db.Outbox().Enqueue(e.ctx, "1", auth.PurposeReset, "en")) // the connection is free again
}

// Two transactions change two rows in opposite order. Where locks are of rows
// the engine ends one of them, and it has to be run again.
func deadlockIsRetried(t *testing.T, e *env) {
	db := e.migrated()
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
		if u, err := db.Users().FindByID(e.ctx, id); err != nil || u.Name != "Ada++" {
			t.Errorf("user %s is called %q, want two changes, %v", id, u.Name, err)
		}
	}
}

// appendName writes before it reads, so that the row is locked.
func appendName(ctx context.Context, db *store.DB, id string) error {
	token, err := db.Users().SetRememberToken(ctx, id, "token") // locks
	if err != nil || token == "" {
		return err
	}
	u, err := db.Users().FindByID(ctx, id)
	if err != nil {
		return err
	}
	return db.Users().SetColumns(ctx, id, map[string]any{"name": u.Name + "+"})
}

func otherDatabase(t *testing.T, e *env) {
	db := e.migrated()
	other := newEnv(e.TB, e.fixture).migrated()
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		e.must(other.Outbox().Enqueue(ctx, "1", auth.PurposeReset, "en"))
		return errStop
	})
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if n := e.count(other, `SELECT COUNT(*) FROM vestibule_outbox`); n != 1 {
		t.Fatalf("%d mails in the other database, want 1", n)
	}
}

func contextEnds(t *testing.T, e *env) {
	db := e.migrated()
	ctx, cancel := context.WithCancel(e.ctx)
	err := db.InTx(ctx, func(ctx context.Context) error {
		e.must(db.Outbox().Enqueue(ctx, "1", auth.PurposeReset, "en"))
		cancel()
		return nil
	})
	if err == nil {
		t.Fatal("committed under a context that is over")
	}
	if n := e.count(db, `SELECT COUNT(*) FROM vestibule_outbox`); n != 0 {
		t.Fatalf("%d mails, want 0", n)
	}
}
