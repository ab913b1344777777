package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// resetTokens implements auth.ResetTokens for reset tokens and for invitations. The table
// claims holds the user of each token and the request that used it.
type resetTokens struct {
	*DB
	claims string
	// stock is set for reset tokens: password_reset_tokens holds the newest one of each
	// address as well. An invitation would not survive there, since applications delete
	// rows that are older than their reset tokens.
	stock bool
}

const (
	resetClaims = "vestibule_reset_claims"
	invitations = "vestibule_invitations"
)

// fingerprint changes when the user's password or address does.
func fingerprint(passwordHash, email string) []byte {
	sum := sha256.Sum256([]byte(passwordHash + "\x00" + email))
	return sum[:]
}

// Issue replaces the token of the address, if it has one. The lock on the user's
// row keeps two hosts from both inserting; claims that were used are kept, see
// Claim.
func (r resetTokens) Issue(ctx context.Context, t auth.ResetToken) error {
	const what = "issue reset token"
	return r.InTx(ctx, func(ctx context.Context) error {
		user, err := r.Users().Lock(ctx, t.UserID)
		if err != nil {
			return failed(what, err)
		}
		if err := r.End(ctx, t.UserID); err != nil {
			return err
		}
		if err := r.issueStock(ctx, what, t); err != nil {
			return err
		}
		return r.run(ctx, what, `INSERT INTO `+r.claims+` (token, user_id, email, fingerprint, created) VALUES (?, ?, ?, ?, ?)`,
			t.Hash, t.UserID, t.Email, fingerprint(user.Password, t.Email), ms(t.Created))
	})
}

// issueStock replaces the token of the address in the stock table.
func (r resetTokens) issueStock(ctx context.Context, what string, t auth.ResetToken) error {
	if !r.stock {
		return nil
	}
	if err := r.run(ctx, what, `DELETE FROM `+resetTable+` WHERE email = ?`, t.Email); err != nil {
		return err
	}
	return r.run(ctx, what, `INSERT INTO `+resetTable+` (email, token, created_at) VALUES (?, ?, ?)`,
		t.Email, hex.EncodeToString(t.Hash), r.dialect.Time(t.Created.UTC().Truncate(time.Second)))
}

// Find returns the token as long as it can be used. Whoever empties the stock
// table, as the application may, ends its tokens.
func (r resetTokens) Find(ctx context.Context, email string, hash []byte, since time.Time) (auth.ResetToken, error) {
	var row struct {
		UserID      string `db:"user_id"`
		Email       string
		Fingerprint []byte
		Created     int64
	}
	err := r.get(ctx, auth.ErrNotFound, "find reset token", &row, `SELECT user_id, email, fingerprint, created FROM `+r.claims+`
		WHERE token = ? AND used_by IS NULL AND created > ?`, hash, ms(since))
	if err != nil {
		return auth.ResetToken{}, err
	}
	if r.stock {
		var stock []string
		err = r.list(ctx, "find reset token", &stock, `SELECT token FROM `+resetTable+` WHERE email = ? AND token = ?`,
			row.Email, hex.EncodeToString(hash))
		if err == nil && len(stock) == 0 {
			err = auth.ErrNotFound
		}
		if err != nil {
			return auth.ResetToken{}, err
		}
	}
	user, err := r.Users().FindByID(ctx, row.UserID)
	if err != nil {
		return auth.ResetToken{}, err
	}
	if fold(row.Email) != fold(email) || !bytes.Equal(row.Fingerprint, fingerprint(user.Password, user.Email)) {
		return auth.ResetToken{}, auth.ErrNotFound
	}
	return auth.ResetToken{Hash: hash, UserID: row.UserID, Email: row.Email, Created: fromMS(row.Created)}, nil
}

// Claim uses the token for the request by. The password and the address are
// compared once more, with the user's row locked, unless the request has the
// token already: its first try may have changed them and lost the answer.
func (r resetTokens) Claim(ctx context.Context, t auth.ResetToken, by string, now time.Time) (bool, error) {
	const what = "claim reset token"
	won := false
	err := r.InTx(ctx, func(ctx context.Context) error {
		user, err := r.Users().Lock(ctx, t.UserID)
		if err != nil {
			return failed(what, err)
		}
		if !user.MaySignIn() {
			return auth.ErrNotFound
		}
		n, err := r.exec(ctx, what, `UPDATE `+r.claims+` SET used_by = ?, used_at = ?
			WHERE token = ? AND user_id = ? AND (used_by = ? OR (used_by IS NULL AND fingerprint = ?))`,
			clip(by, 255), ms(now), t.Hash, t.UserID, clip(by, 255), fingerprint(user.Password, user.Email))
		if won = n == 1; !won || !r.stock {
			return err
		}
		return r.run(ctx, what, `DELETE FROM `+resetTable+` WHERE email = ? AND token = ?`, t.Email, hex.EncodeToString(t.Hash))
	})
	if errors.Is(err, auth.ErrNotFound) { // the user is gone, or was disabled
		return false, nil
	}
	return won && err == nil, err
}

// End ends the unused tokens of the user.
func (r resetTokens) End(ctx context.Context, userID string) error {
	return r.run(ctx, "end reset tokens", `DELETE FROM `+r.claims+` WHERE user_id = ? AND used_by IS NULL`, userID)
}
