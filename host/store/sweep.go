package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// Retention tells how long rows are kept that are no longer needed. The zero
// value works.
type Retention struct {
	// Idle is how long a session may go unseen; sessions are left alone when zero,
	// until their end.
	Idle time.Duration
	// Reset is how long a reset token may be used, 24 h when zero. Its claim is
	// kept for an hour more.
	Reset time.Duration
	// Buried is how long mail is kept that could not be sent, 7 days when zero.
	Buried time.Duration
	// Tokens is how long machine tokens are kept after their end, so that the log can
	// say why one is refused; 7 days when zero.
	Tokens time.Duration
	// Unknown is how many counters of login names are kept that nobody has, 100,000 when
	// zero.
	Unknown int
	// Batch bounds how many rows of one table one call deletes, 500 when zero.
	Batch int
}

func (r Retention) withDefaults() Retention {
	if r.Reset == 0 {
		r.Reset = 24 * time.Hour
	}
	if r.Buried == 0 {
		r.Buried = 7 * 24 * time.Hour
	}
	if r.Tokens == 0 {
		r.Tokens = 7 * 24 * time.Hour
	}
	if r.Unknown == 0 {
		r.Unknown = 100_000
	}
	if r.Batch == 0 {
		r.Batch = 500
	}
	return r
}

// spentFor is how long a spent challenge is kept after its end: another host's clock may be behind.
const spentFor = time.Hour

// Sweep deletes rows that have expired from every table that grows, at most one
// batch of each, so that no lock lasts long, and returns how many it deleted.
// Any number of hosts may sweep. It does not join a transaction.
func (db *DB) Sweep(ctx context.Context, now time.Time, keep Retention) (int, error) {
	keep = keep.withDefaults()
	var idleSince time.Time
	if keep.Idle > 0 {
		idleSince = now.Add(-keep.Idle)
	}
	total, err := db.Sessions().DeleteExpiredSessions(ctx, now, idleSince, keep.Batch)
	for _, s := range []struct {
		table, key, condition string
		before                time.Time
	}{
		{"vestibule_counters", "id", `ends <= ?`, now},
		{"vestibule_remember_tokens", "selector", `expires <= ?`, now},
		{"vestibule_tokens", "hash", `expires <= ?`, now.Add(-keep.Tokens)},
		{"vestibule_spent", "hash", `ends <= ?`, now.Add(-spentFor)},
		{"vestibule_outbox", "id", `buried > 0 AND buried <= ?`, now.Add(-keep.Buried)},
	} {
		n, err2 := db.sweep(ctx, s.table, s.key, s.condition, keep.Batch, ms(s.before))
		total, err = total+n, errors.Join(err, err2)
	}
	n, err2 := db.sweepUnknown(ctx, keep.Unknown, keep.Batch)
	total, err = total+n, errors.Join(err, err2)
	n, err2 = db.sweepClaims(ctx, now.Add(-keep.Reset-time.Hour), keep.Batch)
	return total + n, errors.Join(err, err2)
}

// sweep deletes up to limit rows. DELETE has no LIMIT on some engines, so the
// keys are read first; the condition is checked again for each row.
func (db *DB) sweep(ctx context.Context, table, key, condition string, limit int, args ...any) (int, error) {
	what := "sweep " + table
	var keys []any
	query := fmt.Sprintf(`SELECT %s FROM %s WHERE %s LIMIT ?`, key, table, condition)
	if err := db.list(ctx, what, &keys, query, append(args, limit)...); err != nil || len(keys) == 0 {
		return 0, err
	}
	query = fmt.Sprintf(`DELETE FROM %s WHERE %s IN (?) AND %s`, table, key, condition)
	return db.execIn(ctx, what, query, append([]any{keys}, args...)...)
}

// sweepUnknown deletes the counters of unknown login names beyond the first keep: those
// with the fewest failures, and of these the oldest. No time ends such a counter, because
// none ends that of a known name, and strangers must not tell the two apart. To lose
// one again they have to fill all others with more failures than it has.
func (db *DB) sweepUnknown(ctx context.Context, keep, limit int) (int, error) {
	const what = "sweep counters of unknown names"
	var keys []any
	err := db.list(ctx, what, &keys, `SELECT id FROM vestibule_counters WHERE kind = ? ORDER BY hits DESC, ends DESC LIMIT ? OFFSET ?`,
		auth.CountUnknown, limit, keep)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	return db.execIn(ctx, what, `DELETE FROM vestibule_counters WHERE id IN (?)`, keys)
}

// sweepClaims deletes reset tokens issued before the given time, in both tables.
func (db *DB) sweepClaims(ctx context.Context, before time.Time, limit int) (int, error) {
	const what = "sweep reset tokens"
	var rows []struct {
		Token []byte
		Email string
	}
	err := db.list(ctx, what, &rows, `SELECT token, email FROM vestibule_reset_claims WHERE created <= ? LIMIT ?`, ms(before), limit)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var tokens, emails, stock []any
	for _, r := range rows {
		tokens, emails, stock = append(tokens, r.Token), append(emails, r.Email), append(stock, hex.EncodeToString(r.Token))
	}
	if _, err := db.execIn(ctx, what, `DELETE FROM `+resetTable+` WHERE email IN (?) AND token IN (?)`, emails, stock); err != nil {
		return 0, err
	}
	return db.execIn(ctx, what, `DELETE FROM vestibule_reset_claims WHERE token IN (?)`, tokens)
}

// execIn is exec for a statement with slices among its arguments.
func (db *DB) execIn(ctx context.Context, what, query string, args ...any) (int, error) {
	query, args, err := sqlx.In(query, args...)
	if err != nil {
		return 0, failed(what, err)
	}
	n, err := db.exec(ctx, what, query, args...)
	return int(n), err
}
