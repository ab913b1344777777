package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/keyring"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func sessionRules() []rule {
	return []rule{
		{"a session is found as it was created", sessionIsFound},
		{"a session is found with its user", sessionIsFoundWithItsUser},
		{"of many sessions those are found that there are", sessionsAreFound},
		{"a person's sessions are listed, the last seen first", userSessions},
		{"a row of the release before has neither state nor format", rowWithoutState},
		{"an update adds one to the version", updateAddsVersion},
		{"of two updates of one version the second is refused", lostUpdate},
		{"a late save does not revive a deleted session", noRevival},
		{"a touch moves the time and nothing else", touchMovesTime},
		{"a touch of many moves the time of those that are behind, and revives none", touchTogether},
		{"touches of many by several hosts and sign-outs do not block each other", touchTogetherAtOnce},
		{"the sessions of a user or a device end together", endTogether},
		{"expired and idle sessions are swept in batches", expiredSwept},
		{"the operator sees who is signed in where", sessionsListed},
		{"revoking a session ends its device", revokeTakesDevice},
		{"a prefix that fits several or none is refused", revokeAmbiguous},
		{"hosts agree on the keys of guests, and keep the last two", guestKeys},
		{"hosts agree on the keys of assertions, and delete those that have rested", signingKeys},
	}
}

// guestKeys has three hosts change the keys at the same moment, three times.
func guestKeys(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	var before keyring.Key
	for round := range 3 {
		created := e.now.Add(time.Duration(round) * 30 * 24 * time.Hour)
		results := make([][]keyring.Key, callers)
		e.wins(pools, func(i int, db *store.DB) (bool, error) {
			var err error
			fresh := keyring.Key{Created: created, Secret: hash(byte(round*callers + i))}
			results[i], err = db.GuestKeys().CurrentKeys(e.ctx, fresh, 30*24*time.Hour, 30*24*time.Hour)
			return err == nil, err
		})
		for _, keys := range results {
			if diff := cmp.Diff(results[0], keys); diff != "" {
				t.Fatalf("round %d: hosts disagree: %s", round, diff)
			}
		}
		if got := results[0]; len(got) != min(round+1, 2) || !got[0].Created.Equal(created) || round > 0 && !bytes.Equal(got[1].Secret, before.Secret) {
			t.Fatalf("round %d: keys %v, want the new one and the last", round, got)
		}
		before = results[0][0]
	}
	var n int
	e.must(db.Reader().Get(&n, "SELECT COUNT(*) FROM vestibule_guest_keys"))
	if n != 2 {
		t.Errorf("%d keys are kept, want 2", n)
	}
}

func (e *env) record(first byte, userID string) auth.SessionRow {
	return auth.SessionRow{
		Hash: hash(first), Version: 1, UserID: userID, Data: []byte{0, 1, 0xff},
		Created: e.now, Seen: e.now, Expires: e.now.Add(24 * time.Hour),
		UserAgent: "Firefox", Address: "192.0.2.1", State: "settled", Format: 1,
	}
}

func (e *env) session(db *store.DB, r auth.SessionRow) auth.SessionRow {
	e.Helper()
	e.must(db.Sessions().CreateSession(e.ctx, r))
	return r
}

// stored compares the session with what is stored.
func (e *env) stored(db *store.DB, want auth.SessionRow) {
	e.Helper()
	got, err := db.Sessions().FindSession(e.ctx, want.Hash)
	e.must(err)
	want.Created, want.UserAgent, want.Address = time.Time{}, "", ""
	e.equal(want, got)
}

// lives tells whether the session is stored.
func (e *env) lives(db *store.DB, r auth.SessionRow) bool {
	e.Helper()
	_, err := db.Sessions().FindSession(e.ctx, r.Hash)
	if err != nil && !errors.Is(err, auth.ErrSessionGone) {
		e.Fatal(err)
	}
	return err == nil
}

