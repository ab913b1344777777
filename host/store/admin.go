package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/column"
)

// ListUsers returns up to limit users in the order of their keys, those after
// the user with the id after, or from the first when it is empty.
func (db *DB) ListUsers(ctx context.Context, after string, limit int) ([]auth.User, error) {
	const what = "list users"
	t, err := db.userTable(ctx)
	if err != nil {
		return nil, failed(what, err)
	}
	condition, args := ``, []any(nil)
	if after != "" {
		key, ok := t.key(after)
		if !ok {
			return nil, failed(what, auth.ErrNotFound)
		}
		condition, args = ` WHERE `+db.dialect.quote(colID)+` > ?`, []any{key}
	}
	list, err := db.readUsers(ctx, t, condition+` ORDER BY `+db.dialect.quote(colID)+` LIMIT ?`, append(args, limit)...)
	return list, failed(what, err)
}

// readUsers reads the users of a condition, with their disabled marks.
func (db *DB) readUsers(ctx context.Context, t *userTable, condition string, args ...any) (list []auth.User, err error) {
	err = db.rows(ctx, func(rows *sqlx.Rows) error {
		list = nil
		for rows.Next() {
			row, err := rows.SliceScan()
			if err != nil {
				return err
			}
			list = append(list, db.user(t.columns, row))
		}
		return rows.Err()
	}, t.read+condition, args...)
	if err != nil {
		return nil, err
	}
	return list, db.markDisabled(ctx, list)
}

// markDisabled sets the mark of every user in list.
func (db *DB) markDisabled(ctx context.Context, list []auth.User) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]string, len(list))
	for i, u := range list {
		ids[i] = u.ID
	}
	query, args, err := sqlx.In(`SELECT user_id FROM vestibule_disabled_users WHERE user_id IN (?)`, ids)
	if err != nil {
		return err
	}
	var disabled []string
	if err := db.list(ctx, "read disabled users", &disabled, query, args...); err != nil {
		return err
	}
	for i, u := range list {
		list[i].Disabled = slices.Contains(disabled, u.ID)
	}
	return nil
}

// AddUser adds a person with a password hash and returns the new row. It returns
// [ErrTaken] when another user has the address, compared without regard to case.
// Other columns get the defaults of the table; the error names a column that has
// none and must not be null.
func (db *DB) AddUser(ctx context.Context, email, name, hash string) (auth.User, error) {
	var user auth.User
	err := db.InTx(ctx, func(ctx context.Context) error {
		// The unique key of the table may take two spellings of one address for
		// different, so only one host at a time looks and inserts.
		if err := db.lock(ctx, addUserLock); err != nil {
			return err
		}
		if err := db.checkFree(ctx, email); err != nil {
			return err
		}
		if err := db.insertUser(ctx, email, name, hash); err != nil {
			return err
		}
		var err error
		user, err = db.Users().FindByLogin(ctx, colEmail, email)
		return err
	})
	switch {
	case err == nil, errors.Is(err, ErrTaken):
		return user, err
	case db.dialect.UniqueViolation(err):
		return auth.User{}, ErrTaken
	}
	return auth.User{}, fmt.Errorf("add user: %w", err)
}

func (db *DB) checkFree(ctx context.Context, email string) error {
	ids, err := db.UsersAt(ctx, email)
	if err == nil && len(ids) > 0 {
		return ErrTaken
	}
	return err
}

// UsersAt returns the ids of the users who have an address, compared without regard to case, at most [maxSpellings].
func (db *DB) UsersAt(ctx context.Context, email string) ([]string, error) {
	col, err := db.hostColumn(ctx, colEmail)
	if err != nil {
		return nil, err
	}
	key, err := db.hostColumn(ctx, colID)
	if err != nil {
		return nil, err
	}
	condition, args := users{db}.anyCase(col, email)
	var rows []struct{ ID, Email any }
	query := `SELECT ` + db.dialect.quote(colID) + ` AS id, email FROM ` + usersTable + ` WHERE ` + condition + ` LIMIT ?`
	if err := db.list(ctx, "compare addresses", &rows, query, append(args, maxSpellings)...); err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range rows {
		// Some engines find more than was asked for: accents, trailing blanks.
		if fold(col.Kind().Text(r.Email)) == fold(email) {
			ids = append(ids, key.Kind().Text(r.ID))
		}
	}
	return ids, nil
}

