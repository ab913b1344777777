package store

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
)

// Pool is the state of a pool of connections: how many there may be, how many are in
// use and idle, how often none was free, and the time spent waiting for one.
type Pool = struct {
	Name             string
	Max, InUse, Idle int
	Waits            int64
	Waited           time.Duration
}

// Pools returns the states of the pools: "sign_in", "readiness" for the connection of
// [DB.Ready], and on SQLite "sign_in_writer", of which there is one connection.
func (db *DB) Pools() []Pool {
	list := []Pool{stateOf("sign_in", db.reader), stateOf("readiness", db.probe.writer)}
	if db.writer != db.reader {
		list = append(list, stateOf("sign_in_writer", db.writer))
	}
	return list
}

func stateOf(name string, pool *sqlx.DB) Pool {
	s := pool.Stats()
	return Pool{Name: name, Max: s.MaxOpenConnections, InUse: s.InUse, Idle: s.Idle, Waits: s.WaitCount, Waited: s.WaitDuration}
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
			CASE WHEN purpose LIKE 'event:%' THEN 1 ELSE 0 END AS event, CASE WHEN buried = 0 THEN 0 ELSE 1 END AS dead,
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
