package store

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"

	"github.com/jmoiron/sqlx"
)

// values is row for a row whose values are taken as the driver gives them, below package database/sql: its conversions take as long
// as those of the driver.
func (db *DB) values(ctx context.Context, query string, args ...any) (row []any, err error) {
	query = db.rebind(query)
	err = db.one(ctx, func(ctx context.Context, q sqlx.QueryerContext) (err error) {
		row, err = valuesFrom(ctx, q, query, args)
		return err
	})
	return row, err
}

func valuesFrom(ctx context.Context, q sqlx.QueryerContext, query string, args []any) (row []any, err error) {
	if conn, ok := q.(*sqlx.Conn); ok {
		err = conn.Raw(func(driven any) error {
			row, err = driverRow(ctx, driven, query, args)
			return err
		})
		if !errors.Is(err, driver.ErrSkip) {
			return row, err
		}
	}
	found := q.QueryRowxContext(ctx, query, args...)
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	return row, found.Scan(into...)
}

// driverRow reads a row on a connection of a driver. It returns driver.ErrSkip if package database/sql has to prepare the statement or
// to convert an argument.
func driverRow(ctx context.Context, driven any, query string, args []any) (row []any, err error) {
	conn, ok := driven.(driver.QueryerContext)
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		ok = ok && driver.IsValue(arg)
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	if !ok {
		return nil, driver.ErrSkip
	}
	rows, err := conn.QueryContext(ctx, query, named)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); errors.Is(err, io.EOF) {
		return nil, sql.ErrNoRows
	} else if err != nil {
		return nil, err
	}
	row = make([]any, len(values))
	for i, v := range values {
		row[i] = v
		if b, ok := v.([]byte); ok { // the driver's own
			row[i] = bytes.Clone(b)
		}
	}
	return row, nil
}

// bytesOf, textOf and intOf return a value that a driver has read from a column of the host's own; nothing for null.
func bytesOf(v any) []byte {
	if s, ok := v.(string); ok {
		return []byte(s)
	}
	b, _ := v.([]byte)
	return b
}

func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(bytesOf(v))
}

func intOf(v any) (int64, error) {
	if n, ok := v.(int64); ok || v == nil {
		return n, nil
	}
	return strconv.ParseInt(textOf(v), 10, 64) // as a server sends it that speaks of texts alone
}
