package store

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/auth/identity"
)

// identities implements identity.Store on the tables vestibule_identities and vestibule_spent.
type identities struct{ *DB }

type identityRow struct {
	Name, Subject string
	UserID        string `db:"user_id"`
	Created       int64
}

const selectIdentities = `SELECT name, subject, user_id, created FROM vestibule_identities`

func (r identityRow) identity() identity.Identity {
	return identity.Identity{Name: r.Name, Subject: r.Subject, UserID: r.UserID, Created: fromMS(r.Created)}
}

// storable reports whether a name and a subject can be in the table.
func storable(name, subject string) bool {
	return name == clip(name, maxTokenID) && subject == clip(subject, maxTokenID) && subject != ""
}

// Add links an identity.
func (s identities) Add(ctx context.Context, i identity.Identity) error {
	const what = "add identity"
	var count struct{ Mine, Same int }
	err := s.get(ctx, nil, what, &count, `SELECT (SELECT COUNT(*) FROM vestibule_identities WHERE user_id = ? AND name = ?) AS mine,
		(SELECT COUNT(*) FROM vestibule_identities WHERE name = ? AND subject = ?) AS same`, i.UserID, i.Name, i.Name, i.Subject)
	switch {
	case err != nil:
		return err
	case count.Same > 0:
		return identity.ErrKnown
	case count.Mine > 0:
		return identity.ErrHasOne
	}
	err = s.run(ctx, what, `INSERT INTO vestibule_identities (name, subject, user_id, created) VALUES (?, ?, ?, ?)`, i.Name, i.Subject, i.UserID, ms(i.Created))
	if err != nil && s.dialect.UniqueViolation(err) {
		return identity.ErrKnown // the user is locked, so that only another one can have been faster
	}
	return err
}

// Find returns the identity of a name with this subject.
func (s identities) Find(ctx context.Context, name, subject string) (identity.Identity, error) {
	if !storable(name, subject) {
		return identity.Identity{}, auth.ErrNotFound
	}
	var row identityRow
	err := s.get(ctx, auth.ErrNotFound, "find identity", &row, selectIdentities+` WHERE name = ? AND subject = ?`, name, subject)
	return row.identity(), err
}

// List returns the identities of a user, or of everybody, the newest first.
func (s identities) List(ctx context.Context, userID string, limit int) ([]identity.Identity, error) {
	condition, args := ``, []any{limit}
	if userID != "" {
		condition, args = ` WHERE user_id = ?`, []any{userID, limit}
	}
	var rows []identityRow
	if err := s.list(ctx, "list identities", &rows, selectIdentities+condition+` ORDER BY created DESC, name, subject LIMIT ?`, args...); err != nil {
		return nil, err
	}
	list := make([]identity.Identity, len(rows))
	for i, r := range rows {
		list[i] = r.identity()
	}
	return list, nil
}

// Delete ends the identity of a name that the user has.
func (s identities) Delete(ctx context.Context, name, userID string) error {
	if name != clip(name, maxTokenID) {
		return auth.ErrNotFound
	}
	n, err := s.exec(ctx, "delete identity", `DELETE FROM vestibule_identities WHERE name = ? AND user_id = ?`, name, userID)
	if err == nil && n == 0 {
		return auth.ErrNotFound
	}
	return err
}

// AddUser adds a user and returns the id.
func (s identities) AddUser(ctx context.Context, email, name, hash string) (string, error) {
	user, err := s.DB.AddUser(ctx, email, name, hash)
	return user.ID, err
}

// Spend notes that a state was used.
func (s identities) Spend(ctx context.Context, state []byte, ends time.Time) error {
	return s.spend(ctx, state, ends, identity.ErrSpent)
}
