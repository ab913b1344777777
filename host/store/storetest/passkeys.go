package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func passkeyRules() []rule {
	return []rule{
		{"a passkey is found by credential and by id as it was made", passkeyIsFound},
		{"a user has one handle for ever", handleStays},
		{"a credential belongs to one person", credentialIsKnown},
		{"a user has no more passkeys than allowed", passkeysAreBounded},
		{"of parallel additions beside nineteen one succeeds", oneMorePasskey},
		{"a counter only grows, unless it is 0", countersGrow},
		{"of parallel uses with one counter one succeeds", oneUse},
		{"passkeys are listed by user or of everybody, the newest first", passkeysAreListed},
		{"a passkey is renamed and deleted by its own user alone", ownPasskey},
		{"disabling, a new password and ending the sessions leave passkeys", passkeysStay},
		{"a challenge is spent once", spentOnce},
		{"of parallel transactions that spend a challenge one succeeds", spentByOne},
		{"spent challenges are kept for an hour after their end, and swept then", spentAreSwept},
	}
}

// passkey stores a passkey of the user.
func (e *env) passkey(db *store.DB, number byte, userID string) passkey.Passkey {
	e.Helper()
	p := e.somePasskey(number, userID)
	var err error
	p.Handle, err = db.Passkeys().Handle(e.ctx, userID, p.Handle)
	e.must(err)
	e.must(db.Passkeys().Add(e.ctx, p, 20))
	return p
}

func (e *env) somePasskey(number byte, userID string) passkey.Passkey {
	return passkey.Passkey{
		ID: numbered("id-%d", int(number)), UserID: userID, Handle: hash(number, 1), Credential: []byte(strings.Repeat(string(rune('a'+number)), 1023)),
		Key: []byte{0, 0xff, number}, Name: "Telefon, größer 🙂", Transports: []string{"hybrid", "internal"},
		Counter: 1<<32 - 1, BackupEligible: true, Created: e.now.Add(time.Duration(number) * time.Second),
	}
}

func passkeyIsFound(_ *testing.T, e *env, db *store.DB) {
	want := e.passkey(db, 1, "7")
	got, err := db.Passkeys().Find(e.ctx, want.Credential)
	e.must(err)
	e.equal(want, got)
	got, err = db.Passkeys().FindID(e.ctx, want.ID)
	e.must(err)
	e.equal(want, got)
	e.notFound(errOf(db.Passkeys().Find(e.ctx, want.Credential[:1022])))
	e.notFound(errOf(db.Passkeys().Find(e.ctx, nil)))
	for _, id := range []string{"ID-1", "id-1 ", "", "\xff", "a\x00", strings.Repeat("a", 300)} {
		e.notFound(errOf(db.Passkeys().FindID(e.ctx, id)), id)
		e.notFound(db.Passkeys().Delete(e.ctx, id, "7"), id)
		e.notFound(db.Passkeys().Rename(e.ctx, id, "7", "x"), id)
	}
}

func handleStays(_ *testing.T, e *env, db *store.DB) {
	for _, fresh := range [][]byte{hash(1), hash(2)} {
		got, err := db.Passkeys().Handle(e.ctx, "7", fresh)
		e.must(err)
		e.equal(hash(1), got)
	}
	got, err := db.Passkeys().Handle(e.ctx, "77", hash(3))
	e.must(err)
	e.equal(hash(3), got)
}

func credentialIsKnown(t *testing.T, e *env, db *store.DB) {
	known := e.passkey(db, 1, "7")
	for _, userID := range []string{"7", "77"} {
		again := known
		again.ID, again.UserID = "another", userID
		if err := db.Passkeys().Add(e.ctx, again, 20); !errors.Is(err, passkey.ErrKnown) {
			t.Errorf("added to %s again: %v", userID, err)
		}
	}
}

func passkeysAreBounded(t *testing.T, e *env, db *store.DB) {
	for i := range byte(3) {
		e.passkey(db, i, "7")
	}
	fourth := e.somePasskey(4, "7")
	if err := db.Passkeys().Add(e.ctx, fourth, 3); !errors.Is(err, passkey.ErrTooMany) {
		t.Errorf("the fourth of three: %v", err)
	}
	e.passkey(db, 5, "77") // another user's
	e.counts(db, 3, `SELECT COUNT(*) FROM vestibule_passkeys WHERE user_id = ?`, "7")
}

func oneMorePasskey(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	for i := range byte(19) {
		e.passkey(db, i, u.ID)
	}
	n := e.wins([]*store.DB{db, e.pool(), e.pool()}, func(i int, db *store.DB) (bool, error) {
		p := e.somePasskey(byte(100+i), u.ID)
		err := db.InTx(e.ctx, func(ctx context.Context) error {
			if _, err := db.Users().Lock(ctx, u.ID); err != nil {
				return err
			}
			return db.Passkeys().Add(ctx, p, 20)
		})
		if errors.Is(err, passkey.ErrTooMany) {
			return false, nil
		}
		return err == nil, err
	})
	if n != 1 {
		t.Errorf("%d additions succeeded, want 1", n)
	}
}

