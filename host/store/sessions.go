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

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/clock"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/column"
)

// sessions implements auth.SessionRows.
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

// sessionColumns are those of FindSession, without the columns that only describe the session to its user. Every guarded request waits
// for them, and each column costs as much as finding the row.
const sessionColumns = `s.version, s.user_id, s.device, s.data, s.seen, s.expires, s.state, s.format`

// FindSession returns the record without the columns that only describe the session to its user.
func (s sessions) FindSession(ctx context.Context, hash []byte) (auth.SessionRow, error) {
	r, _, err := s.findSession(ctx, hash, s.sessionQuery)
	return r, err
}

// FindOwned returns the record as FindSession does and, read with it, its user, without Columns unless they are needed. The user is
// nil where it takes a statement of its own, and where there is none. Where Settings.Active judges the columns all of them are read.
func (s sessions) FindOwned(ctx context.Context, hash []byte, columns bool) (auth.SessionRow, *auth.User, error) {
	t, err := s.userTable(ctx)
	if err != nil || t.whole.text == "" {
		r, err := s.FindSession(ctx, hash)
		return r, nil, err
	}
	q := t.whole
	if !columns && s.settings.Active == nil {
		q = t.identity
	}
	r, more, err := s.findSession(ctx, hash, q.text)
	switch {
	case errors.Is(err, auth.ErrSessionGone), errors.Is(err, auth.ErrUnavailable), err != nil && ctx.Err() != nil:
		return r, nil, err
	case err != nil: // a column may have been dropped, or the text may be no key
		s.users.CompareAndSwap(t, nil)
		r, err = s.FindSession(ctx, hash)
		return r, nil, err
	}
	user := s.user(q.columns, more[1:])
	if r.UserID == "" || user.ID != r.UserID {
		return r, nil, nil
	}
	user.Disabled = column.Int.Text(more[0]) != "0"
	if !columns {
		user.Columns = nil // so that nobody takes them for all
	}
	return r, &user, nil
}

// findSession reads a record by a query for its columns, and what the query has behind them.
func (s sessions) findSession(ctx context.Context, hash []byte, query string) (r auth.SessionRow, more []any, err error) {
	v, err := s.values(ctx, query, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return r, nil, auth.ErrSessionGone
	}
	if err != nil {
		return r, nil, failed("find session", err)
	}
	var numbers [4]int64
	for i, at := range [...]int{0, 4, 5, 7} {
		if numbers[i], err = intOf(v[at]); err != nil {
			return r, nil, failed("find session", err)
		}
	}
	return auth.SessionRow{
		Hash: hash, Version: numbers[0], UserID: textOf(v[1]), Device: bytesOf(v[2]), Data: bytesOf(v[3]),
		Seen: fromMS(numbers[1]), Expires: fromMS(numbers[2]), State: textOf(v[6]), Format: numbers[3],
	}, v[8:], nil
}