func sessionIsFound(t *testing.T, e *env, db *store.DB) {
	guest := e.session(db, e.record(1, ""))
	person := e.record(2, "7")
	person.Device = hash(3)[:16]
	person.Seen = e.now.Add(1234 * time.Millisecond)
	e.session(db, person)
	for _, want := range []auth.SessionRow{guest, person} {
		e.stored(db, want)
	}
	if e.lives(db, e.record(4, "")) {
		t.Error("found what was not created")
	}
	if err := db.Sessions().CreateSession(e.ctx, guest); err == nil {
		t.Error("one key was created twice")
	}
}

// ownedRows are session.OwnedRows.
type ownedRows interface {
	FindOwned(ctx context.Context, hash []byte, columns bool) (auth.SessionRow, *auth.User, error)
}

// owned returns the user of a session, which is the same as without, and whose identity is the same as that of the whole user.
func (e *env) owned(db *store.DB, r auth.SessionRow) *auth.User {
	e.Helper()
	rows, ok := db.Sessions().(ownedRows)
	if !ok {
		e.Fatal("sessions are read alone")
	}
	r.Created, r.UserAgent, r.Address = time.Time{}, "", ""
	owners := map[bool]*auth.User{}
	for _, columns := range []bool{false, true} {
		got, owner, err := rows.FindOwned(e.ctx, r.Hash, columns)
		e.must(err)
		e.equal(r, got)
		owners[columns] = owner
	}
	whole := owners[true]
	if whole != nil {
		identity := *whole
		identity.Columns = nil
		e.equal(&identity, owners[false])
	} else if owners[false] != nil {
		e.Errorf("there is no user, but the identity %v", owners[false])
	}
	return whole
}

func sessionIsFoundWithItsUser(t *testing.T, e *env, db *store.DB) {
	for i, id := range []string{"", "7", "7x", "x", "99999999999999999999999"} { // nobody's, or no key
		if owner := e.owned(db, e.session(db, e.record(byte(i), id))); owner != nil {
			t.Errorf("%q has the user %v", id, owner)
		}
	}
	ada, eve := e.user(db, "ada@example.com"), e.user(db, "eve@example.com")
	row := e.session(db, e.record(20, eve.ID))
	for range 2 { // the second time by a statement that is kept
		want := e.find(db, eve.ID)
		want.Password, want.DeviceSecret = "", ""
		e.equal(&want, e.owned(db, row))
		if !want.Disabled { // SetDisabled would end the session
			e.sql(db, `INSERT INTO vestibule_disabled_users (user_id, since) VALUES (?, 1)`, eve.ID)
		}
	}
	e.sql(db, `DELETE FROM users WHERE id = ?`, eve.ID)
	if owner := e.owned(db, row); owner != nil {
		t.Errorf("the user is gone, and yet %v", owner)
	}
	if owner := e.owned(db, e.session(db, e.record(21, ada.ID))); owner == nil || owner.Disabled {
		t.Errorf("another one is %v", owner)
	}
	if _, _, err := db.Sessions().(ownedRows).FindOwned(e.ctx, hash(22), true); !errors.Is(err, auth.ErrSessionGone) { //nolint:forcetypeassert // above
		t.Errorf("found what was not created: %v", err)
	}
}

func rowWithoutState(t *testing.T, e *env, db *store.DB) {
	r := e.record(1, "7")
	e.sql(db, `INSERT INTO vestibule_sessions (hash, version, user_id, device, data, created, seen, expires, user_agent, address)
		VALUES (?, 1, ?, NULL, ?, ?, ?, ?, ?, ?)`,
		r.Hash, r.UserID, r.Data, r.Created.UnixMilli(), r.Seen.UnixMilli(), r.Expires.UnixMilli(), r.UserAgent, r.Address)
	r.State, r.Format = "", 0
	e.stored(db, r)
	e.must(db.InTx(e.ctx, func(ctx context.Context) error { // not below the pool
		got, err := db.Sessions().FindSession(ctx, r.Hash)
		if got.State != "" || got.Format != 0 {
			t.Errorf("found %q in format %d", got.State, got.Format)
		}
		return err
	}))
	r.State, r.Format = "held", 1
	e.must(db.Sessions().UpdateSession(e.ctx, r))
	r.Version = 2
	e.stored(db, r)
}