func countersGrow(_ *testing.T, e *env, db *store.DB) {
	for i, tc := range []struct {
		name        string
		first, next uint32
		want        bool
	}{
		{"more", 5, 6, true},
		{"the most", 5, 1<<32 - 1, true},
		{"the same", 5, 5, false},
		{"less", 5, 4, false},
		{"none any more", 5, 0, false},
		{"none", 0, 0, true},
		{"the first", 0, 1, true},
	} {
		p := e.somePasskey(byte(i), "7")
		p.Counter = tc.first
		var err error
		p.Handle, err = db.Passkeys().Handle(e.ctx, "7", p.Handle)
		e.must(err)
		e.must(db.Passkeys().Add(e.ctx, p, 20))
		want := p
		p.Counter, p.BackedUp, p.Used = tc.next, true, e.now.Add(-time.Minute)
		kept, err := db.Passkeys().Use(e.ctx, p)
		e.must(err)
		if kept != tc.want {
			e.Errorf("%s: kept %v, want %v", tc.name, kept, tc.want)
		}
		if kept {
			want = p
		}
		got, err := db.Passkeys().Find(e.ctx, p.Credential)
		e.must(err)
		e.equal(want, got)
	}
	gone := e.somePasskey(50, "7")
	if kept, err := db.Passkeys().Use(e.ctx, gone); kept || err != nil {
		e.Errorf("one that is not there: %v, %v", kept, err)
	}
}

func oneUse(t *testing.T, e *env, db *store.DB) {
	p := e.somePasskey(1, "7")
	p.Counter = 5
	var err error
	p.Handle, err = db.Passkeys().Handle(e.ctx, "7", p.Handle)
	e.must(err)
	e.must(db.Passkeys().Add(e.ctx, p, 20))
	p.Counter = 6
	n := e.wins([]*store.DB{db, e.pool(), e.pool()}, func(_ int, db *store.DB) (bool, error) { return db.Passkeys().Use(e.ctx, p) })
	if n != 1 {
		t.Errorf("%d uses succeeded, want 1", n)
	}
}

func passkeysAreListed(_ *testing.T, e *env, db *store.DB) {
	one, two, other := e.passkey(db, 1, "7"), e.passkey(db, 2, "7"), e.passkey(db, 3, "77")
	for user, want := range map[string][]passkey.Passkey{"7": {two, one}, "77": {other}, "": {other, two, one}, "8": {}} {
		got, err := db.Passkeys().List(e.ctx, user, 10)
		e.must(err)
		e.equal(want, got)
	}
	got, err := db.Passkeys().List(e.ctx, "", 2)
	e.must(err)
	e.equal([]passkey.Passkey{other, two}, got)
}

func ownPasskey(_ *testing.T, e *env, db *store.DB) {
	one := e.passkey(db, 1, "7")
	e.notFound(db.Passkeys().Rename(e.ctx, one.ID, "77", "x"))
	e.must(db.Passkeys().Rename(e.ctx, one.ID, "7", "Schlüssel"))
	e.must(db.Passkeys().Rename(e.ctx, one.ID, "7", "Schlüssel")) // the same again is no error
	one.Name = "Schlüssel"
	got, err := db.Passkeys().FindID(e.ctx, one.ID)
	e.must(err)
	e.equal(one, got)
	e.notFound(db.Passkeys().Delete(e.ctx, one.ID, "77"))
	e.must(db.Passkeys().Delete(e.ctx, one.ID, "7"))
	e.notFound(db.Passkeys().Delete(e.ctx, one.ID, "7"))
	e.notFound(errOf(db.Passkeys().Find(e.ctx, one.Credential)))
	handle, err := db.Passkeys().Handle(e.ctx, "7", hash(99))
	e.must(err)
	e.equal(one.Handle, handle)
}

func passkeysStay(_ *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	mine := e.passkey(db, 1, u.ID)
	e.must(db.SetDisabled(e.ctx, u.ID, true))
	e.must(db.SetDisabled(e.ctx, u.ID, false))
	e.must(db.Users().SetPassword(e.ctx, u.ID, "hash", "secret"))
	e.must(db.RevokeUser(e.ctx, u.ID))
	got, err := db.Passkeys().Find(e.ctx, mine.Credential)
	e.must(err)
	e.equal(mine, got)
}

func spentOnce(t *testing.T, e *env, db *store.DB) {
	for challenge, want := range map[string]error{"one": nil, "two": nil} {
		if err := db.Passkeys().Spend(e.ctx, []byte(challenge), e.now); !errors.Is(err, want) {
			t.Errorf("%s: %v", challenge, err)
		}
	}
	if err := db.Passkeys().Spend(e.ctx, []byte("one"), e.now.Add(time.Hour)); !errors.Is(err, passkey.ErrSpent) {
		t.Errorf("spent again: %v", err)
	}
	failed := errors.New("failed")
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		e.must(db.Passkeys().Spend(ctx, []byte("three"), e.now))
		return failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	e.must(db.Passkeys().Spend(e.ctx, []byte("three"), e.now)) // what is rolled back is not spent
}

func spentByOne(t *testing.T, e *env, db *store.DB) {
	n := e.wins([]*store.DB{db, e.pool(), e.pool()}, func(_ int, db *store.DB) (bool, error) {
		err := db.InTx(e.ctx, func(ctx context.Context) error { return db.Passkeys().Spend(ctx, []byte("one"), e.now) })
		if errors.Is(err, passkey.ErrSpent) {
			return false, nil
		}
		return err == nil, err
	})
	if n != 1 {
		t.Errorf("%d transactions succeeded, want 1", n)
	}
}

func spentAreSwept(_ *testing.T, e *env, db *store.DB) {
	e.must(db.Passkeys().Spend(e.ctx, []byte("one"), e.now))
	for _, step := range []struct {
		at   time.Time
		want int
	}{{e.now.Add(time.Hour - time.Second), 0}, {e.now.Add(time.Hour), 1}} {
		n, err := db.Sweep(e.ctx, step.at, store.Retention{})
		e.must(err)
		e.equal(step.want, n)
	}
}
