package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/column"
)

// users implements auth.Users.
type users struct{ *DB }

// FindByLogin returns the one user whose column holds value.
func (u users) FindByLogin(ctx context.Context, column, value string) (auth.User, error) {
	id, err := u.findLogin(ctx, column, value)
	if err != nil {
		return auth.User{}, fmt.Errorf("find user: %w", err)
	}
	if id == "" {
		// As many statements as for a user who exists, so that the time of an
		// answer does not tell.
		return auth.User{}, u.readNoRow(ctx)
	}
	return u.FindByID(ctx, id)
}

// readNoRow runs the statement of FindByID for a key that no user has, and
// returns [auth.ErrNotFound].
func (u users) readNoRow(ctx context.Context) error {
	t, err := u.userTable(ctx)
	if err != nil {
		return fmt.Errorf("find user: %w", err)
	}
	if err := u.row(ctx, func(r *sqlx.Row) error { _, err := r.SliceScan(); return err }, t.readOne, "", nil); !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("find user: %w", err)
	}
	return auth.ErrNotFound
}

// maxSpellings bounds how many rows may hold one address in different cases.
const maxSpellings = 100

// findLogin returns the id of the user, empty when none or more than one fits.
// It does the same work for a login that is known and one that is not.
func (u users) findLogin(ctx context.Context, field, value string) (string, error) {
	col, err := u.hostColumn(ctx, field)
	if err != nil {
		return "", err
	}
	arg, ok := col.Parse(value)
	if !ok {
		return "", nil
	}
	condition, args := u.dialect.quote(col.Name)+` = ?`, []any{arg}
	address := col.Kind() == column.Text && (field == colEmail || strings.Contains(value, "@"))
	if address {
		condition, args = u.anyCase(col, value)
	}
	key, err := u.hostColumn(ctx, colID)
	if err != nil {
		return "", err
	}
	var rows []struct{ ID, Login any }
	query := `SELECT ` + u.dialect.quote(colID) + ` AS id, ` + u.dialect.quote(col.Name) + ` AS login FROM ` +
		usersTable + ` WHERE ` + condition + ` LIMIT ?`
	if err := u.list(ctx, "match login", &rows, query, append(args, maxSpellings)...); err != nil {
		return "", err
	}
	var exact, folded []string
	for _, r := range rows {
		// Some engines find more than was asked for: accents, trailing blanks.
		id, login := key.Kind().Text(r.ID), col.Kind().Text(r.Login)
		switch {
		case login == value:
			exact = append(exact, id)
		case address && fold(login) == fold(value):
			folded = append(folded, id)
		}
	}
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(exact) == 0 && len(folded) == 1:
		return folded[0], nil
	}
	return "", nil
}

// anyCase is a condition that is true for every spelling of the address, and
// perhaps for other addresses. LOWER changes letters beyond ASCII on some
// engines only, hence three forms.
func (u users) anyCase(c Column, address string) (string, []any) {
	column := u.dialect.quote(c.Name)
	if !c.Folds { // otherwise LOWER would only keep the index from being used
		column = `LOWER(` + column + `)`
	}
	return column + ` IN (?, ?, ?)`, []any{fold(address), reserved.LowerASCII(address), reserved.LowerASCII(strings.ToUpper(address))}
}

// fold is how addresses compare; the throttle's keys are made in the same way.
func fold(address string) string { return strings.ToLower(address) }

// FindByID returns the user with the primary key id.
func (u users) FindByID(ctx context.Context, id string) (auth.User, error) {
	return u.findOne(ctx, id, "")
}

// FindAll returns those of the users that there are. A query asks for 8, 64 or 512 at a
// time, so that there are but three texts to prepare.
func (u users) FindAll(ctx context.Context, ids []string) ([]auth.User, error) {
	t, err := u.userTable(ctx)
	if err != nil {
		return nil, fmt.Errorf("find users: %w", err)
	}
	var keys []any
	for _, id := range ids {
		if key, ok := t.key(id); ok {
			keys = append(keys, key)
		}
	}
	var found []auth.User
	for batch := range slices.Chunk(keys, 512) {
		args := filled(batch)
		part, err := u.readUsers(ctx, t, ` WHERE `+u.dialect.quote(colID)+` IN (?`+strings.Repeat(`, ?`, len(args)-1)+`)`, args...)
		if err != nil {
			return nil, failed("find users", err)
		}
		for _, one := range part {
			found = append(found, auth.User{ID: one.ID, Inactive: one.Inactive, Disabled: one.Disabled})
		}
	}
	return found, nil
}