func updateAddsVersion(t *testing.T, e *env, db *store.DB) {
	r := e.session(db, e.record(1, ""))
	r.UserID, r.Device, r.Data = "7", hash(3)[:16], []byte("new")
	e.must(db.Sessions().UpdateSession(e.ctx, r))
	r.Version = 2
	e.stored(db, r)
	r.Device, r.Data = nil, []byte("newer")
	e.must(db.Sessions().UpdateSession(e.ctx, r))
	r.Version = 3
	e.stored(db, r)
}

func lostUpdate(t *testing.T, e *env, db *store.DB) {
	first, second := e.session(db, e.record(1, "7")), e.record(1, "7")
	first.Data, second.Data = []byte("first"), []byte("second")
	e.must(db.Sessions().UpdateSession(e.ctx, first))
	if err := e.pool().Sessions().UpdateSession(e.ctx, second); !errors.Is(err, auth.ErrSessionGone) {
		t.Fatalf("update of an old version: %v", err)
	}
	first.Version = 2
	e.stored(db, first)
}

func noRevival(t *testing.T, e *env, db *store.DB) {
	r := e.session(db, e.record(1, "7"))
	for range 2 { // that there is none is no error
		e.must(db.Sessions().DeleteSession(e.ctx, r.Hash))
	}
	if err := db.Sessions().UpdateSession(e.ctx, r); !errors.Is(err, auth.ErrSessionGone) {
		t.Errorf("update of a deleted session: %v", err)
	}
	e.must(db.Sessions().TouchSession(e.ctx, r.Hash, e.now.Add(time.Hour)))
	if e.lives(db, r) {
		t.Error("the session is back")
	}
}

func touchMovesTime(t *testing.T, e *env, db *store.DB) {
	r := e.session(db, e.record(1, "7"))
	r.Seen = e.now.Add(time.Minute)
	e.must(db.Sessions().TouchSession(e.ctx, r.Hash, r.Seen))
	e.must(db.Sessions().TouchSession(e.ctx, r.Hash, e.now)) // by a host whose clock is behind
	e.stored(db, r)
}

// togetherRows are sessions of which one statement touches several, session.TogetherRows.
type togetherRows interface {
	TouchSessions(ctx context.Context, hashes [][]byte, seen time.Time) error
}

func (e *env) touchAll(db *store.DB, hashes [][]byte, seen time.Time) error {
	e.Helper()
	rows, ok := db.Sessions().(togetherRows)
	if !ok {
		e.Fatal("sessions are touched one by one")
	}
	return rows.TouchSessions(e.ctx, hashes, seen)
}

// touchTogether touches more sessions than one statement takes, among them a deleted one, one that was seen later, and one
// that was seen ahead.
func touchTogether(_ *testing.T, e *env, db *store.DB) {
	var all []auth.SessionRow
	var hashes [][]byte
	for i := range 600 {
		r := e.record(1, "7")
		r.Hash = hash(1, byte(i), byte(i>>8))
		switch i {
		case 1:
			r.Seen = e.now.Add(2 * time.Minute)
		case 2:
			r.Seen = e.now.Add(day)
		}
		all, hashes = append(all, e.session(db, r)), append(hashes, r.Hash)
	}
	e.must(db.Sessions().DeleteSession(e.ctx, hashes[0]))
	seen := e.now.Add(time.Minute)
	e.must(e.touchAll(db, hashes, seen))
	e.must(e.touchAll(db, nil, seen))
	if e.lives(db, all[0]) {
		e.Error("the deleted session is back")
	}
	e.stored(db, all[1])
	for _, r := range all[2:] {
		r.Seen = seen
		e.stored(db, r)
	}
}

