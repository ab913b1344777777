package store

import (
	"context"
	"database/sql"
	"time"
)

// Pools returns the states of the pools: "sign_in", "readiness" for the connection of
// [DB.Ready], and on SQLite "sign_in_writer", of which there is one connection.
func (db *DB) Pools() map[string]sql.DBStats {
	pools := map[string]sql.DBStats{"sign_in": db.reader.Stats(), "readiness": db.probe.writer.Stats()}
	if db.writer != db.reader {
		pools["sign_in_writer"] = db.writer.Stats()
	}
	return pools
}

// Backlog is what waits in the outbox: mails, or events for listeners. Oldest is how long
// the oldest of those that wait has been there, 0 when nothing waits. Dead is what was
// given up and is kept for the operator.
type Backlog = struct {
	Kind          string
	Waiting, Dead int64
	Oldest        time.Duration
}

// Backlog counts what is in the outbox of all hosts, "mail" and "event". It uses the
// connection of [DB.Ready], so that neither waits for requests.
func (o Outbox) Backlog(ctx context.Context) ([]Backlog, error) {
	var rows []struct {
		Event, Dead, N, Oldest int64
	}
	err := o.db.probe.list(ctx, "count the outbox", &rows, `SELECT
			CASE WHEN listener = '' THEN 0 ELSE 1 END AS event, CASE WHEN buried = 0 THEN 0 ELSE 1 END AS dead,
			COUNT(*) AS n, MIN(created) AS oldest
		FROM vestibule_outbox GROUP BY 1, 2`)
	if err != nil {
		return nil, err
	}
	list := []Backlog{{Kind: "mail"}, {Kind: "event"}}
	now := ms(o.db.Now())
	for _, r := range rows {
		b := &list[r.Event]
		if r.Dead == 1 {
			b.Dead = r.N
			continue
		}
		b.Waiting, b.Oldest = r.N, time.Duration(max(now-r.Oldest, 0))*time.Millisecond
	}
	return list, nil
}
