package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// maxKept bounds the statements that a connection keeps: those on users name columns of the application.
const maxKept = 128

// A keeper is a connection of the driver that keeps its statements prepared, because preparing one costs more than running it. It
// is for one goroutine at a time, as package database/sql uses it.
type keeper struct {
	driverConn
	kept map[string]*statement
}

func newKeeper(inner driverConn) *keeper {
	return &keeper{driverConn: inner, kept: map[string]*statement{}}
}

// driverStmt holds the methods of the driver's statements.
type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A statement is a kept statement. Its rows are read while busy is set, and it cannot run again meanwhile.
type statement struct {
	driverStmt
	busy bool
}

// QueryContext implements driver.QueryerContext.
func (k *keeper) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := k.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.driverConn.QueryContext(ctx, query, args)
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	full, ok := found.(driverRows)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's rows are a %T", found), found.Close())
	}
	s.busy = true
	return &keptRows{full, s}, nil
}

// ExecContext implements driver.ExecerContext.
func (k *keeper) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := k.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.driverConn.ExecContext(ctx, query, args)
	}
	return s.ExecContext(ctx, args)
}

// statement returns the kept statement of a query; nil for a query that is not kept, and while the rows of its statement are read.
func (k *keeper) statement(ctx context.Context, query string) (*statement, error) {
	if s := k.kept[query]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if !keeps(query) {
		return nil, nil
	}
	prepared, err := k.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	full, ok := prepared.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's statement is a %T", prepared), prepared.Close())
	}
	if len(k.kept) >= maxKept {
		k.drop()
	}
	s := &statement{driverStmt: full}
	k.kept[query] = s
	return s, nil
}

// keeps reports whether the statement of a query is kept. A PRAGMA takes effect when it is prepared, and a transaction is begun and
// ended by the driver.
func keeps(query string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	switch word {
	case "SELECT", "INSERT", "UPDATE", "DELETE":
		return true
	}
	return false
}

// drop closes a statement that nobody uses, of no particular age: the statements of the store are fewer than maxKept.
func (k *keeper) drop() {
	for query, s := range k.kept {
		if !s.busy {
			delete(k.kept, query)
			_ = s.Close() // its error is that of its last run
			return
		}
	}
}

// Close closes the statements and the connection.
func (k *keeper) Close() error {
	for _, s := range k.kept {
		_ = s.Close() // its error is that of its last run
	}
	clear(k.kept)
	return k.driverConn.Close()
}

// driverRows holds the methods of the driver's rows.
type driverRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// keptRows are the rows of a kept statement.
type keptRows struct {
	driverRows
	of *statement
}

// Close makes the statement ready for its next run.
func (r *keptRows) Close() error {
	r.of.busy = false
	return r.driverRows.Close()
}