// touchTogetherAtOnce lets hosts touch the same sessions in different orders while their people leave.
func touchTogetherAtOnce(_ *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	var hashes [][]byte
	for i := range 100 {
		r := e.record(1, numbered("%d", i%20))
		r.Hash = hash(1, byte(i))
		hashes = append(hashes, e.session(db, r).Hash)
	}
	for round := range 5 {
		seen := e.now.Add(time.Duration(round+1) * time.Minute)
		e.together(8, pools, func(i int, db *store.DB) error {
			if i == 0 {
				return db.Sessions().DeleteUserSessions(e.ctx, numbered("%d", round))
			}
			mine := slices.Clone(hashes)
			if i%2 == 0 {
				slices.Reverse(mine)
			}
			return e.touchAll(db, mine, seen)
		})
		for i, hash := range hashes {
			r, err := db.Sessions().FindSession(e.ctx, hash)
			if ended := i%20 <= round; ended != errors.Is(err, auth.ErrSessionGone) || !ended && !r.Seen.Equal(seen) {
				e.Fatalf("round %d, session %d: seen %v, %v", round, i, r.Seen, err)
			}
		}
	}
}

func endTogether(t *testing.T, e *env, db *store.DB) {
	device := hash(9)[:16]
	guest, one, two, other := e.record(1, ""), e.record(2, "7"), e.record(3, "8"), e.record(4, "77")
	one.Device, two.Device = device, device
	for _, r := range []auth.SessionRow{guest, one, two, other} {
		e.session(db, r)
	}
	e.must(db.Sessions().DeleteUserSessions(e.ctx, "7"))
	if e.lives(db, one) || !e.lives(db, two) || !e.lives(db, other) || !e.lives(db, guest) {
		t.Error("wrong sessions ended with the user")
	}
	e.must(db.Sessions().DeleteDeviceSessions(e.ctx, device))
	if e.lives(db, two) || !e.lives(db, other) || !e.lives(db, guest) {
		t.Error("wrong sessions ended with the device")
	}
}

func userSessions(t *testing.T, e *env, db *store.DB) {
	one, two, over, idle, other := e.record(1, "7"), e.record(2, "7"), e.record(3, "7"), e.record(4, "7"), e.record(5, "77")
	one.Device = hash(9)[:16]
	two.Seen = e.now.Add(time.Second)
	over.Expires, idle.Seen = e.now, e.now.Add(-time.Hour)
	for _, r := range []auth.SessionRow{one, two, over, idle, other} {
		e.session(db, r)
	}
	bare := func(r auth.SessionRow) auth.SessionRow {
		r.Version, r.State, r.Format, r.Data = 0, "", 0, nil
		return r
	}
	for limit, want := range map[int][]auth.SessionRow{10: {bare(two), bare(one)}, 1: {bare(two)}} {
		got, err := db.Sessions().UserSessions(e.ctx, "7", e.now, e.now.Add(-time.Hour), limit)
		e.must(err)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%d at most (-want +got): %s", limit, diff)
		}
	}
}

func expiredSwept(t *testing.T, e *env, db *store.DB) {
	live, expired, idle := e.session(db, e.record(1, "7")), e.record(2, "7"), e.record(3, "7")
	expired.Expires = e.now.Add(-time.Second)
	idle.Seen = e.now.Add(-3 * time.Hour)
	e.session(db, expired)
	e.session(db, idle)
	for _, want := range []int{1, 1, 0} {
		if n, err := db.Sessions().DeleteExpiredSessions(e.ctx, e.now, e.now.Add(-2*time.Hour), 1); err != nil || n != want {
			t.Errorf("swept %d, %v; want %d", n, err, want)
		}
	}
	if !e.lives(db, live) || e.lives(db, expired) || e.lives(db, idle) {
		t.Error("wrong sessions swept")
	}
}

