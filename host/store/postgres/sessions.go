package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

const findSession = `SELECT version, user_id, device, data, created, seen, expires FROM vestibule_sessions WHERE hash = $1`

// errText tells that a connection gives all values as text, as poolers want it that know no prepared statements.
var errText = errors.New("the connection gives values as text")

// givesText is where a connection keeps that it does.
const givesText = "vestibule.text"

// readSession reads a session by pgx, whose connection is behind c, and makes no value of each column.
func readSession(ctx context.Context, c any, hash []byte) (s store.SessionRow, err error) {
	driven, ok := c.(*stdlib.Conn)
	if !ok {
		return s, fmt.Errorf("the driver's connection is a %T", c)
	}
	pg := driven.Conn()
	if pg.PgConn().CustomData()[givesText] != nil {
		return s, errText
	}
	if s, err = queried(ctx, pg, hash); pg.IsClosed() || pg.PgConn().IsBusy() {
		return s, errors.Join(driver.ErrBadConn, err) // takes it out of the pool at once
	}
	return s, err
}

// queried runs the statement, with all columns in their binary form.
func queried(ctx context.Context, pg *pgx.Conn, hash []byte) (s store.SessionRow, err error) {
	rows, err := pg.Query(ctx, findSession, pgx.QueryResultFormats{pgx.BinaryFormatCode}, hash)
	if err != nil {
		return s, err
	}
	if rows.Next() {
		s, err = rowOf(rows)
	} else {
		err = sql.ErrNoRows
	}
	rows.Close()
	if errors.Is(err, errText) {
		pg.PgConn().CustomData()[givesText] = true
	}
	if failed := rows.Err(); failed != nil {
		return s, failed
	}
	return s, err
}

// rowOf copies the current row, whose numbers must be bigint: other types have as many bytes and mean something else.
func rowOf(rows pgx.Rows) (s store.SessionRow, err error) {
	columns := rows.FieldDescriptions()
	for _, column := range columns {
		if column.Format != pgx.BinaryFormatCode {
			return s, errText
		}
	}
	v := rows.RawValues()
	number := func(i int) int64 {
		if columns[i].DataTypeOID != pgtype.Int8OID || len(v[i]) != 8 {
			err = fmt.Errorf("the column %s of sessions has the type %d and %d bytes instead of a bigint", columns[i].Name, columns[i].DataTypeOID, len(v[i]))
			return 0
		}
		return int64(binary.BigEndian.Uint64(v[i])) // two's complement
	}
	s = store.SessionRow{
		Version: number(0), UserID: string(v[1]), Device: bytes.Clone(v[2]), Data: bytes.Clone(v[3]),
		Created: number(4), Seen: number(5), Expires: number(6),
	}
	return s, err
}
