package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// together lets sixteen clients come at once, to one host and to both, and looks how many visits the database notes.
func (t *town) together(ctx context.Context) error {
	for range 16 {
		if err := t.signsIn(t.people); err != nil {
			return err
		}
	}
	for _, hosts := range []int{1, 2} {
		if err := t.step(ctx, fmt.Sprintf("%9d people: pages of 16 clients, hosts: %d", t.people, hosts), 16*each, once(func() error { return t.crowded(hosts) })); err != nil {
			return err
		}
	}
	connections, err := t.connections(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d connections of two hosts and of this program\n", connections)
	page, err := t.noting(ctx)
	if err != nil {
		return err
	}
	for _, at := range []int{16, 256} {
		alone, err := t.commits(ctx, at, 5*time.Second, t.touch)
		if err != nil {
			return err
		}
		together, err := t.commits(ctx, at, 5*time.Second, page)
		if err != nil {
			return err
		}
		fmt.Printf("%d at once note visits of so many sessions a second: %.0f by a statement each, %.0f with the whole page through a host\n", at, alone, together)
	}
	if t.db != "postgres" {
		return err
	}
	return t.behind(ctx)
}

// each is how many requests a client sends.
const each = 100

// once does something at the first call.
func once(do func() error) func() error {
	done := false
	return func() error {
		if done {
			return nil
		}
		done = true
		return do()
	}
}

// crowded sends a hundred requests of each of sixteen clients.
func (t *town) crowded(hosts int) error {
	var all sync.WaitGroup
	failed := make([]error, len(t.cookies))
	for i, cookie := range t.cookies[len(t.cookies)-16:] {
		all.Go(func() {
			for n := 0; n < each && failed[i] == nil; n++ {
				failed[i] = t.visit(t.hosts[(i+n)%hosts], http.MethodGet, "/dashboard", cookie)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

func (t *town) connections(ctx context.Context) (n int, err error) {
	var name string
	switch t.db {
	case "postgres":
		err = t.store.Reader().QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()`).Scan(&n)
	case "mariadb":
		err = t.store.Reader().QueryRowContext(ctx, `SHOW STATUS LIKE 'Threads_connected'`).Scan(&name, &n)
	}
	return n, err
}

// commits is how many times a second so many goroutines can note when a session was seen, with all that lies between a host
// and its disk. No session comes twice.
func (t *town) commits(ctx context.Context, at int, d time.Duration, note func(context.Context, int) (bool, error)) (float64, error) {
	ctx, end := context.WithTimeout(ctx, 2*d)
	defer end()
	var all sync.WaitGroup
	var done atomic.Int64
	failed := make([]error, at)
	begin := time.Now()
	for i := range failed {
		all.Go(func() {
			for time.Since(begin) < d && failed[i] == nil {
				n := 1 + int(t.noted.Add(1)*7919)%t.people
				var noted bool
				if noted, failed[i] = note(ctx, n); noted {
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begin).Seconds(), errors.Join(failed...)
}

// touch notes a visit by a statement of its own.
func (t *town) touch(ctx context.Context, n int) (bool, error) {
	return true, t.store.Sessions().TouchSession(ctx, sessionHash(n), time.Now())
}

// noting returns what sends the first page of five minutes with a session to a host in this process.
func (t *town) noting(ctx context.Context) (func(context.Context, int) (bool, error), error) {
	o, err := people(ctx, t.db, t.dsn)
	if err != nil {
		return nil, err
	}
	o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	o.Session.Idle = 24 * time.Hour
	h, err := host.New(o)
	if err != nil {
		return nil, err
	}
	handler, err := h.Handler()
	return func(ctx context.Context, n int) (bool, error) {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/dashboard", nil)
		r.Header.Set("Cookie", "vestibule_session="+base64.RawURLEncoding.EncodeToString(sessionID(n)))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if to := w.Header().Get("Location"); to != "/x" && w.Code != http.StatusUnauthorized { // the sweep before took some
			return false, fmt.Errorf("%d %s, to %q", w.Code, w.Body, to)
		}
		return w.Code != http.StatusUnauthorized, nil
	}, err
}
