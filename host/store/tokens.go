package store

import (
	"context"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/clock"
)

// tokens implements auth.Tokens on the table vestibule_tokens.
type tokens struct{ *DB }

type tokenRow struct {
	Hash                   []byte
	ID, Name, Route        string
	UserID                 string `db:"user_id"`
	CanWrite               int64  `db:"can_write"`
	Created, Expires, Used int64
}

const selectTokens = `SELECT hash, id, user_id, name, route, can_write, created, expires, used FROM vestibule_tokens`

func (r tokenRow) token() auth.Token {
	return auth.Token{
		ID: r.ID, Hash: r.Hash, UserID: r.UserID, Name: r.Name, Route: r.Route, Write: r.CanWrite != 0,
		Created: fromMS(r.Created), Expires: fromMS(r.Expires), Used: fromMS(r.Used),
	}
}

// Create stores a token, in place of those of the same user that are over.
func (s tokens) Create(ctx context.Context, t auth.Token, most int) error {
	const what = "create token"
	return s.InTx(ctx, func(ctx context.Context) error {
		if err := s.run(ctx, what, `DELETE FROM vestibule_tokens WHERE user_id = ? AND expires <= ?`, t.UserID, ms(t.Created)); err != nil {
			return err
		}
		var count struct{ N int }
		if err := s.get(ctx, nil, what, &count, `SELECT COUNT(*) AS n FROM vestibule_tokens WHERE user_id = ?`, t.UserID); err != nil {
			return err
		}
		if count.N >= most {
			return auth.ErrTooMany
		}
		write := 0
		if t.Write {
			write = 1
		}
		return s.run(ctx, what, `INSERT INTO vestibule_tokens (hash, id, user_id, name, route, can_write, created, expires, used)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.Hash, t.ID, t.UserID, clip(t.Name, 255), t.Route, write, ms(t.Created), ms(t.Expires), ms(t.Used))
	})
}

// Find returns the token with this hash.
func (s tokens) Find(ctx context.Context, hash []byte) (auth.Token, error) {
	var row tokenRow
	err := s.get(ctx, auth.ErrNotFound, "find token", &row, selectTokens+` WHERE hash = ?`, hash)
	return row.token(), err
}

// maxTokenID bounds the ids that are looked for, in bytes. They come from strangers,
// and some databases refuse to compare what is no text.
const maxTokenID = 255

// FindID returns the token with this id.
func (s tokens) FindID(ctx context.Context, id string) (auth.Token, error) {
	if id != clip(id, maxTokenID) {
		return auth.Token{}, auth.ErrNotFound
	}
	var row tokenRow
	err := s.get(ctx, auth.ErrNotFound, "find token", &row, selectTokens+` WHERE id = ?`, id)
	return row.token(), err
}

// List returns the tokens of a user, or of everybody, the newest first.
func (s tokens) List(ctx context.Context, userID string, limit int) ([]auth.Token, error) {
	condition, args := ``, []any{limit}
	if userID != "" {
		condition, args = ` WHERE user_id = ?`, []any{userID, limit}
	}
	var rows []tokenRow
	if err := s.list(ctx, "list tokens", &rows, selectTokens+condition+` ORDER BY created DESC, id LIMIT ?`, args...); err != nil {
		return nil, err
	}
	list := make([]auth.Token, len(rows))
	for i, r := range rows {
		list[i] = r.token()
		list[i].Used = clock.Past(list[i].Used, s.settings.Now())
	}
	return list, nil
}

// Touch sets when the token was last used. A host whose clock is a little behind does not
// turn it back; a last use that lies further ahead is replaced.
func (s tokens) Touch(ctx context.Context, hash []byte, at time.Time) error {
	return s.settle(ctx, "touch token", `UPDATE vestibule_tokens SET used = ? WHERE hash = ? AND (used < ? OR used > ?)`,
		ms(at), hash, ms(at), ms(at.Add(clock.Skew)))
}

// Delete ends a token of the user.
func (s tokens) Delete(ctx context.Context, id, userID string) error {
	if id != clip(id, maxTokenID) {
		return auth.ErrNotFound
	}
	n, err := s.exec(ctx, "delete token", `DELETE FROM vestibule_tokens WHERE id = ? AND user_id = ?`, id, userID)
	if err == nil && n == 0 {
		return auth.ErrNotFound
	}
	return err
}

// DeleteUser ends all tokens of the user.
func (s tokens) DeleteUser(ctx context.Context, userID string) error {
	return s.settle(ctx, "delete tokens", `DELETE FROM vestibule_tokens WHERE user_id = ?`, userID)
}
