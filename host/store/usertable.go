package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
)

// The stock tables, and the columns of users that have a meaning here.
const (
	usersTable = reserved.UsersTable
	resetTable = reserved.ResetsTable

	colID       = "id"
	colName     = "name"
	colEmail    = "email"
	colPassword = reserved.PasswordColumn
	colRemember = reserved.RememberColumn
	colCreated  = "created_at"
	colUpdated  = "updated_at"
)

// A userTable is the table users as it was found, and the statements made for
// it. It does not change once made.
type userTable struct {
	columns []Column
	// read selects all columns, in order; readOne also counts the disabled mark
	// of one user. Its parameters are the user's id as text and as the key.
	read, readOne string
	// identity and whole select a session with its user.
	identity, whole ownerQuery
}

// An ownerQuery selects a session by its hash, with the disabled mark and columns of its user.
type ownerQuery struct {
	// text is empty where the key of users cannot be compared with the text in the session.
	text    string
	columns []Column
}

// userTable returns the table as it was found first. It is read again after
// [DB.Migrate] and when a column is asked for that was not there.
func (db *DB) userTable(ctx context.Context) (*userTable, error) {
	if t := db.users.Load(); t != nil {
		return t, nil
	}
	columns, err := db.UserColumns(ctx)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("there is no table %s: run `vestibule migrate`", usersTable)
	}
	t := &userTable{columns: columns}
	for _, name := range []string{colID, colEmail, colPassword} {
		if _, ok := t.column(name); !ok {
			return nil, fmt.Errorf("table %s has no column %q, which sign-in needs", usersTable, name)
		}
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = db.dialect.quote(c.Name)
	}
	list := strings.Join(names, ", ")
	from, where := ` FROM `+usersTable, ` WHERE `+db.dialect.quote(colID)+` = ?`
	t.read = `SELECT ` + list + from
	t.readOne = `SELECT (SELECT COUNT(*) FROM vestibule_disabled_users WHERE user_id = ?), ` + list + from + where
	t.identity = db.ownerQuery(t, reserved.Identity)
	t.whole = db.ownerQuery(t, func(name string) bool { return !reserved.Credential(name) })
	db.users.Store(t)
	return t, nil
}

// ownerQuery makes the query for the columns of the table that are wanted.
func (db *DB) ownerQuery(t *userTable, wanted func(name string) bool) (q ownerQuery) {
	key, _ := t.column(colID)
	as := db.dialect.KeyTypes[key.Kind().String()]
	if as == "" {
		return q
	}
	q.text = `SELECT ` + sessionColumns + `, (SELECT COUNT(*) FROM vestibule_disabled_users d WHERE d.user_id = s.user_id)`
	for _, c := range t.columns {
		if wanted(c.Name) {
			q.text, q.columns = q.text+`, u.`+db.dialect.quote(c.Name), append(q.columns, c)
		}
	}
	q.text = db.rebind(q.text + ` FROM vestibule_sessions s LEFT JOIN ` + usersTable + ` u ON u.` + db.dialect.quote(colID) +
		` = CAST(NULLIF(s.user_id, '') AS ` + as + `) WHERE s.hash = ?`)
	return q
}

func (t *userTable) column(name string) (Column, bool) {
	i := slices.IndexFunc(t.columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.columns[i], true
}

// key converts an id to the type of the key, false when no user can have it.
func (t *userTable) key(id string) (any, bool) {
	c, _ := t.column(colID)
	return c.Parse(id)
}

// user makes a User of a row with these columns of the table.
func (db *DB) user(columns []Column, row []any) auth.User {
	u := userOf(columns, row)
	if db.settings.Active != nil {
		u.Inactive = !db.settings.Active(allColumns(u.Columns, columns, row), db.settings.Now())
	}
	return u
}

// allColumns returns the columns of a user with those that have fields of their own, but for
// credentials.
func allColumns(others map[string]any, columns []Column, row []any) map[string]any {
	all := maps.Clone(others)
	for i, c := range columns {
		switch c.Name {
		case colID, colName, colEmail:
			all[c.Name] = c.Kind().Value(row[i])
		}
	}
	return all
}

func userOf(columns []Column, row []any) auth.User {
	u := auth.User{Columns: make(map[string]any, len(row))}
	for i, c := range columns {
		k := c.Kind()
		switch c.Name {
		case colID:
			u.ID = k.Text(row[i])
		case colName:
			u.Name = k.Text(row[i])
		case colEmail:
			u.Email = k.Text(row[i])
		case colPassword:
			u.Password = k.Text(row[i])
		case colRemember:
			u.DeviceSecret = k.Text(row[i])
		default:
			if !reserved.Credential(c.Name) { // in another case, beside the one that counts
				u.Columns[c.Name] = k.Value(row[i])
			}
		}
	}
	return u
}

// hostColumn returns a column that the host's configuration may name, looking
// again in case it was added since.
func (db *DB) hostColumn(ctx context.Context, name string) (Column, error) {
	t, err := db.userTable(ctx)
	if err != nil {
		return Column{}, err
	}
	if c, ok := t.column(name); ok {
		return c, nil
	}
	db.users.CompareAndSwap(t, nil)
	if t, err = db.userTable(ctx); err != nil {
		return Column{}, err
	}
	if c, ok := t.column(name); ok {
		return c, nil
	}
	return Column{}, fmt.Errorf("table %s has no column %q", usersTable, name)
}

// UserColumns returns the columns of the table users as they are now, so that a
// configuration that names one can be checked. Where the engine compares names
// without regard to case, those that sign-in needs are spelled as sign-in does.
func (db *DB) UserColumns(ctx context.Context) ([]Column, error) {
	columns, err := db.columns(ctx, usersTable)
	if !db.dialect.FoldsColumns {
		return columns, err
	}
	for i, c := range columns {
		for _, stock := range []string{colID, colName, colEmail, colPassword, colRemember, colCreated, colUpdated} {
			if len(c.Name) == len(stock) && strings.EqualFold(c.Name, stock) { // equal lengths leave ASCII, all that SQLite folds
				columns[i].Name = stock
			}
		}
	}
	return columns, err
}