// FindSessions returns those of the records that there are. A query asks for 8, 64
// or 512 at a time, so that there are but three texts to prepare.
func (s sessions) FindSessions(ctx context.Context, hashes [][]byte) ([]auth.SessionRow, error) {
	var found []auth.SessionRow
	for batch := range slices.Chunk(hashes, 512) {
		args := filled(batch)
		var rows []sessionRow
		err := s.list(ctx, "find sessions", &rows, `SELECT hash, user_id, seen, expires FROM vestibule_sessions
			WHERE hash IN (?`+strings.Repeat(", ?", len(args)-1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			found = append(found, auth.SessionRow{Hash: r.Hash, UserID: r.UserID, Seen: fromMS(r.Seen), Expires: fromMS(r.Expires)})
		}
	}
	return found, nil
}

// UserSessions returns up to limit records of the user that are not over.
func (s sessions) UserSessions(ctx context.Context, userID string, now, idleSince time.Time, limit int) ([]auth.SessionRow, error) {
	var rows []sessionRow
	err := s.list(ctx, "list sessions", &rows, `SELECT hash, user_id, device, created, seen, expires, user_agent, address FROM vestibule_sessions
		WHERE user_id = ? AND expires > ? AND seen > ? ORDER BY seen DESC, hash LIMIT ?`, userID, ms(now), ms(idleSince), limit)
	if err != nil {
		return nil, err
	}
	found := make([]auth.SessionRow, len(rows))
	for i, r := range rows {
		found[i] = auth.SessionRow{
			Hash: r.Hash, UserID: r.UserID, Device: r.Device, Created: fromMS(r.Created), Seen: fromMS(r.Seen), Expires: fromMS(r.Expires),
			UserAgent: r.UserAgent, Address: r.Address,
		}
	}
	return found, nil
}

// CreateSession inserts a record.
func (s sessions) CreateSession(ctx context.Context, r auth.SessionRow) error {
	return s.run(ctx, "create session", `INSERT INTO vestibule_sessions
		(hash, version, user_id, device, data, created, seen, expires, user_agent, address, state, format)
		VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Hash, r.UserID, orNull(r.Device), notNull(r.Data), ms(r.Created), ms(r.Seen), ms(r.Expires),
		clip(r.UserAgent, 255), clip(r.Address, 64), clip(r.State, 16), r.Format)
}

// UpdateSession writes over the version that r was read from.
func (s sessions) UpdateSession(ctx context.Context, r auth.SessionRow) error {
	n, err := s.exec(ctx, "update session", `UPDATE vestibule_sessions
		SET user_id = ?, device = ?, data = ?, state = ?, format = ?, version = version + 1
		WHERE hash = ? AND version = ?`,
		r.UserID, orNull(r.Device), notNull(r.Data), clip(r.State, 16), r.Format, r.Hash, r.Version)
	if err == nil && n == 0 {
		return auth.ErrSessionGone
	}
	return err
}

// TouchSession sets when the session was last seen. A host whose clock is a little behind
// does not turn it back; a visit that lies further ahead is replaced, or else nobody would
// know for how long nobody comes.
func (s sessions) TouchSession(ctx context.Context, hash []byte, seen time.Time) error {
	return s.settle(ctx, "touch session", `UPDATE vestibule_sessions SET seen = ? WHERE hash = ? AND (seen < ? OR seen > ?)`,
		ms(seen), hash, ms(seen), ms(seen.Add(clock.Skew)))
}

// TouchSessions is TouchSession for each of the hashes, up to 512 of them in a statement.
func (s sessions) TouchSessions(ctx context.Context, hashes [][]byte, seen time.Time) error {
	for batch := range slices.Chunk(hashes, 512) {
		keys := filled(batch)
		args := append(append([]any{ms(seen)}, keys...), ms(seen), ms(seen.Add(clock.Skew)))
		err := s.settle(ctx, "touch sessions", `UPDATE vestibule_sessions SET seen = ?
			WHERE hash IN (?`+strings.Repeat(", ?", len(keys)-1)+`) AND (seen < ? OR seen > ?)`, args...)
		if err != nil {
			return err
		}
	}
	return nil
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
		selectSessions+condition+` AND expires > ? ORDER BY seen DESC, hash LIMIT ?`, userID, ms(db.settings.Now()), limit)
	if err != nil {
		return nil, err
	}
	now, infos := db.settings.Now(), make([]SessionInfo, len(rows))
	for i, r := range rows {
		infos[i] = SessionInfo{
			ID: hex.EncodeToString(r.Hash)[:16], UserID: r.UserID, UserAgent: r.UserAgent, Address: r.Address,
			Remembered: r.Device != nil, Created: clock.Past(fromMS(r.Created), now), Seen: clock.Past(fromMS(r.Seen), now), Expires: fromMS(r.Expires),
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
	case errors.Is(err, auth.ErrSessionGone):
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
