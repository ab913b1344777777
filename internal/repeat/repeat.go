package repeat

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// A Verdict is what an error of a database says about repeating what failed.
type Verdict int

// The verdicts.
const (
	// Never: the database has answered, or nobody waits any more.
	Never Verdict = iota
	// Conflict: somebody else was in the way. The statement, or its transaction, was
	// undone; at once it may well succeed.
	Conflict
	// NotSent: the database was away or refused to begin, and certainly did nothing.
	// It may succeed as soon as the database is back, on this server or another.
	NotSent
	// Lost: the connection ended under the statement, and nobody knows whether it was
	// done. Reads may be repeated, writes that do the same when done twice, and a
	// transaction whose COMMIT was not sent yet, because servers roll back what its
	// connection leaves behind.
	Lost
)

// Of judges an error. The rules, with their sources:
//
//   - database/sql/driver: ErrBadConn "should never be returned if there's a possibility
//     that the database server might have performed the operation": NotSent. A
//     connection that could not be made (the method NotConnected, or a failed dial), or
//     pgconn's SafeToRetry, "guaranteed to have occurred before sending any data":
//     NotSent. But a wrong password, database or right stays wrong: Never. And pgconn's
//     ErrConnClosed, which has that method, is also what MultiResultReader.NextResult makes
//     of a connection that breaks before the answer to a COMMIT: Lost.
//   - PostgreSQL (Appendix A, Error Codes; 13.5, Serialization Failure Handling): 40001,
//     40P01 and 25P03 (it stood still for too long) have rolled the transaction back:
//     Conflict. 57P03 (starting, or in recovery),
//     53300 (too many connections), 08001, 08004 and 25006 (a standby refuses to write)
//     come before anything is done: NotSent. 57P01, 57P02 and 57P05 (shutdown, crash,
//     idle session) and other 08 may come behind a commit whose answer got lost: Lost.
//   - MariaDB and MySQL (Error Code Reference; Galera, "WSREP has not yet prepared node"):
//     1213 rolls the transaction back, 1205 the statement: Conflict. 1040, 1203 (too many
//     connections), 1047 (the node of Galera has left), 1290, 1792 and 1836 (read-only)
//     refuse to begin: NotSent. 1053, 1927, 2006, 2013 and the driver's ErrInvalidConn
//     (shutdown, killed, gone): Lost.
//   - SQLite (rescode.html): BUSY and LOCKED are about a lock that was not to be had:
//     Conflict. Files do not get lost on the way.
//   - A broken connection of any kind (EOF, a net.Error): Lost. The end of a context: Never.
func Of(err error) Verdict {
	if err == nil {
		return Never
	}
	if notConnected(err) {
		if wrongAccess(err) {
			return Never
		}
		return NotSent
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Never
	}
	if v, ok := ofServer(err); ok {
		return v
	}
	var network net.Error
	switch {
	case errors.Is(err, pgconn.ErrConnClosed):
		return Lost
	case errors.Is(err, driver.ErrBadConn), safe(err):
		return NotSent
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, mysql.ErrInvalidConn):
		return Lost
	}
	return Never
}

// ofServer judges what a server, or SQLite, has said; ok is false for other errors.
func ofServer(err error) (v Verdict, ok bool) {
	switch {
	case hasState(err, "40001", "40P01", "25P03"), hasNumber(err, 1205, 1213), busy(err):
		return Conflict, true
	case hasState(err, "57P03", "53300", "08001", "08004", "25006"), hasNumber(err, 1040, 1047, 1203, 1290, 1792, 1836):
		return NotSent, true
	case hasState(err, "57P01", "57P02", "57P05", "08"), hasNumber(err, 1053, 1927, 2006, 2013):
		return Lost, true
	}
	var state interface{ SQLState() string }
	var numbered *mysql.MySQLError
	return Never, errors.As(err, &state) || errors.As(err, &numbered)
}

// notConnected reports whether no connection could be made.
func notConnected(err error) bool {
	var told interface{ NotConnected() bool }
	var dialed *net.OpError
	return errors.As(err, &told) && told.NotConnected() || errors.As(err, &dialed) && dialed.Op == "dial"
}

// wrongAccess reports whether a server let nobody in for a reason that stays.
func wrongAccess(err error) bool {
	return hasState(err, "28", "3D", "42") || hasNumber(err, 1044, 1045, 1049)
}

// safe asks errors of pgconn, by their method.
func safe(err error) bool {
	var told interface{ SafeToRetry() bool }
	return errors.As(err, &told) && told.SafeToRetry()
}

// hasState tells whether an error of PostgreSQL has a SQLSTATE that begins with one of
// the prefixes.
func hasState(err error, prefixes ...string) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) &&
		slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(state.SQLState(), p) })
}

func hasNumber(err error, numbers ...uint16) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains(numbers, server.Number)
}

// busy reports whether another connection to a SQLite file had a lock.
func busy(err error) bool {
	code := sqlite3.PrimaryCode(err)
	return code == sqlite3.CodeBusy || code == sqlite3.CodeLocked
}
