package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func tokenRules() []rule {
	return []rule{
		{"a token is found by hash and by id as it was created", tokenIsFound},
		{"a user has no more tokens than allowed, and those that are over make room", tokensAreBounded},
		{"of parallel additions beside forty-nine one succeeds", oneMoreToken},
		{"the last use never goes back", lastUse},
		{"tokens are listed by user or of everybody, the newest first", tokensAreListed},
		{"a token is ended by its own user alone", deletedToken},
		{"disabling ends tokens, and enabling brings none back", disablingEndsTokens},
		{"ending the sessions leaves tokens alone", revokingLeavesTokens},
		{"tokens are kept for a week after their end, and swept then", tokensAreSwept},
	}
}

// token stores a token of the user that lasts an hour.
func (e *env) token(db *store.DB, number byte, userID string) auth.Token {
	e.Helper()
	t := auth.Token{
		ID: numbered("id-%d", int(number)), Hash: hash(number), UserID: userID, Name: "Excel, größer 🙂", Route: "reports", Write: true,
		Created: e.now.Add(time.Duration(number) * time.Second), Expires: e.now.Add(time.Hour),
	}
	e.must(db.Tokens().Create(e.ctx, t, 50))
	return t
}

func tokenIsFound(_ *testing.T, e *env, db *store.DB) {
	want := e.token(db, 1, "7")
	got, err := db.Tokens().Find(e.ctx, want.Hash)
	e.must(err)
	e.equal(want, got)
	got, err = db.Tokens().FindID(e.ctx, want.ID)
	e.must(err)
	e.equal(want, got)
	e.notFound(errOf(db.Tokens().Find(e.ctx, hash(2))))
	for _, id := range []string{"ID-1", "id-1 ", "", "\xff", "a\x00", strings.Repeat("a", 300)} {
		e.notFound(errOf(db.Tokens().FindID(e.ctx, id)), id)
		e.notFound(db.Tokens().Delete(e.ctx, id, "7"), id)
	}
}

func tokensAreBounded(t *testing.T, e *env, db *store.DB) {
	for i := range byte(3) {
		e.token(db, i, "7")
	}
	fourth := auth.Token{ID: "fourth", Hash: hash(4), UserID: "7", Name: "x", Created: e.now, Expires: e.now.Add(2 * time.Hour)}
	if err := db.Tokens().Create(e.ctx, fourth, 3); !errors.Is(err, auth.ErrTooMany) {
		t.Errorf("the fourth of three: %v", err)
	}
	e.token(db, 5, "77") // another user's
	fourth.Created = e.now.Add(time.Hour)
	e.must(db.Tokens().Create(e.ctx, fourth, 3))
	e.counts(db, 1, `SELECT COUNT(*) FROM vestibule_tokens WHERE user_id = ?`, "7")
	e.counts(db, 2, `SELECT COUNT(*) FROM vestibule_tokens`)
}

func oneMoreToken(t *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	for i := range byte(49) {
		e.token(db, i, u.ID)
	}
	n := e.wins([]*store.DB{db, e.pool(), e.pool()}, func(i int, db *store.DB) (bool, error) {
		return addOne(e, db, u.ID, i)
	})
	if n != 1 {
		t.Errorf("%d additions succeeded, want 1", n)
	}
}

// addOne adds a token as the sign-in does, with the user locked.
func addOne(e *env, db *store.DB, userID string, i int) (bool, error) {
	token := auth.Token{ID: numbered("new-%d", i), Hash: hash(200, byte(i)), UserID: userID, Name: "x", Created: e.now, Expires: e.now.Add(time.Hour)}
	err := db.InTx(e.ctx, func(ctx context.Context) error {
		if _, err := db.Users().Lock(ctx, userID); err != nil {
			return err
		}
		return db.Tokens().Create(ctx, token, 50)
	})
	if errors.Is(err, auth.ErrTooMany) {
		return false, nil
	}
	return err == nil, err
}

func lastUse(_ *testing.T, e *env, db *store.DB) {
	want := e.token(db, 1, "7")
	want.Used = e.now.Add(time.Minute)
	for _, at := range []time.Time{want.Used, e.now} {
		e.must(db.Tokens().Touch(e.ctx, want.Hash, at))
		got, err := db.Tokens().Find(e.ctx, want.Hash)
		e.must(err)
		e.equal(want, got)
	}
	e.must(db.Tokens().Touch(e.ctx, hash(9), e.now)) // that there is none is no error
}

func tokensAreListed(_ *testing.T, e *env, db *store.DB) {
	one, two, other := e.token(db, 1, "7"), e.token(db, 2, "7"), e.token(db, 3, "77")
	for user, want := range map[string][]auth.Token{"7": {two, one}, "77": {other}, "": {other, two, one}, "8": {}} {
		got, err := db.Tokens().List(e.ctx, user, 10)
		e.must(err)
		e.equal(want, got)
	}
	got, err := db.Tokens().List(e.ctx, "", 2)
	e.must(err)
	e.equal([]auth.Token{other, two}, got)
}

func deletedToken(_ *testing.T, e *env, db *store.DB) {
	one := e.token(db, 1, "7")
	e.notFound(db.Tokens().Delete(e.ctx, one.ID, "77"))
	e.must(db.Tokens().Delete(e.ctx, one.ID, "7"))
	e.notFound(db.Tokens().Delete(e.ctx, one.ID, "7"))
	e.notFound(errOf(db.Tokens().Find(e.ctx, one.Hash)))
}

func disablingEndsTokens(_ *testing.T, e *env, db *store.DB) {
	u, other := e.user(db, "ada@example.com"), e.user(db, "bob@example.com")
	mine, others := e.token(db, 1, u.ID), e.token(db, 2, other.ID)
	for _, disabled := range []bool{true, false} {
		e.must(db.SetDisabled(e.ctx, u.ID, disabled))
		e.notFound(errOf(db.Tokens().Find(e.ctx, mine.Hash)))
	}
	e.must(errOf(db.Tokens().Find(e.ctx, others.Hash)))
}

func revokingLeavesTokens(_ *testing.T, e *env, db *store.DB) {
	u := e.user(db, "ada@example.com")
	mine := e.token(db, 1, u.ID)
	e.must(db.RevokeUser(e.ctx, u.ID))
	e.must(errOf(db.Tokens().Find(e.ctx, mine.Hash)))
}

func tokensAreSwept(_ *testing.T, e *env, db *store.DB) {
	week := 7 * 24 * time.Hour
	over := e.token(db, 1, "7")
	for _, step := range []struct {
		at   time.Time
		want int
	}{{over.Expires.Add(week - time.Second), 0}, {over.Expires.Add(week), 1}} {
		n, err := db.Sweep(e.ctx, step.at, store.Retention{})
		e.must(err)
		e.equal(step.want, n)
	}
	if list, err := db.Tokens().List(e.ctx, "", 10); err != nil || len(list) != 0 {
		e.Errorf("left: %v, %v", list, err)
	}
}
