package store

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/passkey"
	"github.com/vestibule-dev/vestibule/v2/host/clock"
)

// passkeys implements passkey.Store on the tables vestibule_passkeys, vestibule_user_handles and vestibule_spent.
// Credential ids are longer than the keys of some databases, so the primary key is their SHA-256.
type passkeys struct{ *DB }

type passkeyRow struct {
	ID, Name, Transports string
	UserID               string `db:"user_id"`
	Handle               []byte
	Credential           []byte
	PublicKey            []byte `db:"public_key"`
	Counter              int64
	BackupEligible       int64 `db:"backup_eligible"`
	BackedUp             int64 `db:"backed_up"`
	Created, Used        int64
}

const selectPasskeys = `SELECT p.id, p.user_id, h.handle, p.credential, p.public_key, p.name, p.transports, p.counter, p.backup_eligible, p.backed_up, p.created, p.used
	FROM vestibule_passkeys p JOIN vestibule_user_handles h ON h.user_id = p.user_id`

func (r passkeyRow) passkey() passkey.Passkey {
	return passkey.Passkey{
		ID: r.ID, UserID: r.UserID, Handle: r.Handle, Credential: r.Credential, Key: r.PublicKey, Name: r.Name, Transports: strings.Fields(r.Transports),
		Counter: uint32(r.Counter), BackupEligible: r.BackupEligible != 0, BackedUp: r.BackedUp != 0, //nolint:gosec // written as one
		Created: fromMS(r.Created), Used: fromMS(r.Used),
	}
}

// hashOf returns the primary key of a credential or a challenge.
func hashOf(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// Handle returns the user handle of a user, whose row is locked.
func (s passkeys) Handle(ctx context.Context, userID string, fresh []byte) ([]byte, error) {
	const what = "read a user handle"
	var found [][]byte
	if err := s.list(ctx, what, &found, `SELECT handle FROM vestibule_user_handles WHERE user_id = ?`, userID); err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	return fresh, s.run(ctx, "keep a user handle", `INSERT INTO vestibule_user_handles (user_id, handle) VALUES (?, ?)`, userID, fresh)
}

// Add stores a passkey.
func (s passkeys) Add(ctx context.Context, p passkey.Passkey, most int) error {
	const what = "add passkey"
	var count struct{ Mine, Same int }
	err := s.get(ctx, nil, what, &count, `SELECT (SELECT COUNT(*) FROM vestibule_passkeys WHERE user_id = ?) AS mine,
		(SELECT COUNT(*) FROM vestibule_passkeys WHERE hash = ?) AS same`, p.UserID, hashOf(p.Credential))
	switch {
	case err != nil:
		return err
	case count.Same > 0:
		return passkey.ErrKnown
	case count.Mine >= most:
		return passkey.ErrTooMany
	}
	err = s.run(ctx, what, `INSERT INTO vestibule_passkeys
		(hash, id, user_id, credential, public_key, name, transports, counter, backup_eligible, backed_up, created, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		hashOf(p.Credential), p.ID, p.UserID, p.Credential, p.Key, clip(p.Name, 255), clip(strings.Join(p.Transports, " "), 255),
		int64(p.Counter), number(p.BackupEligible), number(p.BackedUp), ms(p.Created), ms(p.Used))
	if err != nil && s.dialect.UniqueViolation(err) {
		return passkey.ErrKnown
	}
	return err
}

// number is a truth value as the tables keep it.
func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// Find returns the passkey with this credential id.
func (s passkeys) Find(ctx context.Context, credential []byte) (passkey.Passkey, error) {
	var row passkeyRow
	err := s.get(ctx, auth.ErrNotFound, "find passkey", &row, selectPasskeys+` WHERE p.hash = ?`, hashOf(credential))
	return row.passkey(), err
}

// FindID returns the passkey with this ID.
func (s passkeys) FindID(ctx context.Context, id string) (passkey.Passkey, error) {
	if id != clip(id, maxTokenID) {
		return passkey.Passkey{}, auth.ErrNotFound
	}
	var row passkeyRow
	err := s.get(ctx, auth.ErrNotFound, "find passkey", &row, selectPasskeys+` WHERE p.id = ?`, id)
	return row.passkey(), err
}

// List returns the passkeys of a user, or of everybody, the newest first.
func (s passkeys) List(ctx context.Context, userID string, limit int) ([]passkey.Passkey, error) {
	condition, args := ``, []any{limit}
	if userID != "" {
		condition, args = ` WHERE p.user_id = ?`, []any{userID, limit}
	}
	var rows []passkeyRow
	if err := s.list(ctx, "list passkeys", &rows, selectPasskeys+condition+` ORDER BY p.created DESC, p.id LIMIT ?`, args...); err != nil {
		return nil, err
	}
	list := make([]passkey.Passkey, len(rows))
	for i, r := range rows {
		list[i] = r.passkey()
		list[i].Used = clock.Past(list[i].Used, s.settings.Now())
	}
	return list, nil
}

// Use keeps what an authenticator has said, unless another use was faster.
func (s passkeys) Use(ctx context.Context, p passkey.Passkey) (bool, error) {
	n, err := s.exec(ctx, "use passkey", `UPDATE vestibule_passkeys SET counter = ?, backed_up = ?, used = ?
		WHERE hash = ? AND user_id = ? AND (counter < ? OR counter = 0 AND counter = ?)`,
		int64(p.Counter), number(p.BackedUp), ms(p.Used), hashOf(p.Credential), p.UserID, int64(p.Counter), int64(p.Counter))
	return n > 0, err
}

// Rename gives a passkey of the user another name.
func (s passkeys) Rename(ctx context.Context, id, userID, name string) error {
	if id != clip(id, maxTokenID) {
		return auth.ErrNotFound
	}
	n, err := s.exec(ctx, "rename passkey", `UPDATE vestibule_passkeys SET name = ? WHERE id = ? AND user_id = ?`, clip(name, 255), id, userID)
	if err == nil && n == 0 {
		return auth.ErrNotFound
	}
	return err
}

// Delete ends a passkey of the user.
func (s passkeys) Delete(ctx context.Context, id, userID string) error {
	if id != clip(id, maxTokenID) {
		return auth.ErrNotFound
	}
	n, err := s.exec(ctx, "delete passkey", `DELETE FROM vestibule_passkeys WHERE id = ? AND user_id = ?`, id, userID)
	if err == nil && n == 0 {
		return auth.ErrNotFound
	}
	return err
}

// Spend notes that a challenge was used.
func (s passkeys) Spend(ctx context.Context, challenge []byte, ends time.Time) error {
	return s.spend(ctx, challenge, ends, passkey.ErrSpent)
}

// spend notes that random bytes were used, or returns spent where they were before.
func (db *DB) spend(ctx context.Context, once []byte, ends time.Time, spent error) error {
	err := db.run(ctx, "spend a challenge", `INSERT INTO vestibule_spent (hash, ends) VALUES (?, ?)`, hashOf(once), ms(ends))
	if err != nil && db.dialect.UniqueViolation(err) {
		return spent
	}
	return err
}
