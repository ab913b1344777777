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
	commits, err := t.commits(ctx, 5*time.Second)
	fmt.Printf("%d connections of two hosts and of this program; 16 at once note %.0f visits a second in random sessions\n", connections, commits)
	if err != nil || t.db != "postgres" {
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

// commits is how many times a second sixteen goroutines can note when a session was seen, with all that lies between a host
// and its disk.
func (t *town) commits(ctx context.Context, d time.Duration) (float64, error) {
	ctx, end := context.WithTimeout(ctx, 2*d)
	defer end()
	var all sync.WaitGroup
	var done atomic.Int64
	failed := make([]error, 16)
	begin := time.Now()
	for i := range failed {
		all.Go(func() {
			for time.Since(begin) < d && failed[i] == nil {
				n := 1 + rand.IntN(t.people) // any will do
				failed[i] = t.store.Sessions().TouchSession(ctx, sessionHash(n), time.Now())
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(begin).Seconds(), errors.Join(failed...)
}
