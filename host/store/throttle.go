package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/auth"
)

// throttle implements auth.Throttle.
type throttle struct{ *DB }

// The two ways to count in one statement. A counter without hits left, after
// [throttle.Undo], starts again like one whose window is over. A window that ends later
// than one that begins now, because a clock ran ahead, ends when that one does.
const (
	insertHit = `INSERT INTO vestibule_counters (id, kind, login, client, hits, ends) VALUES (?, ?, ?, ?, 1, ?) `

	hitReturning = insertHit + `ON CONFLICT (id) DO UPDATE SET
		hits = CASE WHEN vestibule_counters.ends <= ? OR vestibule_counters.hits = 0
			THEN 1 ELSE vestibule_counters.hits + 1 END,
		ends = CASE WHEN vestibule_counters.ends <= ? OR vestibule_counters.hits = 0
			OR vestibule_counters.ends > excluded.ends
			THEN excluded.ends ELSE vestibule_counters.ends END
		RETURNING hits, ends`

	// Assignments are made from left to right here, each seeing what those before
	// it did: hits is 0 where a window begins. LAST_INSERT_ID(x) sends x back with
	// the result; kind keeps its value. A new row sends nothing back.
	hitPacked = insertHit + `ON DUPLICATE KEY UPDATE
		hits = IF(ends <= ? OR hits = 0, 0, hits),
		ends = IF(hits = 0 OR ends > ?, ?, ends),
		hits = hits + 1,
		kind = IF(LAST_INSERT_ID((ends - ?) * 1048576 + LEAST(hits, 1048575)) > 0, kind, kind)`
)

func counterID(c auth.Counter) []byte {
	sum := sha256.Sum256([]byte(c.Kind + "\x00" + c.Login + "\x00" + c.Client))
	return sum[:]
}

// Hit counts an attempt. One whose connection was lost may count twice, which errs on
// the strict side; without, all sign-ins of that moment would fail.
func (t throttle) Hit(ctx context.Context, c auth.Counter, now time.Time, window time.Duration) (int, time.Time, error) {
	start, end := ms(now), ms(now.Add(window))
	args := []any{counterID(c), clip(c.Kind, 255), clip(c.Login, 255), clip(c.Client, 255), end}
	var row struct{ Hits, Ends int64 }
	err := t.write(ctx, always, func(ctx context.Context, q sqlx.ExtContext) error {
		if t.dialect.Returning {
			return sqlx.GetContext(ctx, q, &row, t.rebind(hitReturning), append(args, start, start)...)
		}
		res, err := q.ExecContext(ctx, t.rebind(hitPacked), append(args, start, end, end, start)...)
		if err != nil {
			return err
		}
		packed, err := res.LastInsertId()
		row.Hits, row.Ends = packed%1048576, start+packed/1048576
		if packed == 0 { // a new row
			row.Hits, row.Ends = 1, end
		}
		return err
	})
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("count attempt: %w", err)
	}
	return int(row.Hits), fromMS(row.Ends), nil
}

// Space counts a mail if enough time has passed since the last, the counter's end
// being when that is forgotten. Counting first locks the row, so that of parallel
// calls one is granted; a refusal takes its count back.
func (t throttle) Space(ctx context.Context, c auth.Counter, now time.Time, s auth.Spacing) (bool, error) {
	granted := false
	err := t.InTx(ctx, func(ctx context.Context) error {
		count, ends, err := t.Hit(ctx, c, now, s.Forget)
		if err != nil {
			return err
		}
		if granted = count == 1; granted {
			return nil
		}
		last := ends.Add(-s.Forget)
		if granted = !now.Before(last.Add(s.After(count - 1))); !granted {
			return t.Undo(ctx, c)
		}
		return t.run(ctx, "space mails", `UPDATE vestibule_counters SET ends = ? WHERE id = ?`, ms(now.Add(s.Forget)), counterID(c))
	})
	return granted && err == nil, err
}

// Undo takes one attempt back.
func (t throttle) Undo(ctx context.Context, c auth.Counter) error {
	return t.run(ctx, "take attempt back", `UPDATE vestibule_counters SET hits = hits - 1 WHERE id = ? AND hits > 0`, counterID(c))
}

// Clear deletes the counter.
func (t throttle) Clear(ctx context.Context, c auth.Counter) error {
	return t.settle(ctx, "clear counter", `DELETE FROM vestibule_counters WHERE id = ?`, counterID(c))
}

// A CounterInfo is a counter as the operator sees it.
type CounterInfo struct {
	auth.Counter
	// Count is the number of attempts in the window, which ends at Ends.
	Count int
	Ends  time.Time
}

// ListCounters returns up to limit counters whose windows are open, those with
// the most attempts first.
func (db *DB) ListCounters(ctx context.Context, limit int) ([]CounterInfo, error) {
	var rows []struct {
		Kind, Login, Client string
		Hits, Ends          int64
	}
	err := db.list(ctx, "list counters", &rows, `SELECT kind, login, client, hits, ends FROM vestibule_counters
		WHERE ends > ? AND hits > 0 ORDER BY hits DESC, ends, id LIMIT ?`, ms(db.settings.Now()), limit)
	if err != nil {
		return nil, err
	}
	infos := make([]CounterInfo, len(rows))
	for i, r := range rows {
		infos[i] = CounterInfo{
			Counter: auth.Counter{Kind: r.Kind, Login: r.Login, Client: r.Client},
			Count:   int(r.Hits), Ends: fromMS(r.Ends),
		}
	}
	return infos, nil
}

// ClearCounters deletes the counters of login names, in lower case, and of ids of
// users, or all of them when there are none, and returns how many it deleted.
func (db *DB) ClearCounters(ctx context.Context, names ...string) (int, error) {
	if len(names) == 0 {
		n, err := db.exec(ctx, "clear counters", `DELETE FROM vestibule_counters`)
		return int(n), err
	}
	kept := make([]string, len(names))
	for i, name := range names {
		kept[i] = clip(name, 255)
	}
	return db.execIn(ctx, "clear counters", `DELETE FROM vestibule_counters WHERE login IN (?)`, kept)
}
