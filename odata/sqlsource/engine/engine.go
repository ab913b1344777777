package engine

import (
	"context"
	"errors"
	"time"
)

// Kind tells what a Cell holds.
type Kind uint8

// The storage classes of cells.
const (
	Null Kind = iota
	Int
	Float
	Text
	Blob
)

// Cell is one value of a row as the database gave it. Bytes live until the cursor moves.
type Cell struct {
	Kind  Kind
	Int   int64
	Float float64
	Bytes []byte
	// Plain tells that Bytes are a date or an instant exactly as JSON has it.
	Plain bool
}

// DB runs the statements of requests. It is safe for concurrent use.
type DB interface {
	// Begin takes a connection for a request. ctx ends it early.
	Begin(ctx context.Context, need Need) (Tx, error)
	Close() error
}

// WriteDB is a DB that runs statements that write, too.
type WriteDB interface {
	DB
	// BeginWrite starts a transaction that writes. ctx ends its statements early.
	BeginWrite(ctx context.Context) (WriteTx, error)
}

// Need is what a request needs of its transaction.
type Need struct {
	// Snapshot makes all statements see one state of the data.
	Snapshot bool
	// Version makes the transaction name what its first statement reads, as one with a Snapshot does. It is for transactions of
	// one statement.
	Version bool
	// Rows is how many rows are read at most, as far as that is known.
	Rows int64
	// lock is how long a lock of SQLite is waited for.
	lock time.Duration
}

// Tx is a read transaction, for one goroutine. Close gives its connection back; it may be called twice.
type Tx interface {
	// Query runs one statement. Parameters are nil, bool, int64, float64, string, or []byte; for PostgreSQL also
	// []int64 and []string.
	Query(query string, args []any) (Cursor, error)
	// Interleaves tells whether a second statement may run while the cursor of a first is open.
	Interleaves() bool
	// Version names the state of the data that this transaction reads; empty where the database cannot tell.
	Version() string
	Close() error
}

// WriteTx is a transaction that writes, for one goroutine. Its statements see what it has written. Close undoes what was not
// committed.
type WriteTx interface {
	Tx
	// Exec runs a statement and returns how many rows it has changed. MariaDB may leave out the rows that are as they were.
	Exec(query string, args []any) (int64, error)
	// Commit makes the changes last. It sends nothing once ctx has ended, whose error it then returns. Behind it the
	// transaction can only be closed; IsUncertain reports whether an error leaves the outcome open.
	Commit() error
}

// Cursor goes over the rows of a statement. Close may be called twice.
type Cursor interface {
	// Next goes to the next row; false at the end.
	Next() (bool, error)
	// Row reads the current row into cells, which has the length of the statement's columns.
	Row(cells []Cell) error
	Close() error
}

// Each runs a statement whose rows have so many columns, and visits its rows until visit returns false. The cells are
// valid until visit returns.
func Each(tx Tx, width int, visit func([]Cell) bool, query string, args ...any) (err error) {
	cur, err := tx.Query(query, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	for cells := make([]Cell, width); ; {
		ok, err := cur.Next()
		if err == nil && ok {
			err = cur.Row(cells)
		}
		if err != nil || !ok || !visit(cells) {
			return err
		}
	}
}

// Ask is Each in a transaction of its own.
func Ask(ctx context.Context, db DB, width int, visit func([]Cell) bool, query string, args ...any) (err error) {
	tx, err := db.Begin(ctx, Need{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	return Each(tx, width, visit, query, args...)
}
