package engine

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vestibule-dev/vestibule/v2/internal/repeat"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// BreachKind is the sort of rule that a row breaks.
type BreachKind uint8

// The kinds of breaches.
const (
	// NotBreached: the error has another reason.
	NotBreached BreachKind = iota
	// OfValue: a column cannot hold a value.
	OfValue
	// OfNull: a column needs a value.
	OfNull
	// OfCheck: a check constraint, or a trigger that refuses the row.
	OfCheck
	// OfUnique: a unique index.
	OfUnique
	// OfForeign: a foreign key of the table names a row that is not there, or a foreign key of another table names this row:
	// which of them, only MariaDB says.
	OfForeign
	// OfReferenced: a foreign key of another table names this row.
	OfReferenced
)

// Breach is the rule of a database that a row breaks.
type Breach struct {
	Kind BreachKind
	// Name is the name of the constraint or index, Columns the columns that it is over, and Table the table that has it, as far as the
	// database says so. A trigger may have written another table than that of the statement.
	Name    string
	Columns []string
	Table   string
}

// BreachOf reads what an error says of the rule that a row breaks.
func BreachOf(err error) Breach {
	var pg *pgconn.PgError
	var server *mysql.MySQLError
	switch {
	case errors.As(err, &pg):
		return postgresBreach(pg)
	case errors.As(err, &server):
		return mysqlBreach(server)
	}
	var lite *sqlite3.Error
	if errors.As(err, &lite) {
		return sqliteBreach(lite)
	}
	return Breach{}
}

func postgresBreach(err *pgconn.PgError) Breach {
	b := Breach{Name: err.ConstraintName, Table: err.TableName}
	switch code := err.Code; {
	case code == "23502":
		b.Kind, b.Columns = OfNull, []string{err.ColumnName}
	case code == "23514", code == "44000", code == "P0001": // check, WITH CHECK OPTION, RAISE
		b.Kind = OfCheck
	case code == "23505", code == "23P01": // unique, exclusion
		b.Kind = OfUnique
	case code == "23503", code == "23001":
		b.Kind = OfForeign
	case strings.HasPrefix(code, "22"), code == "54000": // such as a text that is too long for an index
		b.Kind = OfValue
	case strings.HasPrefix(code, "23"), ownCode(code):
		b.Kind = OfCheck
	}
	return b
}

// ownCode reports whether a SQLSTATE is one that a trigger has given itself: neither the standard nor PostgreSQL has it.
func ownCode(code string) bool {
	switch class := code[:min(2, len(code))]; class {
	case "53", "54", "55", "57", "58", "P0", "XX", "":
		return false
	default:
		return class[0] >= '5' && class[0] <= '9' || class[0] >= 'I'
	}
}

// What MariaDB says, in the words of every language: names stand in quotes, of which sql_mode knows two kinds.
var (
	mysqlKey        = regexp.MustCompile("'([^']*)'$")
	mysqlColumn     = regexp.MustCompile("'([^']*)'")
	mysqlLast       = regexp.MustCompile("[`']([^`']+)[`'][^`']*$")
	mysqlConstraint = regexp.MustCompile("[`\"]((?:[^`\"]|``|\"\")*)[`\"]")
)

func mysqlBreach(err *mysql.MySQLError) Breach {
	first := func(of *regexp.Regexp) string {
		if m := of.FindStringSubmatch(err.Message); m != nil {
			return m[1]
		}
		return ""
	}
	switch err.Number {
	case 1048, // ER_BAD_NULL_ERROR
		1364: // ER_NO_DEFAULT_FOR_FIELD
		return Breach{Kind: OfNull, Columns: []string{first(mysqlColumn)}}
	case 4025: // ER_CONSTRAINT_FAILED
		return Breach{Kind: OfCheck, Name: first(mysqlConstraint)}
	case 3819: // ER_CHECK_CONSTRAINT_VIOLATED (MySQL)
		return Breach{Kind: OfCheck, Name: first(mysqlColumn)}
	case 1644: // ER_SIGNAL_EXCEPTION
		return Breach{Kind: OfCheck}
	case 1062, // ER_DUP_ENTRY
		1169, // ER_DUP_UNIQUE
		1586: // ER_DUP_ENTRY_WITH_KEY_NAME
		name := first(mysqlKey)
		return Breach{Kind: OfUnique, Name: name[strings.LastIndexByte(name, '.')+1:]}
	case 1216, 1452: // ER_NO_REFERENCED_ROW
		return Breach{Kind: OfForeign}
	case 1217, 1451: // ER_ROW_IS_REFERENCED
		return Breach{Kind: OfReferenced}
	case 1264, // ER_WARN_DATA_OUT_OF_RANGE
		1265, // WARN_DATA_TRUNCATED
		1292, // ER_TRUNCATED_WRONG_VALUE
		1366, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
		1367, // ER_ILLEGAL_VALUE_FOR_TYPE
		1406, // ER_DATA_TOO_LONG
		1411, // ER_WRONG_VALUE_FOR_TYPE
		1441, // ER_DATETIME_FUNCTION_OVERFLOW
		1690, // ER_DATA_OUT_OF_RANGE
		1071, // ER_TOO_LONG_KEY
		1118, // ER_TOO_BIG_ROWSIZE
		3140, // ER_INVALID_JSON_TEXT (MySQL)
		3141: // ER_INVALID_JSON_TEXT_IN_PARAM (MySQL)
		if column := first(mysqlLast); column != "" {
			return Breach{Kind: OfValue, Columns: []string{column}}
		}
		return Breach{Kind: OfValue}
	}
	if string(err.SQLState[:]) == "45000" { // of SIGNAL, with a number of its own
		return Breach{Kind: OfCheck}
	}
	return Breach{}
}

