package store

import "github.com/vestibule-dev/vestibule/v2/internal/repeat"

// Remedy returns what an operator can do about a database that answers and cannot be worked
// with; it is empty for other errors.
func Remedy(err error) string {
	switch {
	case err == nil:
		return ""
	case repeat.NoTable(err):
		return "restore the table from a backup; where the database is new, run `vestibule migrate`"
	case repeat.ReadOnly(err):
		return "let the user that runs the host write the file and its directory (chmod, chown), and restart the host"
	case repeat.Unprepared(err):
		return "behind a pooler such as PgBouncer add default_query_exec_mode=exec to database.dsn"
	case repeat.Full(err):
		return "raise max_connections of the server, or lower database.max_connections of the hosts"
	}
	return ""
}
