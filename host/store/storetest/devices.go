package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func deviceRules() []rule {
	return []rule{
		{"a device is found as it was created", deviceIsFound},
		{"a person's devices are listed, the last used first", devicesListed},
		{"a rotation replaces the newest verifier only", rotationReplacesNewest},
		{"of parallel rotations exactly one happens", oneRotation},
		{"the open intent and the session values are kept and cleared", intentIsKept},
		{"a device ends alone, or all of a user together", deletedDevice},
		{"any user agent is stored", anyUserAgent},
	}
}

// device stores a device of the user.
func (e *env) device(db *store.DB, selector byte, userID string) auth.Device {
	e.Helper()
	d := auth.Device{
		Selector: hash(selector)[:16], UserID: userID, Verifier: hash(1), Binding: hash(9),
		UserAgent: "Firefox", Address: "192.0.2.1",
		Created: e.now, Rotated: e.now, Expires: e.now.Add(720 * time.Hour),
	}
	e.must(db.Devices().Create(e.ctx, d))
	return d
}

func deviceIsFound(t *testing.T, e *env, db *store.DB) {
	want := e.device(db, 1, "7")
	got, err := db.Devices().Find(e.ctx, want.Selector)
	e.must(err)
	e.equal(want, got)
	e.notFound(errOf(db.Devices().Find(e.ctx, hash(2)[:16])))
}

func devicesListed(_ *testing.T, e *env, db *store.DB) {
	one, two, _ := e.device(db, 1, "7"), e.device(db, 2, "7"), e.device(db, 3, "77")
	old := two.Verifier
	two.Verifier, two.Previous, two.Nonce, two.Rotated = hash(2), old, hash(5), e.now.Add(time.Second)
	e.must(errOf(db.Devices().Rotate(e.ctx, two, old)))
	for limit, want := range map[int][]auth.Device{10: {two, one}, 1: {two}} {
		got, err := db.Devices().List(e.ctx, "7", limit)
		e.must(err)
		e.equal(want, got)
	}
}

func rotationReplacesNewest(t *testing.T, e *env, db *store.DB) {
	want := e.device(db, 1, "7")
	old := want.Verifier
	want.Verifier, want.Previous, want.Nonce = hash(2), old, hash(5)
	want.Rotated, want.Expires = e.now.Add(time.Hour), e.now.Add(721*time.Hour)
	want.UserAgent, want.Address = "Firefox 2", "192.0.2.2"
	if ok, err := db.Devices().Rotate(e.ctx, want, old); err != nil || !ok {
		t.Fatalf("rotate: %v, %v", ok, err)
	}
	replay := want
	replay.Verifier = hash(3)
	if ok, err := db.Devices().Rotate(e.ctx, replay, old); err != nil || ok {
		t.Fatalf("rotate from an old verifier: %v, %v", ok, err)
	}
	got, err := db.Devices().Find(e.ctx, want.Selector)
	e.must(err)
	e.equal(want, got)
}

func oneRotation(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	d := e.device(db, 1, "7")
	n := e.wins(pools, func(i int, db *store.DB) (bool, error) {
		next := d
		next.Verifier, next.Previous = hash(100, byte(i)), d.Verifier
		return db.Devices().Rotate(e.ctx, next, d.Verifier)
	})
	if n != 1 {
		t.Fatalf("%d rotations happened, want 1", n)
	}
}

func intentIsKept(t *testing.T, e *env, db *store.DB) {
	d := e.device(db, 1, "7")
	for _, state := range [][2][]byte{{[]byte(`{"id":"1"}`), nil}, {nil, []byte(`{"p/v":{"i":1}}`)}, {nil, nil}} {
		e.must(db.Devices().SetState(e.ctx, d.Selector, state[0], state[1]))
		got, err := db.Devices().Find(e.ctx, d.Selector)
		e.must(err)
		e.equal(state, [2][]byte{got.Intent, got.Values})
	}
}

func deletedDevice(_ *testing.T, e *env, db *store.DB) {
	one, two, three, other := e.device(db, 1, "7"), e.device(db, 2, "7"), e.device(db, 3, "7"), e.device(db, 4, "77")
	for range 2 { // that there is none is no error
		e.must(db.Devices().Delete(e.ctx, one.Selector))
	}
	e.notFound(errOf(db.Devices().Find(e.ctx, one.Selector)))
	e.must(errOf(db.Devices().Find(e.ctx, two.Selector)))
	e.must(db.Devices().DeleteUser(e.ctx, "7"))
	e.notFound(errOf(db.Devices().Find(e.ctx, two.Selector)))
	e.notFound(errOf(db.Devices().Find(e.ctx, three.Selector)))
	e.must(errOf(db.Devices().Find(e.ctx, other.Selector)))
}

func anyUserAgent(t *testing.T, e *env, db *store.DB) {
	for i, agent := range []string{"", "nul\x00", "bad\xff", strings.Repeat("é", 400), "𝒳 🙂"} {
		d := auth.Device{
			Selector: hash(byte(i))[:16], UserID: "7", Verifier: hash(1), Binding: hash(9),
			UserAgent: agent, Address: strings.Repeat("9", 200), Created: e.now, Rotated: e.now, Expires: e.now,
		}
		if err := db.Devices().Create(e.ctx, d); err != nil {
			t.Errorf("user agent %.10q: %v", agent, err)
		}
	}
}
