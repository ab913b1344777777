package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"zombiezen.com/go/sqlite"
)

// ErrOutOfRange is the error of a statement on SQLite in which integers left the 64 bits or dates the years 1 to 9999. The
// other databases have errors of their own for that; see IsOutOfRange.
var ErrOutOfRange = errors.New("integer out of range")

// IsTimeout tells whether a statement ended because its time was up or it was cancelled.
func IsTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) ||
		hasSQLState(err, "57014") || // query_canceled
		hasMySQLNumber(err,
			1969, // ER_STATEMENT_TIMEOUT (MariaDB)
			3024, // ER_QUERY_TIMEOUT (MySQL)
		)
}

// IsUnreachable tells whether the database was away, or too busy to take the statement.
func IsUnreachable(err error) bool {
	if errors.Is(err, ErrCopied) {
		return true
	}
	if IsTimeout(err) { // context.DeadlineExceeded is a net.Error, too
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		hasSQLState(err,
			"08",  // connection exception
			"53",  // insufficient resources, such as too many connections
			"57P", // shut down, crashed, or starting
		) ||
		hasMySQLNumber(err,
			1040, // ER_CON_COUNT_ERROR
			1053, // ER_SERVER_SHUTDOWN
		) ||
		hasSQLiteCode(err, sqlite.ResultBusy, sqlite.ResultLocked)
}

// IsOutOfRange tells whether a number or a date left its range while the database computed with it.
func IsOutOfRange(err error) bool {
	return errors.Is(err, ErrOutOfRange) ||
		hasSQLState(err,
			"22003", // numeric_value_out_of_range
			"22008", // datetime_field_overflow
		) ||
		hasMySQLNumber(err,
			1690, // ER_DATA_OUT_OF_RANGE
			1441, // ER_DATETIME_FUNCTION_OVERFLOW
		)
}

// hasSQLState tells whether an error of PostgreSQL has a SQLSTATE that begins with one of the prefixes. The error is
// known by its method, so that no driver for PostgreSQL is linked where none is used.
func hasSQLState(err error, prefixes ...string) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) &&
		slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(state.SQLState(), p) })
}

func hasMySQLNumber(err error, numbers ...uint16) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains(numbers, server.Number)
}

func hasSQLiteCode(err error, codes ...sqlite.ResultCode) bool {
	return slices.Contains(codes, sqlite.ErrCode(err).ToPrimary())
}
