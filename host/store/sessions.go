package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// sessions implements session.Backend.
type sessions struct{ *DB }

type sessionRow struct {
	Hash      []byte `db:"hash"`
	Version   int64  `db:"version"`
	UserID    string `db:"user_id"`
	Device    []byte `db:"device"`
	Data      []byte `db:"data"`
	Created   int64  `db:"created"`
	Seen      int64  `db:"seen"`
	Expires   int64  `db:"expires"`
	UserAgent string `db:"user_agent"`
	Address   string `db:"address"`
}

const selectSessions = `SELECT hash, version, user_id, device, data, created, seen, expires, user_agent, address
	FROM vestibule_sessions`

// FindSession returns the record without what only describes the browser. Every
// guarded request waits for it, and each column that the driver makes a value of
// costs as much as finding the row.
func (s sessions) FindSession(ctx context.Context, hash []byte) (session.Record, error) {
	r, err := s.findRow(ctx, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return session.Record{}, session.ErrGone
	}
	if err != nil {
		return session.Record{}, failed("find session", err)
	}
	return session.Record{
		Hash: hash, Version: r.Version, UserID: r.UserID, Device: r.Device, Data: r.Data,
		Created: fromMS(r.Created), Seen: fromMS(r.Seen), Expires: fromMS(r.Expires),
	}, nil
}

func (s sessions) findRow(ctx context.Context, hash []byte) (r SessionRow, err error) {
	if s.tx(ctx) == nil && s.dialect.FindSession != nil {
		if r, err = s.dialect.FindSession(hash); err == nil || errors.Is(err, sql.ErrNoRows) {
			return r, err
		}
	}
	if s.tx(ctx) == nil && s.dialect.ReadSession != nil {
		return s.readRow(ctx, hash)
	}
	err = s.row(ctx, r.scan, selectSession, hash)
	return r, err
}

// readRow reads below the pool. Whatever goes wrong there, such as that the server has closed a connection meanwhile, is
// for the pool to meet again, which repeats what may be repeated.
func (s sessions) readRow(ctx context.Context, hash []byte) (r SessionRow, err error) {
	err = s.bounded(ctx, func(ctx context.Context) error {
		r, err = s.readDriven(ctx, hash)
		if err == nil || errors.Is(err, sql.ErrNoRows) || ctx.Err() != nil {
			return err
		}
		query := s.rebind(selectSession)
		return s.retry(ctx, always, func() error { return r.scan(s.reader.QueryRowxContext(ctx, query, hash)) })
	})
	return r, err
}

// readDriven reads by the driver on a connection of the pool, without database/sql, which starts a goroutine for each
// query: each guarded request waits for it.
func (s sessions) readDriven(ctx context.Context, hash []byte) (r SessionRow, err error) {
	conn, err := s.reader.Conn(ctx)
	if err != nil {
		return r, err
	}
	defer func() {
		if closed := conn.Close(); closed != nil && !errors.Is(closed, sql.ErrConnDone) {
			err = errors.Join(err, closed)
		}
	}()
	err = conn.Raw(func(c any) (err error) {
		r, err = s.dialect.ReadSession(ctx, c, hash)
		return err
	})
	return r, err
}

const selectSession = `SELECT version, user_id, device, data, created, seen, expires FROM vestibule_sessions WHERE hash = ?`

func (r *SessionRow) scan(row *sqlx.Row) error {
	return row.Scan(&r.Version, &r.UserID, &r.Device, &r.Data, &r.Created, &r.Seen, &r.Expires)
}

// SessionRow returns the table of sessions, and the values of columns by which the row of a session is still the one that
// was read as r: each save adds to the version, and each visit that is noted sets when it was seen.
func (db *DB) SessionRow(r session.Record) (table string, columns []string, values []any) {
	return "vestibule_sessions", []string{"hash", "version", "seen", "expires"}, []any{r.Hash, r.Version, ms(r.Seen), ms(r.Expires)}
}

