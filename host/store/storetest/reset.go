package storetest

import (
	"context"
	"encoding/hex"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

func resetRules() []rule {
	return []rule{
		{"an issued token is found and not consumed", issuedTokenIsFound},
		{"the stock table holds the hash of the token", stockTableHoldsHash},
		{"only the newest token of an address is valid", newestTokenOnly},
		{"an expired or unknown token or another address finds nothing", wrongTokenFindsNothing},
		{"a password changed otherwise ends the token", changedPasswordEndsToken},
		{"an address changed otherwise ends the token", changedAddressEndsToken},
		{"a password changed after the token was found ends it", changedInBetween},
		{"a token deleted from the stock table is ended", deletedStockRow},
		{"a rehash keeps open tokens valid", rehashKeepsToken},
		{"a claimed token is gone", claimedTokenIsGone},
		{"a repeated claim by the same request is won again", repeatedClaim},
		{"a claim that is rolled back leaves the token usable", rolledBackClaim},
		{"of parallel claims over several hosts exactly one is won", exactlyOneClaim},
	}
}

// issued is a person with an open token.
func (e *env) issued(db *store.DB, h []byte) (auth.User, auth.ResetToken) {
	e.Helper()
	u := e.user(db, "Ada@example.com")
	return u, e.issue(db, u, h)
}

func (e *env) issue(db *store.DB, u auth.User, h []byte) auth.ResetToken {
	e.Helper()
	token := auth.ResetToken{Hash: h, UserID: u.ID, Email: u.Email, Created: e.now}
	e.must(db.ResetTokens().Issue(e.ctx, token))
	return token
}

// claim checks whether a claim is won.
func (e *env) claim(ctx context.Context, db *store.DB, token auth.ResetToken, by string, want bool) {
	e.Helper()
	if won, err := db.ResetTokens().Claim(ctx, token, by, e.now); err != nil || won != want {
		e.Errorf("claim by %s: %v, %v; want %v", by, won, err, want)
	}
}

// ended checks that the token finds nothing.
func (e *env) ended(db *store.DB, token auth.ResetToken) {
	e.Helper()
	e.claim(e.ctx, db, token, "late", false)
}

func issuedTokenIsFound(t *testing.T, e *env, db *store.DB) {
	_, token := e.issued(db, hash(1))
	for range 3 {
		got, err := db.ResetTokens().Find(e.ctx, "ada@EXAMPLE.com", token.Hash, e.now.Add(-time.Second))
		e.must(err)
		e.equal(token, got)
	}
}

func stockTableHoldsHash(t *testing.T, e *env, db *store.DB) {
	_, token := e.issued(db, hash(0xab, 0xcd))
	e.counts(db, 1, `SELECT COUNT(*) FROM password_reset_tokens WHERE email = ? AND token = ? AND created_at IS NOT NULL`,
		token.Email, hex.EncodeToString(token.Hash))
}

func newestTokenOnly(t *testing.T, e *env, db *store.DB) {
	u, first := e.issued(db, hash(1))
	second := e.issue(db, u, hash(2))
	e.ended(db, first)
	e.must(errOf(db.ResetTokens().Find(e.ctx, u.Email, second.Hash, time.Time{})))
}

func wrongTokenFindsNothing(t *testing.T, e *env, db *store.DB) {
	u, token := e.issued(db, hash(1))
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
		_, err := db.ResetTokens().Find(e.ctx, c.email, c.hash, c.since)
		e.notFound(err, name)
	}
}

func changedPasswordEndsToken(_ *testing.T, e *env, db *store.DB) {
	u, token := e.issued(db, hash(1))
	e.must(db.Users().SetPassword(e.ctx, u.ID, "changed", "t"))
	e.ended(db, token)
}

func changedAddressEndsToken(_ *testing.T, e *env, db *store.DB) {
	u, token := e.issued(db, hash(1))
	e.must(db.Users().SetColumns(e.ctx, u.ID, map[string]any{"email": "lovelace@example.com"}))
	e.ended(db, token)
	token.Email = "lovelace@example.com"
	e.ended(db, token)
}

func changedInBetween(t *testing.T, e *env, db *store.DB) {
	u, token := e.issued(db, hash(1))
	found, err := db.ResetTokens().Find(e.ctx, token.Email, token.Hash, time.Time{})
	e.must(err)
	e.must(db.Users().SetPassword(e.ctx, u.ID, "changed", "t"))
	e.claim(e.ctx, db, found, "request", false)
}

func deletedStockRow(t *testing.T, e *env, db *store.DB) {
	_, token := e.issued(db, hash(1))
	e.sql(db, `DELETE FROM password_reset_tokens`)
	e.notFound(errOf(db.ResetTokens().Find(e.ctx, token.Email, token.Hash, time.Time{})))
}

func rehashKeepsToken(t *testing.T, e *env, db *store.DB) {
	u, token := e.issued(db, hash(1))
	e.must(db.Users().Rehash(e.ctx, u.ID, u.Password, "$argon2id$better"))
	if _, err := db.ResetTokens().Find(e.ctx, token.Email, token.Hash, time.Time{}); err != nil {
		t.Fatalf("find after rehash: %v", err)
	}
	e.claim(e.ctx, db, token, "request", true)
}

func claimedTokenIsGone(t *testing.T, e *env, db *store.DB) {
	_, token := e.issued(db, hash(1))
	e.claim(e.ctx, db, token, "request", true)
	e.ended(db, token)
	e.counts(db, 0, `SELECT COUNT(*) FROM password_reset_tokens`)
}

// The commit of the first try happened, and its answer was lost.
func repeatedClaim(t *testing.T, e *env, db *store.DB) {
	u, token := e.issued(db, hash(1))
	for range 2 {
		e.must(db.InTx(e.ctx, func(ctx context.Context) error {
			e.claim(ctx, db, token, "request", true)
			return db.Users().SetPassword(ctx, u.ID, "new", "t")
		}))
	}
	e.ended(db, token)
}

func rolledBackClaim(t *testing.T, e *env, db *store.DB) {
	_, token := e.issued(db, hash(1))
	e.rollBack(db, func(ctx context.Context) { e.claim(ctx, db, token, "one", true) })
	e.claim(e.ctx, db, token, "two", true)
}

func exactlyOneClaim(t *testing.T, e *env, db *store.DB) {
	pools := []*store.DB{db, e.pool(), e.pool()}
	u := e.user(db, "ada@example.com")
	for round := range rounds() {
		token := e.issue(db, u, hash(byte(round), 7))
		n := e.wins(pools, func(i int, db *store.DB) (bool, error) {
			return db.ResetTokens().Claim(e.ctx, token, numbered("request-%d", i), e.now)
		})
		if n != 1 {
			t.Fatalf("round %d: %d claims were won, want 1", round, n)
		}
	}
}

func oldResetTable(t *testing.T, e *env) {
	db := e.pool()
	e.sql(db, `CREATE TABLE password_reset_tokens (email VARCHAR(255) NOT NULL, token VARCHAR(255) NOT NULL, created_at TIMESTAMP NULL)`)
	e.sql(db, `INSERT INTO password_reset_tokens (email, token) VALUES ('Ada@example.com', '$2y$10$a'), ('Ada@example.com', '$2y$10$b'),
		('bob@example.com', '$2y$10$c')`)
	db = e.migrated()
	_, token := e.issued(db, hash(1))
	e.must(errOf(db.ResetTokens().Find(e.ctx, token.Email, token.Hash, time.Time{})))
	e.counts(db, 2, `SELECT COUNT(*) FROM password_reset_tokens`)
}
