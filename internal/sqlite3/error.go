package sqlite3

import (
	"errors"
	"fmt"

	lib "modernc.org/sqlite/lib"
)

// An Error holds the answer of SQLite to a call that failed.
type Error struct {
	code int
	text string
}

// Code returns the extended result code.
func (e *Error) Code() int { return e.code }

// Text returns the words of SQLite.
func (e *Error) Text() string { return e.text }

func (e *Error) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.text, e.code) }

// Primary result codes. https://www.sqlite.org/rescode.html
const (
	CodeError    = lib.SQLITE_ERROR
	CodeBusy     = lib.SQLITE_BUSY
	CodeLocked   = lib.SQLITE_LOCKED
	CodeReadOnly = lib.SQLITE_READONLY
)

// PrimaryCode returns the primary result code of an error of SQLite, that of this package or of the driver for database/sql;
// 0 for another error.
func PrimaryCode(err error) int {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return 0
	}
	return coded.Code() & 0xff
}
