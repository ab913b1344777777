package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/vestibule-dev/vestibule/v2/internal/repeat"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// ErrOutOfRange tells that a computed value is one that its type cannot hold. Databases have errors of their own for that;
// see IsOutOfRange.
var ErrOutOfRange = errors.New("a computed value is out of range")

// ErrChanged is the error of a statement on tables whose columns somebody changed after the model was made, where the
// database itself finds no fault.
var ErrChanged = errors.New("the tables were changed")

// IsTimeout tells whether a statement ended because its time was up or it was cancelled.
func IsTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errHeld) ||
		hasSQLState(err, "57014") || // query_canceled
		hasMySQLNumber(err,
			1969, // ER_STATEMENT_TIMEOUT (MariaDB)
			3024, // ER_QUERY_TIMEOUT (MySQL)
		)
}

// IsUnreachable tells whether the database was away, or too busy to take the statement.
func IsUnreachable(err error) bool {
	if errors.Is(err, ErrCopied) || errors.Is(err, ErrExchanged) || errors.Is(err, ErrEncoding) {
		return true
	}
	if IsTimeout(err) { // context.DeadlineExceeded is a net.Error, too
		return false
	}
	var network net.Error
	return IsAway(err) || IsLost(err) || errors.As(err, &network) ||
		hasSQLState(err,
			"53",  // insufficient resources
			"57P", // shut down, crashed, or starting
		) ||
		slices.Contains([]int{sqlite3.CodeBusy, sqlite3.CodeLocked}, sqlite3.PrimaryCode(err))
}

// IsLost tells whether a connection ended under a statement, or was of no use from the beginning. Reading may well
// succeed on another one, at once.
func IsLost(err error) bool {
	return repeat.Of(err) == repeat.Lost || errors.Is(err, driver.ErrBadConn)
}

// IsAway tells whether the database was not there to begin a statement. Reading may succeed as soon as it is back.
func IsAway(err error) bool { return repeat.Of(err) == repeat.NotSent }

// IsStale tells whether a statement that was prepared before no longer fits the tables, which the driver then forgets.
func IsStale(err error) bool {
	return hasSQLState(err, "0A000") && strings.Contains(err.Error(), "cached plan") ||
		hasMySQLNumber(err,
			1615, // ER_NEED_REPREPARE
		)
}

// IsChanged tells whether a statement names a table or a column that is not there, or that is of another type now: somebody
// changed the database after the model was made.
func IsChanged(err error) bool {
	return errors.Is(err, ErrChanged) || hasSQLState(err,
		"42703", // undefined_column
		"42P01", // undefined_table
	) || hasMySQLNumber(err,
		1054, // ER_BAD_FIELD_ERROR
		1146, // ER_NO_SUCH_TABLE
		1356, // ER_VIEW_INVALID
	) || says(err, "no such column") || says(err, "no such table") // SQLite, which has no codes for them
}

// IsOverflow tells whether SQLite's own sum of integers has left 64 bits.
func IsOverflow(err error) bool { return says(err, "integer overflow") }

// says tells whether an error, or one that it wraps, has a text.
func says(err error, text string) bool {
	for err != nil {
		if strings.Contains(err.Error(), text) {
			return true
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			return slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return says(e, text) })
		}
		err = errors.Unwrap(err)
	}
	return false
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
// known by its method, which those of other drivers than pgx have as well.
func hasSQLState(err error, prefixes ...string) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) &&
		slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(state.SQLState(), p) })
}

func hasMySQLNumber(err error, numbers ...uint16) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains(numbers, server.Number)
}
