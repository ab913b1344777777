package mysql

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/vestibule-dev/vestibule/v2/host/store"
)

const findSession = `SELECT version, user_id, device, data, created, seen, expires FROM vestibule_sessions WHERE hash = ?`

// readSession reads a session by the driver's connection c.
func readSession(ctx context.Context, c any, hash []byte) (s store.SessionRow, err error) {
	watched, ok := c.(*connection)
	if !ok {
		return s, fmt.Errorf("the driver's connection is a %T, which cannot be watched", c)
	}
	ctx, end := watched.Watch(ctx)
	defer func() { err = errors.Join(err, end()) }()
	return queried(ctx, watched, hash)
}

// queried runs the statement. A value is the driver's until the rows are closed.
func queried(ctx context.Context, conn *connection, hash []byte) (s store.SessionRow, err error) {
	rows, err := conn.QueryContext(ctx, findSession, []driver.NamedValue{{Ordinal: 1, Value: hash}})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var v [7]driver.Value
	if err := rows.Next(v[:]); errors.Is(err, io.EOF) {
		return s, sql.ErrNoRows
	} else if err != nil {
		return s, err
	}
	var faults [4]error
	s.Version, faults[0] = number(v[0])
	s.Created, faults[1] = number(v[4])
	s.Seen, faults[2] = number(v[5])
	s.Expires, faults[3] = number(v[6])
	s.UserID, s.Device, s.Data = string(raw(v[1])), bytes.Clone(raw(v[2])), bytes.Clone(raw(v[3]))
	return s, errors.Join(faults[:]...)
}

// number reads an integer, which comes as a text or not.
func number(v driver.Value) (int64, error) {
	if n, ok := v.(int64); ok {
		return n, nil
	}
	return strconv.ParseInt(string(raw(v)), 10, 64)
}

// raw returns a value that is no number; nil for null.
func raw(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}