func sqliteBreach(err *sqlite3.Error) Breach {
	const toobig, mismatch, constraint = 18, 20, 19
	const check, foreign, notNull, primary, trigger, unique, rowid, datatype = 275, 787, 1299, 1555, 1811, 2067, 2579, 3091
	_, named, _ := strings.Cut(err.Text(), "failed: ")
	switch code := err.Code(); {
	case code == notNull:
		return sqliteColumns(OfNull, named)
	case code == check:
		return Breach{Kind: OfCheck, Name: named}
	case code == primary, code == unique, code == rowid:
		if index, ok := strings.CutPrefix(named, "index '"); ok {
			return Breach{Kind: OfUnique, Name: strings.TrimSuffix(index, "'")}
		}
		return sqliteColumns(OfUnique, named)
	case code == foreign:
		return Breach{Kind: OfForeign}
	case code == trigger:
		return Breach{Kind: OfCheck}
	case code == datatype, code&0xff == toobig, code&0xff == mismatch:
		return Breach{Kind: OfValue}
	case code&0xff == constraint:
		return Breach{Kind: OfCheck}
	}
	return Breach{}
}

// IsMalformed reports whether PostgreSQL could not read a text as a value of a type that has a language of its own, such as tsquery.
func IsMalformed(err error) bool { return hasSQLState(err, "42601") }

// sqliteColumns reads "table.column, table.column". Names with a comma or a point are not found again.
func sqliteColumns(kind BreachKind, list string) Breach {
	b := Breach{Kind: kind}
	for part := range strings.SplitSeq(list, ", ") {
		table, column, _ := strings.Cut(part, ".")
		b.Table, b.Columns = table, append(b.Columns, column)
	}
	return b
}

// ErrReadOnly is the error of a transaction that writes in a session that is for reading only.
var ErrReadOnly = errors.New("the session reads only")

// TakesNoWrites reports whether an error comes of a database, or a session of it, that may only be read.
func TakesNoWrites(err error) bool {
	return errors.Is(err, ErrReadOnly) || sqlite3.PrimaryCode(err) == sqlite3.CodeReadOnly || hasSQLState(err, "25006") ||
		hasMySQLNumber(err, 1290, 1792, 1836) // ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE
}

// MayNot reports whether an error comes of a user who has no right to the statement.
func MayNot(err error) bool {
	return hasSQLState(err, "42501") || hasMySQLNumber(err, 1142, 1143) // ER_TABLEACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR
}

// NamesTwice reports whether MariaDB has refused a table two of whose columns have one name. It looks at rights before.
func NamesTwice(err error) bool { return hasMySQLNumber(err, 1060) } // ER_DUP_FIELDNAME

// IsUndone reports whether the database has undone a transaction, or will do so, and the transaction may succeed when it is begun
// anew: another transaction was in the way, or the connection was lost before COMMIT was sent.
func IsUndone(err error) bool {
	if errors.Is(err, errRenamed) || hasMySQLNumber(err, 1020) || hasSQLState(err, "55P03") || IsStale(err) { // ER_CHECKREAD, lock_not_available
		return true
	}
	return repeat.Of(err) != repeat.Never && !(repeat.Of(err) == repeat.Conflict && isSQLite(err))
}

// isSQLite reports whether an error is one of SQLite, whose locks were waited for.
func isSQLite(err error) bool { return sqlite3.PrimaryCode(err) != 0 }

// IsUncertain reports whether an error of COMMIT leaves open whether the changes last.
func IsUncertain(err error) bool {
	const ioErr = 10
	switch {
	case errors.Is(err, errHeld): // COMMIT was not sent
		return false
	case errors.Is(err, errLeft), sqlite3.PrimaryCode(err) == ioErr:
		return true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return true
	}
	return repeat.Of(err) == repeat.Lost || IsTimeout(err)
}