// filled returns 8, 64 or 512 arguments, of which the last are repeated.
func filled[T any](args []T) []any {
	size := 8
	for size < len(args) {
		size *= 8
	}
	all := make([]any, size)
	for i := range all {
		all[i] = args[min(i, len(args)-1)]
	}
	return all
}

// Lock is FindByID in a transaction: others that change the row or disable the
// user wait until it ends. The disabled mark is read in a statement of its own: one
// that waits for the row reads other tables as they were before the wait.
func (u users) Lock(ctx context.Context, id string) (auth.User, error) {
	user, err := u.findOne(ctx, id, u.dialect.ForUpdate)
	if err != nil || u.dialect.ForUpdate == "" {
		return user, err
	}
	list := []auth.User{user}
	err = u.markDisabled(ctx, list)
	return list[0], err
}

func (u users) findOne(ctx context.Context, id, lock string) (auth.User, error) {
	t, err := u.userTable(ctx)
	if err != nil {
		return auth.User{}, fmt.Errorf("find user: %w", err)
	}
	key, ok := t.key(id)
	if !ok {
		return auth.User{}, auth.ErrNotFound
	}
	row, err := u.values(ctx, t.readOne+lock, id, key)
	if errors.Is(err, sql.ErrNoRows) {
		return auth.User{}, auth.ErrNotFound
	}
	if err != nil {
		u.users.CompareAndSwap(t, nil) // a column may have been dropped: look again
		return auth.User{}, fmt.Errorf("find user: %w", err)
	}
	user := u.user(t.columns, row[1:])
	if user.ID != id { // found by a collation that ignores case
		return auth.User{}, auth.ErrNotFound
	}
	user.Disabled = column.Int.Text(row[0]) != "0"
	return user, nil
}

// SetColumns writes host columns. The key and the credentials are refused.
func (u users) SetColumns(ctx context.Context, id string, values map[string]any) error {
	if len(values) == 0 {
		return nil
	}
	params := make(map[string]any, len(values))
	for name, v := range values {
		if reserved.Fold(name) == colID || reserved.Credential(name) {
			return fmt.Errorf("set user columns: column %q cannot be set", name)
		}
		col, err := u.hostColumn(ctx, name)
		if err != nil {
			return fmt.Errorf("set user columns: %w", err)
		}
		if params[name], err = col.Param(v, u.dialect.Time); err != nil {
			return &auth.ColumnError{Columns: []string{name}, Cause: err}
		}
	}
	err := u.update(ctx, id, params)
	if err != nil && u.dialect.BadValue(err) {
		return &auth.ColumnError{Columns: slices.Sorted(maps.Keys(values)), Cause: err}
	}
	return err
}

// FitsColumn returns an error when a column of users cannot hold a value, as far as the
// column's type tells. Constraints of the table are not looked at. The error is nil as
// well where the database cannot be asked for its columns.
func (db *DB) FitsColumn(ctx context.Context, name string, v any) error {
	col, err := db.hostColumn(ctx, name)
	if err != nil {
		return nil //nolint:nilerr // the commit fails for this reason, and not for the value
	}
	_, err = col.Param(v, db.dialect.Time)
	return err
}

// SetPassword writes the password hash and, where there is such a column, the
// device secret.
func (u users) SetPassword(ctx context.Context, id, hash, deviceSecret string) error {
	values := map[string]any{colPassword: hash}
	switch ok, err := u.hasDeviceSecret(ctx); {
	case err != nil:
		return err
	case ok:
		values[colRemember] = deviceSecret
	}
	return u.update(ctx, id, values)
}

