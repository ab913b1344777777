package repeat

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// Full reports whether an error says that the server has no connection left, for anybody or
// for this user.
func Full(err error) bool { return hasState(err, "53300") || hasNumber(err, 1040, 1203, 1226) }

// NoTable reports whether an error says that a table does not exist. The text of the error
// names the table.
func NoTable(err error) bool {
	return hasState(err, "42P01") || hasNumber(err, 1146) ||
		sqlite3.PrimaryCode(err) == sqlite3.CodeError && strings.Contains(err.Error(), "no such table")
}

// ReadOnly reports whether an error says that a SQLite file may not be written.
func ReadOnly(err error) bool { return sqlite3.PrimaryCode(err) == sqlite3.CodeReadOnly }

// Unprepared reports whether an error says that a prepared statement is not there, or is there
// already: connections of a pooler such as PgBouncer are not those that it was prepared on.
func Unprepared(err error) bool { return hasState(err, "26000", "42P05") }
