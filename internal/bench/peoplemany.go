package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
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
	alone, err := t.commits(ctx, 16, 5*time.Second, t.touch)
	if err != nil {
		return err
	}
	fmt.Printf("visits noted a second in random sessions: %.0f by 16 at once, a statement each", alone)
	for _, n := range []int{16, 512} {
		statements, err := t.commits(ctx, 1, 5*time.Second, func(ctx context.Context) error { return t.touchAll(ctx, n) })
		if err != nil {
			return err
		}
		fmt.Printf("; %.0f by one after the other for %d each", float64(n)*statements, n)
	}
	fmt.Println()
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

// commits is how many times a second so many goroutines can note when sessions were seen, with all that lies between a host
// and its disk.
func (t *town) commits(ctx context.Context, at int, d time.Duration, note func(context.Context) error) (float64, error) {
	ctx, end := context.WithTimeout(ctx, 2*d)
	defer end()
	var all sync.WaitGroup
	var done atomic.Int64
	failed := make([]error, at)
	begin := time.Now()
	for i := range failed {
		all.Go(func() {
			for time.Since(begin) < d && failed[i] == nil {
				failed[i] = note(ctx)
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begin).Seconds(), errors.Join(failed...)
}

// touch notes a visit of any session.
func (t *town) touch(ctx context.Context) error {
	return t.store.Sessions().TouchSession(ctx, sessionHash(1+rand.IntN(t.people)), time.Now()) //nolint:gosec // any will do
}

// touchAll notes visits of n sessions, as a host does that collects them.
func (t *town) touchAll(ctx context.Context, n int) error {
	rows, ok := t.store.Sessions().(interface {
		TouchSessions(ctx context.Context, hashes [][]byte, seen time.Time) error
	})
	if !ok {
		return errors.New("sessions are touched one by one")
	}
	var hashes [][]byte
	for range n {
		hashes = append(hashes, sessionHash(1+rand.IntN(t.people))) //nolint:gosec // any will do
	}
	return rows.TouchSessions(ctx, hashes, time.Now())
}