// update writes values, and updated_at where there is one, into the user's row.
func (u users) update(ctx context.Context, id string, values map[string]any) error {
	t, err := u.userTable(ctx)
	if err != nil {
		return fmt.Errorf("update user: %w", err)
	}
	key, ok := t.key(id)
	if !ok {
		return auth.ErrNotFound
	}
	if c, ok := t.column(colUpdated); ok && c.Kind() == column.Time {
		values = maps.Clone(values)
		values[colUpdated] = u.moment()
	}
	names := slices.Sorted(maps.Keys(values))
	params := make([]any, 0, len(names)+1)
	for i, name := range names {
		params = append(params, values[name])
		names[i] = u.dialect.quote(name) + ` = ?`
	}
	n, err := u.exec(ctx, "update user", `UPDATE `+usersTable+` SET `+strings.Join(names, `, `)+
		` WHERE `+u.dialect.quote(colID)+` = ?`, append(params, key)...)
	if err == nil && n == 0 {
		return auth.ErrNotFound
	}
	return err
}

// Rehash replaces the hash old by another of the same password. A column that is
// too short for the new hash keeps the old one.
func (u users) Rehash(ctx context.Context, id, old, hash string) error {
	col, err := u.hostColumn(ctx, colPassword)
	if err != nil {
		return fmt.Errorf("rehash password: %w", err)
	}
	if col.Length > 0 && int64(len(hash)) > col.Length {
		return nil
	}
	return u.InTx(ctx, func(ctx context.Context) error {
		user, err := u.Lock(ctx, id)
		if err != nil || user.Password != old {
			return err
		}
		if err := u.update(ctx, id, map[string]any{colPassword: hash}); err != nil {
			return err
		}
		return u.run(ctx, "rehash password", `UPDATE vestibule_reset_claims SET fingerprint = ?
			WHERE user_id = ? AND fingerprint = ? AND used_by IS NULL`,
			fingerprint(hash, user.Email), id, fingerprint(old, user.Email))
	})
}

// EnsureDeviceSecret writes the device secret where there is none yet, and returns
// the one that is stored then. When the table has no column for it, the error is
// auth.ErrNotFound.
func (u users) EnsureDeviceSecret(ctx context.Context, id, secret string) (string, error) {
	switch ok, err := u.hasDeviceSecret(ctx); {
	case err != nil:
		return "", err
	case !ok:
		return "", fmt.Errorf("table %s has no column %q, so nobody can be kept signed in: %w",
			usersTable, colRemember, auth.ErrNotFound)
	}
	stored := ""
	err := u.InTx(ctx, func(ctx context.Context) error {
		user, err := u.Lock(ctx, id)
		if err != nil {
			return err
		}
		if stored = user.DeviceSecret; stored != "" {
			return nil
		}
		stored = secret
		return u.update(ctx, id, map[string]any{colRemember: secret})
	})
	return stored, err
}

func (u users) hasDeviceSecret(ctx context.Context) (bool, error) {
	t, err := u.userTable(ctx)
	if err != nil {
		return false, err
	}
	_, ok := t.column(colRemember)
	return ok, nil
}

// HashFormats returns one stored hash of each format and cost. It reads the
// whole table: keep the answer for a while.
func (u users) HashFormats(ctx context.Context) ([]string, error) {
	var hashes []string
	// Format and cost are the first 7 characters of a bcrypt hash, and about the
	// first 31 of an argon2 hash; a few more groups do no harm.
	err := u.list(ctx, "read hash formats", &hashes, `SELECT MIN(password) FROM users WHERE password LIKE '$%'
		GROUP BY SUBSTR(password, 1, CASE WHEN password LIKE '$argon2%' THEN 31 ELSE 7 END) LIMIT 1000`)
	if err != nil {
		return nil, err
	}
	slices.Sort(hashes)
	return slices.CompactFunc(hashes, func(a, b string) bool { return hashFormat(a) == hashFormat(b) }), nil
}

// hashFormat is the part of a hash before its salt.
func hashFormat(hash string) string {
	parts := strings.SplitAfterN(hash, "$", 6)
	if strings.HasPrefix(hash, "$argon2") {
		return strings.Join(parts[:min(4, len(parts))], "")
	}
	return hash[:min(7, len(hash))]
}

// moment is now as the engine stores it.
func (u users) moment() any { return u.dialect.Time(u.settings.Now().UTC().Truncate(time.Second)) }
