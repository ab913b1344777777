package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// behind reads from a standby of PostgreSQL, as odata.database does, and tells how old answers are: while nobody else
// writes, while sixteen do, and while the standby applies nothing.
func (t *town) behind(ctx context.Context) (err error) {
	if _, err := t.store.Writer().ExecContext(ctx, `CREATE TABLE ticks (id bigint PRIMARY KEY, n bigint NOT NULL); INSERT INTO ticks VALUES (1, 0)`); err != nil {
		return err
	}
	dsn, err := dbtest.Follow(t.dsn, "-c", "shared_buffers=512MB")
	if err != nil {
		return err
	}
	db, err := postgres.OpenForQueries(ctx, dsn)
	if err != nil {
		return err
	}
	source, err := sqlsource.New(ctx, sqlsource.Database{Dialect: "postgres", DB: db.Reader(), Closer: db}, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"ticks"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	service, err := odata.New(source.Model(), source, odata.Options{})
	if err != nil {
		return err
	}
	idle, err := t.ages(ctx, service, 0)
	if err != nil {
		return err
	}
	others := make(chan error, 1)
	go func() {
		_, err := t.commits(ctx, 16, 8*time.Second, t.touch)
		others <- err
	}()
	time.Sleep(time.Second)
	busy, err := t.ages(ctx, service, ticks)
	if err = errors.Join(err, <-others); err != nil {
		return err
	}
	fmt.Printf("a standby shows a commit after (median, the slowest of a hundred, the slowest): %s; while 16 write: %s\n", idle, busy)
	return t.paused(ctx, service, db.Writer().ExecContext)
}

// ticks is how many commits are looked for.
const ticks = 200

// ages are how long commits take to be seen.
func (t *town) ages(ctx context.Context, service http.Handler, from int) (string, error) {
	var took []time.Duration
	for n := from + 1; n <= from+ticks; n++ {
		if _, err := t.store.Writer().ExecContext(ctx, `UPDATE ticks SET n = $1`, n); err != nil {
			return "", err
		}
		committed := time.Now()
		for {
			seen, err := tick(service)
			if err != nil {
				return "", err
			}
			if seen == n {
				break
			}
			if time.Since(committed) > time.Minute {
				return "", fmt.Errorf("the standby shows %d a minute after %d was committed", seen, n)
			}
		}
		took = append(took, time.Since(committed))
	}
	slices.Sort(took)
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	return ms(took[ticks/2]) + ", " + ms(took[ticks*99/100-1]) + ", " + ms(took[ticks-1]), nil
}

// paused holds that a standby that applies nothing goes on to answer, with what it has.
func (t *town) paused(ctx context.Context, service http.Handler, standby func(context.Context, string, ...any) (sql.Result, error)) error {
	if _, err := standby(ctx, `SELECT pg_wal_replay_pause()`); err != nil {
		return err
	}
	before, err := tick(service)
	if err != nil {
		return err
	}
	if _, err := t.store.Writer().ExecContext(ctx, `UPDATE ticks SET n = -1`); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	now, err := tick(service)
	if err != nil {
		return err
	}
	if err := t.signsIn(t.people); err != nil {
		return err
	}
	_, err = standby(ctx, `SELECT pg_wal_replay_resume()`)
	fmt.Printf("two seconds after a commit, a standby that applies nothing answers with the state before: %t; people sign in meanwhile\n", before == now)
	return err
}

// tick reads the number by a request.
func tick(service http.Handler) (int, error) {
	w := httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/ticks(1)", nil))
	var row struct{ N int }
	if w.Code != http.StatusOK {
		return 0, fmt.Errorf("%d %s", w.Code, w.Body)
	}
	return row.N, json.Unmarshal(w.Body.Bytes(), &row)
}
