package host

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/vestibule-dev/vestibule/v2/host/pluginproc"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/telemetry"
)

// readiness tells whether the host can do its work: the database with its
// migrations, each plugin by name, and that it is not about to stop.
type readiness struct {
	stop     *stop
	database *telemetry.Probe
	plugins  *pluginproc.Manager
}

// checks returns what /readyz shows. Causes are for the log; the answer is public.
func (c readiness) checks(ctx context.Context) map[string]string {
	checks := map[string]string{store.CheckDatabase: telemetry.OK}
	for _, name := range []string{store.CheckMigrations, store.CheckTables, store.CheckWrites} {
		checks[name] = telemetry.OK
	}
	if err := c.database.Err(ctx); err != nil {
		checks[failedCheck(err)] = "failed"
	}
	if c.stop.draining.Load() {
		checks[checkDraining] = "stopping"
	}
	for _, p := range c.plugins.Status() {
		checks["plugin "+p.Name] = telemetry.OK
		if p.State != pluginproc.StateReady {
			checks["plugin "+p.Name] = string(p.State)
		}
	}
	return checks
}

// checkDraining is the check that fails while the host is about to stop.
const checkDraining = "draining"

// failedCheck is the name under which /readyz shows what is wrong with the database.
func failedCheck(err error) string {
	var not *store.NotReadyError
	if errors.As(err, &not) {
		return not.Check
	}
	return store.CheckDatabase
}

// A failureCount counts how often a check begins to fail: a failure between two scrapes
// leaves no trace in a gauge. It is for one goroutine.
type failureCount struct {
	of      func(context.Context) error
	count   func(check string)
	failing string // the check that failed last time, empty if none did
}

// look returns the result of the look that it counts.
func (c *failureCount) look(ctx context.Context) error {
	err := c.of(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return err // the host stops
	}
	failed := ""
	if err != nil {
		failed = failedCheck(err)
	}
	if failed != "" && failed != c.failing {
		c.count(failed)
	}
	c.failing = failed
	return err
}

// writeEvery is how many looks at the database there are to one that writes, which
// costs a flush to the disk.
const writeEvery = 5

// A storeWatch looks at the store. It is for one goroutine.
type storeWatch struct {
	Store *store.DB
	Log   hclog.Logger
	Now   func() time.Time
	looks int
	wrote error     // what came of the last write
	good  time.Time // of the last look that found nothing wrong
	away  bool      // the last look found nobody
}

// look tells of a database that is away only once requests do not wait for it any more:
// all hosts share it, and if balancers took all of them out, requests would fail at
// once that are served as soon as another server has taken over.
func (w *storeWatch) look(ctx context.Context) error {
	err := w.try(ctx)
	now := w.Now()
	away := err != nil && (store.IsAway(err) || ctx.Err() != nil)
	switch {
	case err == nil:
		w.good = now
	case away && now.Sub(w.good) < w.Store.Settings().Wait:
		if !w.away {
			w.Log.Warn("the database is away; requests wait for it", "limit_seconds", w.Store.Settings().Wait.Seconds(), "cause", err)
		}
		err = nil
	}
	w.away = away
	return err
}

// try writes at every fifth look, and at every one while that fails.
func (w *storeWatch) try(ctx context.Context) error {
	if err := w.Store.Ready(ctx); err != nil {
		return err
	}
	if w.wrote != nil || w.looks%writeEvery == 0 {
		w.wrote = w.Store.TryWrite(ctx)
	}
	w.looks++
	return w.wrote
}
