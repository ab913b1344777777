package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func invitationRules() []rule {
	return []rule{
		{"an issued invitation is found and not consumed", invitationIsFound},
		{"an invitation and a reset token of one user leave each other alone", invitationBesideReset},
		{"what the application does to its own table leaves an invitation open", invitationOutlivesStock},
		{"only the newest invitation of a user is valid", newestInvitation},
		{"an expired or unknown invitation or another address finds nothing", wrongInvitation},
		{"a password or an address changed otherwise ends the invitation", changedUserEndsInvitation},
		{"a disabled user claims nothing", disabledUserClaimsNothing},
		{"a claimed invitation is gone, and won again by the same request", claimedInvitation},
		{"a claim of an invitation that is rolled back leaves it usable", rolledBackInvitation},
		{"of parallel claims of an invitation over several hosts exactly one is won", exactlyOneInvitation},
		{"an ended invitation is gone, and used ones stay", endedInvitations},
		{"invitations are swept an hour after their end", sweptInvitations},
	}
}

// noPassword is in the column of a person who has set none.
const noPassword = "!"

// invited is a person without a password who has an invitation.
func (e *env) invited(db *store.DB, h []byte) (auth.User, auth.ResetToken) {
	e.Helper()
	u, err := db.AddUser(e.ctx, "Ada@example.com", "Ada", noPassword)
	e.must(err)
	return u, e.invite(db, u, h)
}

func (e *env) invite(db *store.DB, u auth.User, h []byte) auth.ResetToken {
	e.Helper()
	token := auth.ResetToken{Hash: h, UserID: u.ID, Email: u.Email, Created: e.now}
	e.must(db.Invitations().Issue(e.ctx, token))
	return token
}

// accept checks whether a claim of an invitation is won.
func (e *env) accept(ctx context.Context, db *store.DB, token auth.ResetToken, by string, want bool) {
	e.Helper()
	if won, err := db.Invitations().Claim(ctx, token, by, e.now); err != nil || won != want {
		e.Errorf("claim by %s: %v, %v; want %v", by, won, err, want)
	}
}

func invitationIsFound(_ *testing.T, e *env, db *store.DB) {
	_, token := e.invited(db, hash(1))
	for range 3 {
		got, err := db.Invitations().Find(e.ctx, "ada@EXAMPLE.com", token.Hash, e.now.Add(-time.Second))
		e.must(err)
		e.equal(token, got)
	}
	e.notFound(errOf(db.ResetTokens().Find(e.ctx, token.Email, token.Hash, time.Time{})))
	e.claim(e.ctx, db, token, "reset", false)
}

// Somebody who asks for a link to a new password does not end the invitation, and the first of
// both that is used ends the other.
func invitationBesideReset(_ *testing.T, e *env, db *store.DB) {
	u, invitation := e.invited(db, hash(1))
	reset := e.issue(db, u, hash(2))
	e.must(errOf(db.Invitations().Find(e.ctx, u.Email, invitation.Hash, time.Time{})))
	e.must(errOf(db.ResetTokens().Find(e.ctx, u.Email, reset.Hash, time.Time{})))
	e.claim(e.ctx, db, reset, "one", true)
	e.must(db.Users().SetPassword(e.ctx, u.ID, "set", "t"))
	e.notFound(errOf(db.Invitations().Find(e.ctx, u.Email, invitation.Hash, time.Time{})))
	e.accept(e.ctx, db, invitation, "two", false)
}

func invitationOutlivesStock(_ *testing.T, e *env, db *store.DB) {
	u, token := e.invited(db, hash(1))
	e.counts(db, 0, `SELECT COUNT(*) FROM password_reset_tokens`)
	e.sql(db, `DELETE FROM password_reset_tokens`)
	e.must(errOf(db.Invitations().Find(e.ctx, u.Email, token.Hash, time.Time{})))
}

