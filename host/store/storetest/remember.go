package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func rememberRules() []rule {
	return []rule{
		{"a family is found as it was created", familyIsFound},
		{"a rotation replaces the newest verifier only", rotationReplacesNewest},
		{"of parallel rotations exactly one happens", oneRotation},
		{"the open intent is kept and cleared", intentIsKept},
		{"a family ends alone, or all of a user together", deletedFamily},
		{"any device description is stored", anyDevice},
	}
}

func (e *env) family(db *store.DB, selector byte, userID string) auth.RememberToken {
	e.Helper()
	t := auth.RememberToken{
		Selector: hash(selector)[:16], UserID: userID, Verifier: hash(1), Binding: hash(9),
		Device: "Firefox", Address: "192.0.2.1",
		Created: e.now, Rotated: e.now, Expires: e.now.Add(720 * time.Hour),
	}
	e.must(db.RememberTokens().Create(e.ctx, t))
	return t
}

func familyIsFound(t *testing.T, e *env, db *store.DB) {
	want := e.family(db, 1, "7")
	got, err := db.RememberTokens().Find(e.ctx, want.Selector)
	e.must(err)
	e.equal(want, got)
	e.notFound(errOf(db.RememberTokens().Find(e.ctx, hash(2)[:16])))
}

func rotationReplacesNewest(t *testing.T, e *env, db *store.DB) {
	want := e.family(db, 1, "7")
	old := want.Verifier
	want.Verifier, want.Previous, want.Nonce = hash(2), old, hash(5)
	want.Rotated, want.Expires = e.now.Add(time.Hour), e.now.Add(721*time.Hour)
	want.Device, want.Address = "Firefox 2", "192.0.2.2"
	if ok, err := db.RememberTokens().Rotate(e.ctx, want, old); err != nil || !ok {
		t.Fatalf("rotate: %v, %v", ok, err)
	}
	replay := want
	replay.Verifier = hash(3)
	if ok, err := db.RememberTokens().Rotate(e.ctx, replay, old); err != nil || ok {
		t.Fatalf("rotate from an old verifier: %v, %v", ok, err)
	}
	got, err := db.RememberTokens().Find(e.ctx, want.Selector)
	e.must(err)
	e.equal(want, got)
}

func oneRotation(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	token := e.family(db, 1, "7")
	n := e.wins(pools, func(i int, db *store.DB) (bool, error) {
		next := token
		next.Verifier, next.Previous = hash(100, byte(i)), token.Verifier
		return db.RememberTokens().Rotate(e.ctx, next, token.Verifier)
	})
	if n != 1 {
		t.Fatalf("%d rotations happened, want 1", n)
	}
}

func intentIsKept(t *testing.T, e *env, db *store.DB) {
	token := e.family(db, 1, "7")
	for _, intent := range [][]byte{[]byte(`{"id":"1"}`), nil} {
		e.must(db.RememberTokens().SetIntent(e.ctx, token.Selector, intent))
		got, err := db.RememberTokens().Find(e.ctx, token.Selector)
		e.must(err)
		e.equal(intent, got.Intent)
	}
}

func deletedFamily(_ *testing.T, e *env, db *store.DB) {
	one, two, three, other := e.family(db, 1, "7"), e.family(db, 2, "7"), e.family(db, 3, "7"), e.family(db, 4, "77")
	for range 2 { // that there is none is no error
		e.must(db.RememberTokens().Delete(e.ctx, one.Selector))
	}
	e.notFound(errOf(db.RememberTokens().Find(e.ctx, one.Selector)))
	e.must(errOf(db.RememberTokens().Find(e.ctx, two.Selector)))
	e.must(db.RememberTokens().DeleteUser(e.ctx, "7"))
	e.notFound(errOf(db.RememberTokens().Find(e.ctx, two.Selector)))
	e.notFound(errOf(db.RememberTokens().Find(e.ctx, three.Selector)))
	e.must(errOf(db.RememberTokens().Find(e.ctx, other.Selector)))
}

func anyDevice(t *testing.T, e *env, db *store.DB) {
	for i, device := range []string{"", "nul\x00", "bad\xff", strings.Repeat("é", 400), "𝒳 🙂"} {
		token := auth.RememberToken{
			Selector: hash(byte(i))[:16], UserID: "7", Verifier: hash(1), Binding: hash(9),
			Device: device, Address: strings.Repeat("9", 200), Created: e.now, Rotated: e.now, Expires: e.now,
		}
		if err := db.RememberTokens().Create(e.ctx, token); err != nil {
			t.Errorf("device %.10q: %v", device, err)
		}
	}
}
