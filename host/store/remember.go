package store

import (
	"context"
	"fmt"

	"github.com/vestibule-dev/vestibule/host/auth"
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
	_, err := r.exec(ctx, `INSERT INTO vestibule_remember_tokens
		(selector, user_id, verifier, previous, nonce, binding, intent, device, address, created, rotated, expires)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.Selector, t.UserID, t.Verifier, orNull(t.Previous), orNull(t.Nonce), t.Binding, orNull(t.Intent),
		clip(t.Device, 255), clip(t.Address, 64), ms(t.Created), ms(t.Rotated), ms(t.Expires))
	if err != nil {
		return fmt.Errorf("create device token: %w", err)
	}
	return nil
}

// Find returns the family.
func (r rememberTokens) Find(ctx context.Context, selector []byte) (auth.RememberToken, error) {
	var row rememberRow
	ok, err := r.get(ctx, &row, `SELECT selector, user_id, verifier, previous, nonce, binding, intent,
		device, address, created, rotated, expires FROM vestibule_remember_tokens WHERE selector = ?`, selector)
	if err != nil {
		return auth.RememberToken{}, fmt.Errorf("find device token: %w", err)
	}
	if !ok {
		return auth.RememberToken{}, auth.ErrNotFound
	}
	return auth.RememberToken{
		Selector: row.Selector, UserID: row.UserID, Verifier: row.Verifier, Previous: row.Previous,
		Nonce: row.Nonce, Binding: row.Binding, Intent: row.Intent, Device: row.Device, Address: row.Address,
		Created: fromMS(row.Created), Rotated: fromMS(row.Rotated), Expires: fromMS(row.Expires),
	}, nil
}

// Rotate replaces the verifier old.
func (r rememberTokens) Rotate(ctx context.Context, t auth.RememberToken, old []byte) (bool, error) {
	n, err := r.exec(ctx, `UPDATE vestibule_remember_tokens
		SET verifier = ?, previous = ?, nonce = ?, rotated = ?, expires = ?, device = ?, address = ?
		WHERE selector = ? AND verifier = ?`,
		t.Verifier, orNull(t.Previous), orNull(t.Nonce), ms(t.Rotated), ms(t.Expires),
		clip(t.Device, 255), clip(t.Address, 64), t.Selector, old)
	if err != nil {
		return false, fmt.Errorf("rotate device token: %w", err)
	}
	return n == 1, nil
}

// SetIntent keeps the open intent with the family.
func (r rememberTokens) SetIntent(ctx context.Context, selector, intent []byte) error {
	_, err := r.exec(ctx, `UPDATE vestibule_remember_tokens SET intent = ? WHERE selector = ?`, orNull(intent), selector)
	if err != nil {
		return fmt.Errorf("keep intent with device token: %w", err)
	}
	return nil
}

// Delete ends the family.
func (r rememberTokens) Delete(ctx context.Context, selector []byte) error {
	if _, err := r.exec(ctx, `DELETE FROM vestibule_remember_tokens WHERE selector = ?`, selector); err != nil {
		return fmt.Errorf("delete device token: %w", err)
	}
	return nil
}

// DeleteUser ends all families of the user.
func (r rememberTokens) DeleteUser(ctx context.Context, userID string) error {
	if _, err := r.exec(ctx, `DELETE FROM vestibule_remember_tokens WHERE user_id = ?`, userID); err != nil {
		return fmt.Errorf("delete device tokens: %w", err)
	}
	return nil
}