func newestInvitation(_ *testing.T, e *env, db *store.DB) {
	u, first := e.invited(db, hash(1))
	second := e.invite(db, u, hash(2))
	e.notFound(errOf(db.Invitations().Find(e.ctx, u.Email, first.Hash, time.Time{})))
	e.accept(e.ctx, db, first, "one", false)
	e.accept(e.ctx, db, second, "one", true)
}

func wrongInvitation(_ *testing.T, e *env, db *store.DB) {
	u, token := e.invited(db, hash(1))
	e.user(db, "bob@example.com")
	for name, c := range map[string]struct {
		email string
		hash  []byte
		since time.Time
	}{
		"expired":         {u.Email, token.Hash, e.now},
		"unknown":         {u.Email, hash(2), time.Time{}},
		"empty":           {u.Email, nil, time.Time{}},
		"another address": {"bob@example.com", token.Hash, time.Time{}},
		"no address":      {"\x00", token.Hash, time.Time{}},
	} {
		e.notFound(errOf(db.Invitations().Find(e.ctx, c.email, c.hash, c.since)), name)
	}
}

func changedUserEndsInvitation(_ *testing.T, e *env, db *store.DB) {
	u, token := e.invited(db, hash(1))
	e.must(db.Users().SetPassword(e.ctx, u.ID, "set by the operator", "t"))
	e.accept(e.ctx, db, token, "late", false)
	e.must(db.Users().SetPassword(e.ctx, u.ID, noPassword, "t"))
	e.must(db.Users().SetColumns(e.ctx, u.ID, map[string]any{"email": "lovelace@example.com"}))
	e.accept(e.ctx, db, token, "late", false)
}

func disabledUserClaimsNothing(_ *testing.T, e *env, db *store.DB) {
	u, token := e.invited(db, hash(1))
	e.must(db.SetDisabled(e.ctx, u.ID, true))
	e.accept(e.ctx, db, token, "one", false)
	e.must(db.SetDisabled(e.ctx, u.ID, false))
	e.accept(e.ctx, db, token, "two", true)
}

func claimedInvitation(_ *testing.T, e *env, db *store.DB) {
	u, token := e.invited(db, hash(1))
	for range 2 {
		e.accept(e.ctx, db, token, "request", true)
	}
	e.accept(e.ctx, db, token, "another", false)
	e.notFound(errOf(db.Invitations().Find(e.ctx, u.Email, token.Hash, time.Time{})))
}

func rolledBackInvitation(_ *testing.T, e *env, db *store.DB) {
	_, token := e.invited(db, hash(1))
	e.rollBack(db, func(ctx context.Context) { e.accept(ctx, db, token, "one", true) })
	e.accept(e.ctx, db, token, "two", true)
}

func exactlyOneInvitation(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	u, _ := e.invited(db, hash(1))
	for round := range rounds() {
		token := e.invite(db, u, hash(byte(round), 7))
		n := e.wins(pools, func(i int, db *store.DB) (bool, error) {
			return db.Invitations().Claim(e.ctx, token, numbered("request-%d", i), e.now)
		})
		if n != 1 {
			t.Fatalf("round %d: %d claims were won, want 1", round, n)
		}
	}
}

func endedInvitations(_ *testing.T, e *env, db *store.DB) {
	u, used := e.invited(db, hash(1))
	e.accept(e.ctx, db, used, "request", true)
	open := e.invite(db, u, hash(2))
	e.must(db.EndInvitations(e.ctx, u.ID))
	e.accept(e.ctx, db, open, "late", false)
	e.accept(e.ctx, db, used, "request", true)
}

func sweptInvitations(_ *testing.T, e *env, db *store.DB) {
	e.invited(db, hash(1))
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{7 * day, 1}, {7*day + time.Hour, 0}} {
		e.must(errOf(db.Sweep(e.ctx, e.now.Add(step.after), store.Retention{})))
		e.counts(db, step.left, `SELECT COUNT(*) FROM vestibule_invitations`)
	}
}
