package storetest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func adminRules() []rule {
	return []rule{
		{"an address is taken in any case", addressIsTaken},
		{"of parallel additions of one address one succeeds", oneAddition},
		{"users are listed in pages", usersInPages},
		{"disabling ends sessions and devices and is undone by enabling", disabling},
		{"disabling nobody is not found", disablingNobody},
		{"everybody is signed out in limited steps", signingEverybodyOut},
		{"a condition over the columns keeps people out wherever they are read", inactive},
		{"every table that grows is swept", everythingSwept},
		{"mail that waits to be sent is never swept", unsentMailStays},
		{"a backup is made, or the error names the tool that does", backsUp},
	}
}

func addressIsTaken(t *testing.T, e *env, db *store.DB) {
	e.user(db, "Ada@example.com")
	e.user(db, "JÖRG@example.com")
	for _, email := range []string{"Ada@example.com", "ada@EXAMPLE.com", "jörg@example.com"} {
		if _, err := db.AddUser(e.ctx, email, "", "x"); !errors.Is(err, store.ErrTaken) {
			t.Errorf("%s: %v, want taken", email, err)
		}
	}
	e.user(db, "ada@example.org")
}

func oneAddition(_ *testing.T, e *env, db *store.DB) { e.oneAddition(db) }

// The table of the application has no key that would refuse a second spelling.
func oneAdditionWithoutKey(_ *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE users (id `+typesOf(db).counted+`, email VARCHAR(80), password VARCHAR(60))`)
	e.migrate(db)
	e.oneAddition(db)
}

// oneAddition adds each of several addresses from several hosts at once, in
// different cases.
func (e *env) oneAddition(db *store.DB) {
	e.Helper()
	pools := []*store.DB{db, e.pool(), e.pool()}
	const addresses = 5 // the first finds pools without connections, where calls come one after another
	for round := range addresses {
		n := e.wins(pools, func(i int, db *store.DB) (bool, error) {
			name := []byte("adalovelace")
			name[i%len(name)] -= 'a' - 'A'
			_, err := db.AddUser(e.ctx, string(name)+numbered("@%d.example.com", round), "", "x")
			if errors.Is(err, store.ErrTaken) {
				return false, nil
			}
			return true, err
		})
		if n != 1 {
			e.Errorf("%d additions succeeded, want 1", n)
		}
	}
	e.counts(db, addresses, `SELECT COUNT(*) FROM users`)
}

func usersInPages(t *testing.T, e *env, db *store.DB) {
	want := []string{"1@example.com", "2@example.com", "3@example.com", "4@example.com", "5@example.com"}
	for _, email := range want {
		u := e.user(db, email)
		if email == want[1] {
			e.must(db.SetDisabled(e.ctx, u.ID, true))
		}
	}
	var got []string
	after := ""
	for range 4 {
		page, err := db.ListUsers(e.ctx, after, 2)
		e.must(err)
		for _, u := range page {
			if u.Disabled != (u.Email == want[1]) {
				t.Errorf("%s: disabled is %v", u.Email, u.Disabled)
			}
			got, after = append(got, u.Email), u.ID
		}
	}
	e.equal(want, got)
}

func disabling(t *testing.T, e *env, db *store.DB) {
	u, other := e.user(db, "ada@example.com"), e.user(db, "bob@example.com")
	mine, others := e.session(db, e.record(1, u.ID)), e.session(db, e.record(2, other.ID))
	d := e.device(db, 9, u.ID)
	for range 2 {
		e.must(db.SetDisabled(e.ctx, u.ID, true))
	}
	if e.lives(db, mine) || !e.lives(db, others) {
		t.Error("wrong sessions ended")
	}
	e.notFound(errOf(db.Devices().Find(e.ctx, d.Selector)))
	for _, disabled := range []bool{true, false} {
		e.must(db.SetDisabled(e.ctx, u.ID, disabled))
		got, err := db.Users().FindByLogin(e.ctx, "email", u.Email)
		if err != nil || got.Disabled != disabled {
			t.Errorf("disabled is %v, %v; want %v", got.Disabled, err, disabled)
		}
		if got, err := db.Users().FindByID(e.ctx, other.ID); err != nil || got.Disabled {
			t.Errorf("the other user: %v, %v", got.Disabled, err)
		}
	}
}

// inactive reads five hundred and more people at a time, too.
func inactive(t *testing.T, e *env, db *store.DB) {
	ada, bob := e.user(db, "ada@example.com"), e.user(db, "bob@example.com")
	e.must(db.SetDisabled(e.ctx, bob.ID, true))
	link := auth.ResetToken{Hash: []byte("0123456789abcdef0123456789abcdef"), UserID: ada.ID, Email: ada.Email, Created: e.now}
	e.must(db.ResetTokens().Issue(e.ctx, link))
	db = db.With(store.Settings{Active: func(columns map[string]any, _ time.Time) bool { return columns["email"] != ada.Email }})
	ids := []string{ada.ID, "4711", "x"}
	for len(ids) < 520 {
		ids = append(ids, bob.ID)
	}
	for _, in := range []func(func(context.Context) error) error{
		func(f func(context.Context) error) error { return f(e.ctx) },
		func(f func(context.Context) error) error { return db.InTx(e.ctx, f) },
	} {
		e.must(in(func(ctx context.Context) error {
			found, err := db.Users().FindAll(ctx, ids)
			states := map[string][2]bool{}
			for _, u := range found {
				states[u.ID] = [2]bool{u.Disabled, u.Inactive}
			}
			e.equal(map[string][2]bool{ada.ID: {false, true}, bob.ID: {true, false}}, states)
			return err
		}))
	}
	none, err := db.Users().FindAll(e.ctx, nil)
	if err != nil || len(none) > 0 {
		t.Errorf("of nobody: %v, %v", none, err)
	}
	e.must(db.InTx(e.ctx, func(ctx context.Context) error {
		locked, err := db.Users().Lock(ctx, ada.ID)
		if err == nil && locked.MaySignIn() {
			t.Error("locked, she may sign in")
		}
		return err
	}))
	if won, err := db.ResetTokens().Claim(e.ctx, link, "somebody", e.now); err != nil || won {
		t.Errorf("her link sets a password: %v, %v", won, err)
	}
	if !e.find(db.With(store.Settings{}), ada.ID).MaySignIn() {
		t.Error("without a condition she may not sign in")
	}
}

func disablingNobody(t *testing.T, e *env, db *store.DB) {
	for _, id := range []string{"4711", "x"} {
		e.notFound(db.SetDisabled(e.ctx, id, true), id)
	}
}

func signingEverybodyOut(t *testing.T, e *env, db *store.DB) {
	ada, bob := e.user(db, "ada@example.com"), e.user(db, "bob@example.com")
	for i := range byte(3) {
		e.session(db, e.record(1+i, ada.ID))
		e.session(db, e.record(11+i, bob.ID))
		e.device(db, 21+i, bob.ID)
	}
	type step struct{ Devices, Sessions int }
	var got []step
	for {
		devices, sessions, err := db.RevokeSome(e.ctx, 2)
		e.must(err)
		if devices+sessions == 0 {
			break
		}
		got = append(got, step{devices, sessions})
	}
	e.equal([]step{{Devices: 2}, {Devices: 1}, {Sessions: 2}, {Sessions: 2}, {Sessions: 2}}, got)
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_sessions`)
	e.counts(db, 0, `SELECT COUNT(*) FROM vestibule_remember_tokens`)
	if got, err := db.Users().FindByID(e.ctx, ada.ID); err != nil || got.Disabled {
		t.Errorf("the people themselves: disabled %t, %v", got.Disabled, err)
	}
}