func (db *DB) insertUser(ctx context.Context, email, name, hash string) error {
	t, err := db.userTable(ctx)
	if err != nil {
		return err
	}
	values := map[string]any{colEmail: email, colPassword: hash}
	if _, ok := t.column(colName); ok {
		values[colName] = name
	}
	for _, stamp := range []string{colCreated, colUpdated} {
		if c, ok := t.column(stamp); ok && c.Kind() == column.Time {
			values[stamp] = users{db}.moment()
		}
	}
	if id, _ := t.column(colID); !id.Auto {
		if values[colID], err = newKey(id); err != nil {
			return err
		}
	}
	names := slices.Sorted(maps.Keys(values))
	args := make([]any, len(names))
	for i, name := range names {
		args[i], names[i] = values[name], db.dialect.quote(name)
	}
	return db.run(ctx, "insert", `INSERT INTO `+usersTable+` (`+strings.Join(names, `, `)+`) VALUES (?`+
		strings.Repeat(`, ?`, len(names)-1)+`)`, args...)
}

// Unfilled returns the names of those columns of users that [DB.AddUser] gives no value and that need one.
func Unfilled(columns []Column) []string {
	var names []string
	for _, c := range columns {
		filled := slices.Contains([]string{colEmail, colPassword, colName}, c.Name) ||
			slices.Contains([]string{colCreated, colUpdated}, c.Name) && c.Kind() == column.Time
		if c.Name == colID {
			_, err := newKey(c)
			filled = err == nil
		}
		if c.Required && !filled {
			names = append(names, c.Name)
		}
	}
	return names
}

// newKey makes the key of a table that makes none itself: a random UUID, in the
// form that the column holds.
func newKey(c Column) (any, error) {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	switch k := c.Kind(); {
	case k == column.UUID, k == column.Text && (c.Length == 0 || c.Length >= int64(len(text))):
		return text, nil
	case k == column.Bytes && c.Length >= 16:
		return b, nil
	}
	return nil, fmt.Errorf("column %q (%s) of %s has no default: add the person in the application that owns the table",
		c.Name, c.Type, usersTable)
}

// SetDisabled disables the user, which ends all sessions, devices and tokens, or
// enables one again. The mark is kept in vestibule_disabled_users.
func (db *DB) SetDisabled(ctx context.Context, id string, disabled bool) error {
	const what = "disable or enable user"
	return db.InTx(ctx, func(ctx context.Context) error {
		if _, err := (users{db}).Lock(ctx, id); err != nil {
			return failed(what, err)
		}
		err := db.run(ctx, what, `DELETE FROM vestibule_disabled_users WHERE user_id = ?`, id)
		if err != nil || !disabled {
			return err
		}
		err = db.run(ctx, what, `INSERT INTO vestibule_disabled_users (user_id, since) VALUES (?, ?)`, id, ms(db.settings.Now()))
		if err != nil {
			return err
		}
		if err := db.endUser(ctx, id); err != nil {
			return err
		}
		return db.Tokens().DeleteUser(ctx, id)
	})
}

// EndInvitations ends the invitations of a user that nobody has used.
func (db *DB) EndInvitations(ctx context.Context, userID string) error {
	return db.Invitations().End(ctx, userID)
}

// RevokeUser ends all devices and sessions of the user.
func (db *DB) RevokeUser(ctx context.Context, id string) error {
	return db.InTx(ctx, func(ctx context.Context) error {
		if _, err := (users{db}).Lock(ctx, id); err != nil {
			return failed("revoke the user's sessions", err)
		}
		return db.endUser(ctx, id)
	})
}

// RevokeSome ends up to limit devices of everybody or, when no device is left, up to
// limit sessions, and returns how many of each there were. Both are 0 once everybody is
// signed out. Nobody waits for more than limit rows.
func (db *DB) RevokeSome(ctx context.Context, limit int) (devices, sessions int, err error) {
	if devices, err = db.endSome(ctx, "vestibule_remember_tokens", "selector", limit); err != nil || devices > 0 {
		return devices, 0, err
	}
	sessions, err = db.endSome(ctx, "vestibule_sessions", "hash", limit)
	return 0, sessions, err
}

// endSome deletes up to limit rows and returns how many it found. Another host may have
// deleted some of them meanwhile.
func (db *DB) endSome(ctx context.Context, table, key string, limit int) (int, error) {
	what := "revoke rows of " + table
	var keys [][]byte
	if err := db.list(ctx, what, &keys, `SELECT `+key+` FROM `+table+` ORDER BY `+key+` LIMIT ?`, limit); err != nil || len(keys) == 0 {
		return 0, err
	}
	_, err := db.execIn(ctx, what, `DELETE FROM `+table+` WHERE `+key+` IN (?)`, keys)
	return len(keys), err
}

// endUser ends all devices and sessions of a user whose row is locked.
func (db *DB) endUser(ctx context.Context, id string) error {
	if err := db.Devices().DeleteUser(ctx, id); err != nil {
		return err
	}
	return db.Sessions().DeleteUserSessions(ctx, id)
}
