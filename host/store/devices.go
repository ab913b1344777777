package store

import (
	"context"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// devices implements auth.Devices on the table vestibule_remember_tokens.
type devices struct{ *DB }

type deviceRow struct {
	Selector, Verifier, Previous, Nonce, Binding, Intent []byte

	Values                    []byte `db:"session_values"`
	UserID                    string `db:"user_id"`
	UserAgent                 string `db:"device"`
	Address                   string
	Created, Rotated, Expires int64
}

const selectDevices = `SELECT selector, user_id, verifier, previous, nonce, binding, intent, session_values,
	device, address, created, rotated, expires FROM vestibule_remember_tokens`

func (r deviceRow) device() auth.Device {
	return auth.Device{
		Selector: r.Selector, UserID: r.UserID, Verifier: r.Verifier, Previous: r.Previous,
		Nonce: r.Nonce, Binding: r.Binding, Intent: r.Intent, Values: r.Values, UserAgent: r.UserAgent, Address: r.Address,
		Created: fromMS(r.Created), Rotated: fromMS(r.Rotated), Expires: fromMS(r.Expires),
	}
}

// Create stores a new device.
func (s devices) Create(ctx context.Context, d auth.Device) error {
	return s.run(ctx, "create device", `INSERT INTO vestibule_remember_tokens
		(selector, user_id, verifier, previous, nonce, binding, intent, session_values, device, address, created, rotated, expires)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.Selector, d.UserID, d.Verifier, orNull(d.Previous), orNull(d.Nonce), d.Binding, orNull(d.Intent), orNull(d.Values),
		clip(d.UserAgent, 255), clip(d.Address, 64), ms(d.Created), ms(d.Rotated), ms(d.Expires))
}

// Find returns the device.
func (s devices) Find(ctx context.Context, selector []byte) (auth.Device, error) {
	return s.find(ctx, selector, "")
}

// Lock is [devices.Find] and locks the row until the transaction ends, so that
// nothing else ends the device in between.
func (s devices) Lock(ctx context.Context, selector []byte) (auth.Device, error) {
	return s.find(ctx, selector, s.dialect.ForUpdate)
}

func (s devices) find(ctx context.Context, selector []byte, lock string) (auth.Device, error) {
	var row deviceRow
	err := s.get(ctx, auth.ErrNotFound, "find device", &row, selectDevices+` WHERE selector = ?`+lock, selector)
	if err != nil {
		return auth.Device{}, err
	}
	return row.device(), nil
}

// List returns up to limit devices of the user, the last used ones first.
func (s devices) List(ctx context.Context, userID string, limit int) ([]auth.Device, error) {
	var rows []deviceRow
	if err := s.list(ctx, "list devices", &rows, selectDevices+` WHERE user_id = ? ORDER BY rotated DESC, selector LIMIT ?`, userID, limit); err != nil {
		return nil, err
	}
	list := make([]auth.Device, len(rows))
	for i, r := range rows {
		list[i] = r.device()
	}
	return list, nil
}

// Rotate replaces the verifier old.
func (s devices) Rotate(ctx context.Context, d auth.Device, old []byte) (bool, error) {
	n, err := s.exec(ctx, "rotate device token", `UPDATE vestibule_remember_tokens
		SET verifier = ?, previous = ?, nonce = ?, rotated = ?, expires = ?, device = ?, address = ?
		WHERE selector = ? AND verifier = ?`,
		d.Verifier, orNull(d.Previous), orNull(d.Nonce), ms(d.Rotated), ms(d.Expires),
		clip(d.UserAgent, 255), clip(d.Address, 64), d.Selector, old)
	return n == 1, err
}

// SetState keeps the open intent and the plugins' session values with the device.
func (s devices) SetState(ctx context.Context, selector, intent, values []byte) error {
	return s.settle(ctx, "keep state with device",
		`UPDATE vestibule_remember_tokens SET intent = ?, session_values = ? WHERE selector = ?`, orNull(intent), orNull(values), selector)
}

// Delete ends the device.
func (s devices) Delete(ctx context.Context, selector []byte) error {
	return s.settle(ctx, "delete device", `DELETE FROM vestibule_remember_tokens WHERE selector = ?`, selector)
}

// DeleteUser ends all devices of the user.
func (s devices) DeleteUser(ctx context.Context, userID string) error {
	return s.settle(ctx, "delete devices", `DELETE FROM vestibule_remember_tokens WHERE user_id = ?`, userID)
}
