package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/column"
)

// A Dialect is what one engine does differently. The engine packages fill it in.
type Dialect struct {
	// Name is the driver's name in config.hcl: sqlite, postgres or mysql.
	Name string
	// Goose is the dialect's name in the migration library.
	Goose string
	// Bind is the sqlx bind type of parameters.
	Bind int
	// Quote encloses identifiers.
	Quote string
	// Types replaces the type names of the migrations, as pairs: {auto} is a key
	// that the database counts, {key} a text compared byte by byte, {bytes} up to
	// 64 bytes, {blob} up to 16 MB, {time} a moment that may be null, {engine}
	// the words after a table's closing parenthesis, {computed} those after the expression
	// of a computed column, {fold_index} the statement that indexes the addresses
	// without regard to case, if there is one.
	Types []string
	// Columns is a query with the table's name as its parameter; its rows are
	// [Column], and there are none when the table is missing.
	Columns string
	// FoldsColumns tells that the engine compares the names of columns without
	// regard to case, quoted ones too.
	FoldsColumns bool
	// Returning tells that an upsert can return the row that it wrote. Where not,
	// LAST_INSERT_ID(expr) carries the result back.
	Returning bool
	// ForUpdate is appended to a SELECT to lock its rows.
	ForUpdate string
	// Isolation is the level of transactions, at least read committed.
	Isolation sql.IsolationLevel
	// Lock is a query that yields 1 and guards migrations against other hosts until Unlock on the same connection; empty
	// where the transaction of a migration is guard enough. Where Unlock is empty the end of the transaction unlocks,
	// and Lock does not wait: it is tried again. A host that waits then holds no connection of a pooler.
	Lock, Unlock string
	// KeyTypes are the types that CAST makes of the id of a user, which is text in the tables of the host, by the kind of the
	// key of users. A key of another kind is compared as a parameter alone: collations differ.
	KeyTypes map[string]string
	// InProcess is set if the database is part of this process. One row is then read without a deadline while a connection is free,
	// since making one takes as long as the read.
	InProcess bool
	// Logged is a condition that no row meets and that writes to the log of the server, which a full disk refuses; it changes
	// no data and makes no new snapshot. Empty where there is none.
	Logged string
	// Watch ends what waits for the server on a connection of the driver when ctx ends. It
	// returns the context for the statements in between, and what must be called once behind
	// them, which is driver.ErrBadConn where ctx has ended. nil leaves that to the driver.
	Watch func(ctx context.Context, conn any) (unwatched context.Context, end func() error)
	// Time converts a moment to what the engine stores in a column of a time type.
	Time func(time.Time) any
	// Unavailable reports whether the database refused for being away, full, or
	// locked for too long; broken connections need not be told. nil knows none.
	Unavailable func(error) bool
	// UniqueViolation reports whether a unique key stood in the way.
	UniqueViolation func(error) bool
	// BadValue reports whether a statement failed because of the values that it was to
	// write: a column cannot hold one, or a constraint or trigger of the table refuses it.
	BadValue func(error) bool
	// AlreadyExists reports whether a migration failed because its table or
	// index exists already; nil where DDL is transactional and that cannot
	// happen.
	AlreadyExists func(error) bool
	// Backup writes a consistent copy of the database into a new file; nil where
	// BackupTool, a program of the engine's, has to do that.
	Backup     func(ctx context.Context, reader *sqlx.DB, file string) error
	BackupTool string
}

// A Column is a column of a table as the engine describes it.
type Column = column.Column

// quote makes an identifier of any name.
func (d Dialect) quote(name string) string {
	return d.Quote + strings.ReplaceAll(name, d.Quote, d.Quote+d.Quote) + d.Quote
}
