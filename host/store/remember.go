package store

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// rememberTokens is the auth.RememberTokens.
type rememberTokens struct{ *DB }

type rememberRow struct {
	Selector, Verifier, Previous, Nonce, Binding, Intent []byte

	UserID                    string `db:"user_id"`
	Device, Address           string
	Created, Rotated, Expires int64
}

// Create stores a new family.
func (r rememberTokens) Create(ctx context.Context, t auth.RememberToken) error {
	return r.run(ctx, "create device token", `INSERT INTO vestibule_remember_tokens
		(selector, user_id, verifier, previous, nonce, binding, intent, device, address, created, rotated, expires)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.Selector, t.UserID, t.Verifier, orNull(t.Previous), orNull(t.Nonce), t.Binding, orNull(t.Intent),
		clip(t.Device, 255), clip(t.Address, 64), ms(t.Created), ms(t.Rotated), ms(t.Expires))
}

// Find returns the family.
func (r rememberTokens) Find(ctx context.Context, selector []byte) (auth.RememberToken, error) {
	var row rememberRow
	err := r.get(ctx, auth.ErrNotFound, "find device token", &row, `SELECT selector, user_id, verifier, previous, nonce, binding, intent,
		device, address, created, rotated, expires FROM vestibule_remember_tokens WHERE selector = ?`, selector)
	if err != nil {
		return auth.RememberToken{}, err
	}
	return auth.RememberToken{
		Selector: row.Selector, UserID: row.UserID, Verifier: row.Verifier, Previous: row.Previous,
		Nonce: row.Nonce, Binding: row.Binding, Intent: row.Intent, Device: row.Device, Address: row.Address,
		Created: fromMS(row.Created), Rotated: fromMS(row.Rotated), Expires: fromMS(row.Expires),
	}, nil
}

// Rotate replaces the verifier old.
func (r rememberTokens) Rotate(ctx context.Context, t auth.RememberToken, old []byte) (bool, error) {
	n, err := r.exec(ctx, "rotate device token", `UPDATE vestibule_remember_tokens
		SET verifier = ?, previous = ?, nonce = ?, rotated = ?, expires = ?, device = ?, address = ?
		WHERE selector = ? AND verifier = ?`,
		t.Verifier, orNull(t.Previous), orNull(t.Nonce), ms(t.Rotated), ms(t.Expires),
		clip(t.Device, 255), clip(t.Address, 64), t.Selector, old)
	return n == 1, err
}

// SetIntent keeps the open intent with the family.
func (r rememberTokens) SetIntent(ctx context.Context, selector, intent []byte) error {
	return r.run(ctx, "keep intent with device token",
		`UPDATE vestibule_remember_tokens SET intent = ? WHERE selector = ?`, orNull(intent), selector)
}

// Delete ends the family.
func (r rememberTokens) Delete(ctx context.Context, selector []byte) error {
	return r.run(ctx, "delete device token", `DELETE FROM vestibule_remember_tokens WHERE selector = ?`, selector)
}

// DeleteUser ends all families of the user.
func (r rememberTokens) DeleteUser(ctx context.Context, userID string) error {
	return r.run(ctx, "delete device tokens", `DELETE FROM vestibule_remember_tokens WHERE user_id = ?`, userID)
}
