package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/vestibule-dev/vestibule/host/auth"
)

// resetTokens is the auth.ResetTokens. The stock table says which token of an
// address is the newest; the table of claims, whose it is and who used it.
type resetTokens struct{ *DB }

// fingerprint changes when the user's password or address does.
func fingerprint(passwordHash, email string) []byte {
	sum := sha256.Sum256([]byte(passwordHash + "\x00" + email))
	return sum[:]
}

// Issue replaces whatever token the address has.
func (r resetTokens) Issue(ctx context.Context, t auth.ResetToken) error {
	err := r.InTx(ctx, func(ctx context.Context) error {
		user, err := users{r.DB}.findLocked(ctx, t.UserID)
		if err != nil {
			return err
		}
		// The lock on the user keeps two hosts from both inserting. The unused claims
		// of the user go; the used ones are kept for retries, see Claim.
		if _, err := r.exec(ctx, `DELETE FROM vestibule_reset_claims WHERE user_id = ? AND used_by IS NULL`, t.UserID); err != nil {
			return err
		}
		if _, err := r.exec(ctx, `DELETE FROM `+resetTable+` WHERE email = ?`, t.Email); err != nil {
			return err
		}
		_, err = r.exec(ctx, `INSERT INTO `+resetTable+` (email, token, created_at) VALUES (?, ?, ?)`,
			t.Email, hex.EncodeToString(t.Hash), r.dialect.Time(t.Created.UTC().Truncate(time.Second)))
		if err != nil {
			return err
		}
		_, err = r.exec(ctx, `INSERT INTO vestibule_reset_claims (token, user_id, email, fingerprint, created) VALUES (?, ?, ?, ?, ?)`,
			t.Hash, t.UserID, t.Email, fingerprint(user.Password, t.Email), ms(t.Created))
		return err
	})
	if err != nil {
		return fmt.Errorf("issue reset token: %w", err)
	}
	return nil
}

// Find returns the token as long as it can be used.
func (r resetTokens) Find(ctx context.Context, email string, hash []byte, since time.Time) (auth.ResetToken, error) {
	var row struct {
		UserID      string `db:"user_id"`
		Email       string
		Fingerprint []byte
		Created     int64
	}
	ok, err := r.get(ctx, &row, `SELECT user_id, email, fingerprint, created FROM vestibule_reset_claims
		WHERE token = ? AND used_by IS NULL AND created > ?`, hash, ms(since))
	if err != nil {
		return auth.ResetToken{}, fmt.Errorf("find reset token: %w", err)
	}
	if !ok || fold(row.Email) != fold(email) {
		return auth.ResetToken{}, auth.ErrNotFound
	}
	// Whoever empties the stock table, as the application may, ends its tokens.
	var stock struct{ N int64 }
	_, err = r.get(ctx, &stock, `SELECT COUNT(*) AS n FROM `+resetTable+` WHERE email = ? AND token = ?`,
		row.Email, hex.EncodeToString(hash))
	if err != nil {
		return auth.ResetToken{}, fmt.Errorf("find reset token: %w", err)
	}
	user, err := users{r.DB}.FindByID(ctx, row.UserID)
	if err != nil {
		return auth.ResetToken{}, err
	}
	if stock.N == 0 || string(fingerprint(user.Password, user.Email)) != string(row.Fingerprint) {
		return auth.ResetToken{}, auth.ErrNotFound
	}
	return auth.ResetToken{Hash: hash, UserID: row.UserID, Email: row.Email, Created: fromMS(row.Created)}, nil
}

// Claim uses the token for the request by. The password and the address are
// compared once more, with the user's row locked, unless the request has the
// token already: its first try may have changed them and lost the answer.
func (r resetTokens) Claim(ctx context.Context, t auth.ResetToken, by string, now time.Time) (bool, error) {
	won := false
	err := r.InTx(ctx, func(ctx context.Context) error {
		user, err := users{r.DB}.findLocked(ctx, t.UserID)
		if errors.Is(err, auth.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := r.exec(ctx, `UPDATE vestibule_reset_claims SET used_by = ?, used_at = ?
			WHERE token = ? AND user_id = ? AND (used_by = ? OR (used_by IS NULL AND fingerprint = ?))`,
			clip(by, 255), ms(now), t.Hash, t.UserID, clip(by, 255), fingerprint(user.Password, user.Email))
		if err != nil || n == 0 {
			return err
		}
		won = true
		_, err = r.exec(ctx, `DELETE FROM `+resetTable+` WHERE email = ? AND token = ?`, t.Email, hex.EncodeToString(t.Hash))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim reset token: %w", err)
	}
	return won, nil
}