func everythingSwept(t *testing.T, e *env, db *store.DB) {
	fill := func() {
		u, err := db.Users().FindByLogin(e.ctx, "email", "ada@example.com")
		e.must(err)
		first := byte(e.now.Unix())
		e.session(db, auth.SessionRow{Hash: hash(first), Created: e.now, Seen: e.now, Expires: e.now.Add(time.Hour)})
		e.hit(db, login, e.now, 1, e.now.Add(window))
		e.device(db, first, u.ID)
		e.issue(db, u, hash(first))
		e.enqueue(db, u.ID)
		m := e.lease(db, e.now)
		e.must(db.Outbox().Bury(e.ctx, m, e.now, "no"))
	}
	e.user(db, "ada@example.com")
	fill()
	e.sql(db, `UPDATE vestibule_reset_claims SET used_by = 'x'`) // Issue would replace it otherwise
	start := e.now
	e.now = e.now.Add(40*24*time.Hour + time.Second)
	fill()
	if n, err := db.Sweep(e.ctx, start.Add(time.Second), store.Retention{}); err != nil || n != 0 {
		t.Errorf("swept %d rows that were still needed, %v", n, err)
	}
	if n, err := db.Sweep(e.ctx, e.now, store.Retention{Idle: 2 * time.Hour}); err != nil || n != 4 {
		t.Errorf("swept %d, %v; want one of session, device, claim and mail", n, err)
	}
	for _, table := range []string{"sessions", "counters", "remember_tokens", "reset_claims", "outbox"} {
		e.counts(db, 1, `SELECT COUNT(*) FROM vestibule_`+table)
	}
	e.counts(db, 1, `SELECT COUNT(*) FROM password_reset_tokens`)
	if n, err := db.Sweep(e.ctx, e.now.Add(window), store.Retention{}); err != nil || n != 1 {
		t.Errorf("swept %d, %v; want the counter", n, err)
	}
}

// However long the mail server is away, what it has not taken is kept: mail that
// was never tried, mail to be repeated, and mail that a host is sending.
func unsentMailStays(_ *testing.T, e *env, db *store.DB) {
	for range 3 {
		e.enqueue(db, "7")
	}
	m := e.lease(db, e.now)
	e.must(db.Outbox().Retry(e.ctx, m, e.now.Add(time.Minute), "no answer"))
	e.lease(db, e.now)
	e.must(errOf(db.Sweep(e.ctx, e.now.Add(365*24*time.Hour), store.Retention{})))
	e.counts(db, 3, `SELECT COUNT(*) FROM vestibule_outbox`)
}

func backsUp(t *testing.T, e *env, db *store.DB) {
	file := filepath.Join(t.TempDir(), "copy.db")
	if db.Engine() != "sqlite" {
		if err := db.Backup(e.ctx, file); err == nil || !strings.Contains(err.Error(), "dump") {
			t.Fatalf("%v", err)
		}
		return
	}
	e.must(db.Backup(e.ctx, file))
	if err := db.Backup(e.ctx, file); err == nil || !strings.Contains(err.Error(), file) {
		t.Fatalf("second backup into one file: %v", err)
	}
}