func sessionsListed(t *testing.T, e *env, db *store.DB) {
	guest, old, recent, over, other := e.record(1, ""), e.record(2, "7"), e.record(0xab, "7"), e.record(4, "7"), e.record(5, "8")
	recent.Seen, recent.Device = e.now.Add(time.Minute), hash(9)[:16]
	over.Expires = e.now
	for _, r := range []auth.SessionRow{guest, old, recent, over, other} {
		e.session(db, r)
	}
	created := e.now
	e.now = e.now.Add(time.Minute)
	got, err := db.ListSessions(e.ctx, "7", 10)
	e.must(err)
	want := []store.SessionInfo{
		{
			ID: "ab00000000000000", UserID: "7", UserAgent: "Firefox", Address: "192.0.2.1", Remembered: true,
			Created: created, Seen: recent.Seen, Expires: recent.Expires,
		},
		{
			ID: "0200000000000000", UserID: "7", UserAgent: "Firefox", Address: "192.0.2.1",
			Created: created, Seen: created, Expires: old.Expires,
		},
	}
	e.equal(want, got)
	if all, err := db.ListSessions(e.ctx, "", 10); err != nil || len(all) != 3 {
		t.Errorf("%d sessions of everybody, %v; want 3", len(all), err)
	}
	if one, err := db.ListSessions(e.ctx, "", 1); err != nil || len(one) != 1 {
		t.Errorf("%d sessions, %v; want 1", len(one), err)
	}
}

func revokeTakesDevice(t *testing.T, e *env, db *store.DB) {
	d := e.device(db, 9, "7")
	one, same, other := e.record(0xab, "7"), e.record(2, "7"), e.record(3, "7")
	one.Device, same.Device = d.Selector, d.Selector
	for _, r := range []auth.SessionRow{one, same, other} {
		e.session(db, r)
	}
	e.must(db.RevokeSession(e.ctx, "AB0000000000"))
	if e.lives(db, one) || e.lives(db, same) || !e.lives(db, other) {
		t.Error("wrong sessions revoked")
	}
	e.notFound(errOf(db.Devices().Find(e.ctx, d.Selector)))
}

func revokeAmbiguous(t *testing.T, e *env, db *store.DB) {
	one, two := e.record(1, "7"), e.record(1, "7")
	one.Hash, two.Hash = hash(1, 2, 3, 4, 5), hash(1, 2, 3, 4, 0x0f)
	e.session(db, one)
	e.session(db, two)
	for _, prefix := range []string{"", "0102", "010203040", "nothexadecimal", "0102030405000000000000000000000000000000000000000000000000000000ff00", "ffffffff"} {
		if err := db.RevokeSession(e.ctx, prefix); err == nil {
			t.Errorf("%q was revoked", prefix)
		}
	}
	if !e.lives(db, one) || !e.lives(db, two) {
		t.Fatal("a session is gone")
	}
	e.must(db.RevokeSession(e.ctx, "0102030405"))
	if e.lives(db, one) || !e.lives(db, two) {
		t.Fatal("wrong session revoked")
	}
	e.notFound(db.RevokeSession(e.ctx, "ffffffff"))
}

// sessionsAreFound asks for as many as one query, several, and none are about.
func sessionsAreFound(t *testing.T, e *env, db *store.DB) {
	const stored = 600
	var want []auth.SessionRow
	var asked [][]byte
	for i := range stored {
		r := e.record(0, "7")
		r.Hash = hash(2, byte(i), byte(i>>8))
		r.Seen = e.now.Add(time.Duration(i) * time.Second)
		if i%2 == 0 {
			e.session(db, r)
			want = append(want, auth.SessionRow{Hash: r.Hash, UserID: "7", Seen: r.Seen, Expires: r.Expires})
		}
		asked = append(asked, r.Hash)
	}
	for _, n := range []int{0, 1, 2, 8, 9, 65, 512, 513, stored} {
		got, err := db.Sessions().FindSessions(e.ctx, asked[:n])
		e.must(err)
		slices.SortFunc(got, func(a, b auth.SessionRow) int { return a.Seen.Compare(b.Seen) })
		if diff := cmp.Diff(want[:(n+1)/2], got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("of %d (-want +got): %s", n, diff)
		}
	}
}