// FindSessions returns those of the records that there are. A query asks for 8, 64
// or 512 at a time, so that there are but three texts to prepare.
func (s sessions) FindSessions(ctx context.Context, hashes [][]byte) ([]session.Record, error) {
	var found []session.Record
	for batch := range slices.Chunk(hashes, 512) {
		size := 8
		for size < len(batch) {
			size *= 8
		}
		args := make([]any, size)
		for i := range args {
			args[i] = batch[min(i, len(batch)-1)]
		}
		var rows []sessionRow
		err := s.list(ctx, "find sessions", &rows, `SELECT hash, seen, expires FROM vestibule_sessions
			WHERE hash IN (?`+strings.Repeat(", ?", size-1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			found = append(found, session.Record{Hash: r.Hash, Seen: fromMS(r.Seen), Expires: fromMS(r.Expires)})
		}
	}
	return found, nil
}

// CreateSession inserts a record.
func (s sessions) CreateSession(ctx context.Context, r session.Record) error {
	return s.run(ctx, "create session", `INSERT INTO vestibule_sessions
		(hash, version, user_id, device, data, created, seen, expires, user_agent, address)
		VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Hash, r.UserID, orNull(r.Device), notNull(r.Data), ms(r.Created), ms(r.Seen), ms(r.Expires),
		clip(r.UserAgent, 255), clip(r.Address, 64))
}

// UpdateSession writes over the version that r was read from.
func (s sessions) UpdateSession(ctx context.Context, r session.Record) error {
	n, err := s.exec(ctx, "update session", `UPDATE vestibule_sessions
		SET user_id = ?, device = ?, data = ?, version = version + 1
		WHERE hash = ? AND version = ?`,
		r.UserID, orNull(r.Device), notNull(r.Data), r.Hash, r.Version)
	if err == nil && n == 0 {
		return session.ErrGone
	}
	return err
}

// TouchSession sets when the session was last seen. A host whose clock is behind
// does not turn it back.
func (s sessions) TouchSession(ctx context.Context, hash []byte, seen time.Time) error {
	return s.settle(ctx, "touch session", `UPDATE vestibule_sessions SET seen = ? WHERE hash = ? AND seen < ?`, ms(seen), hash, ms(seen))
}

// DeleteSession removes the record.
func (s sessions) DeleteSession(ctx context.Context, hash []byte) error {
	return s.settle(ctx, "delete session", `DELETE FROM vestibule_sessions WHERE hash = ?`, hash)
}

// DeleteUserSessions removes all records of the user.
func (s sessions) DeleteUserSessions(ctx context.Context, userID string) error {
	return s.settle(ctx, "delete sessions", `DELETE FROM vestibule_sessions WHERE user_id = ?`, userID)
}

// DeleteDeviceSessions removes all records of the device.
func (s sessions) DeleteDeviceSessions(ctx context.Context, device []byte) error {
	return s.settle(ctx, "delete sessions", `DELETE FROM vestibule_sessions WHERE device = ?`, device)
}

// DeleteExpiredSessions removes up to limit records that are over.
func (s sessions) DeleteExpiredSessions(ctx context.Context, now, idleSince time.Time, limit int) (int, error) {
	return s.sweep(ctx, "vestibule_sessions", "hash", `(expires < ? OR seen < ?)`, limit, ms(now), ms(idleSince))
}

// A SessionInfo is a session as the operator sees it.
type SessionInfo struct {
	// ID is the first 16 hex digits of the stored key, enough for
	// [DB.RevokeSession]; no session can be opened with it.
	ID string
	// UserID is empty for a guest.
	UserID string
	// UserAgent describes the browser, Address where it came from.
	UserAgent, Address string
	// Remembered tells that the device is kept signed in.
	Remembered bool
	// Created, Seen and Expires are when the session began, was last seen, and
	// ends at the latest.
	Created, Seen, Expires time.Time
}

// ListSessions returns up to limit sessions of the user, or of all users when
// userID is empty, the last seen first; guests are left out, and so are sessions
// that have reached their end.
func (db *DB) ListSessions(ctx context.Context, userID string, limit int) ([]SessionInfo, error) {
	condition := ` WHERE user_id = ?`
	if userID == "" {
		condition = ` WHERE user_id <> ?`
	}
	var rows []sessionRow
	err := db.list(ctx, "list sessions", &rows,
		selectSessions+condition+` AND expires > ? ORDER BY seen DESC, hash LIMIT ?`, userID, ms(db.Now()), limit)
	if err != nil {
		return nil, err
	}
	infos := make([]SessionInfo, len(rows))
	for i, r := range rows {
		infos[i] = SessionInfo{
			ID: hex.EncodeToString(r.Hash)[:16], UserID: r.UserID, UserAgent: r.UserAgent, Address: r.Address,
			Remembered: r.Device != nil, Created: fromMS(r.Created), Seen: fromMS(r.Seen), Expires: fromMS(r.Expires),
		}
	}
	return infos, nil
}

// RevokeSession ends the session whose ID begins with prefix, of at least 8 hex
// digits, and the device that would bring it back. It returns
// auth.ErrNotFound when there is none, and another error for a prefix that is
// malformed or fits several.
func (db *DB) RevokeSession(ctx context.Context, prefix string) error {
	prefix = strings.ToLower(prefix)
	low, err1 := hex.DecodeString(pad(prefix, "0"))
	high, err2 := hex.DecodeString(pad(prefix, "f"))
	if len(prefix) < 8 || len(prefix) > 64 || err1 != nil || err2 != nil {
		return fmt.Errorf("revoke session: %q is no session id: it has 8 to 64 hex digits", prefix)
	}
	return db.InTx(ctx, func(ctx context.Context) error {
		var rows []sessionRow
		err := db.list(ctx, "revoke session", &rows, selectSessions+` WHERE hash >= ? AND hash <= ? LIMIT 2`, low, high)
		switch {
		case err != nil:
			return err
		case len(rows) == 0:
			return fmt.Errorf("revoke session %s: %w", prefix, auth.ErrNotFound)
		case len(rows) > 1:
			return fmt.Errorf("revoke session: %s fits several sessions: give more digits", prefix)
		}
		return failed("revoke session "+prefix, db.endSession(ctx, rows[0].Hash, rows[0].UserID))
	})
}

// endSession ends a session of the user, and its device, in the order in which locks
// are taken. The session is read again under the user's lock, as it may have ended or
// got a device before.
func (db *DB) endSession(ctx context.Context, hash []byte, userID string) error {
	// The application may have deleted the user and left the session.
	if _, err := (users{db}).Lock(ctx, userID); err != nil && !errors.Is(err, auth.ErrNotFound) {
		return err
	}
	s := sessions{db}
	record, err := s.FindSession(ctx, hash)
	switch {
	case errors.Is(err, session.ErrGone):
		return auth.ErrNotFound
	case err != nil:
		return err
	}
	if record.Device != nil {
		if err := (devices{db}).Delete(ctx, record.Device); err != nil {
			return err
		}
		if err := s.DeleteDeviceSessions(ctx, record.Device); err != nil {
			return err
		}
	}
	return s.DeleteSession(ctx, hash)
}

func pad(s, with string) string { return s + strings.Repeat(with, max(0, 64-len(s))) }
