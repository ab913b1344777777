package events_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/events"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// table keeps events in memory, in the order of their keys. The real one is tested in
// host/store, and the worker in host/outbox.
type table struct {
	mu   sync.Mutex
	rows map[string]outbox.Item
	due  map[string]time.Time
	dead map[string]string // reasons
}

func (b *table) Lease(_ context.Context, c outbox.Claim) (outbox.Item, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range slices.SortedFunc(maps.Values(b.rows), func(x, y outbox.Item) int { return cmp.Compare(x.ID, y.ID) }) {
		orphan := !slices.Contains(c.Known, i.Listener) && !i.Created.After(c.Orphaned)
		if (slices.Contains(c.Free, i.Listener) || orphan) && !b.due[i.ID].After(c.Now) {
			i.Attempt++
			b.rows[i.ID], b.due[i.ID] = i, c.Until
			return i, nil
		}
	}
	return outbox.Item{}, nil
}

func (b *table) Renew(_ context.Context, i outbox.Item, until time.Time) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := b.rows[i.ID].Attempt == i.Attempt
	if held {
		b.due[i.ID] = until
	}
	return held, nil
}

func (b *table) Done(_ context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.rows, id)
	return nil
}

func (b *table) Take(ctx context.Context, i outbox.Item) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, there := b.rows[i.ID]
	delete(b.rows, i.ID)
	return there, nil
}

func (b *table) Retry(_ context.Context, i outbox.Item, next time.Time, _ string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due[i.ID] = next
	return nil
}

func (b *table) Bury(_ context.Context, i outbox.Item, _ time.Time, reason string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.rows, i.ID)
	b.dead[i.ID] = reason
	return nil
}

// Events are delivered with the person of now, repeated for a day, and given up an hour
// later where no host has the listener.
func TestListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		box := &table{rows: map[string]outbox.Item{}, due: map[string]time.Time{}, dead: map[string]string{}}
		add := func(n int, listener, user string) {
			id := fmt.Sprintf("%032d%s", n, listener)
			box.rows[id] = outbox.Item{ID: id, Listener: listener, Purpose: "password_reset", UserID: user, Created: begin}
		}
		add(1, "audit", "ada")
		add(1, "webhook", "ada")
		add(2, "gone", "ada")
		add(3, "audit", "unreadable")
		var mu sync.Mutex
		var got []pluginsdk.Event
		tries, last, counted := 0, time.Time{}, map[string]int{}
		ctx, cancel := context.WithTimeout(t.Context(), 26*time.Hour)
		defer cancel()
		events.NewWorker(events.Options{
			Outbox: box, Plugins: func() []string { return []string{"audit", "webhook"} }, Log: hclog.NewNullLogger(), Now: time.Now,
			Person: func(_ context.Context, id string) (pluginsdk.User, error) {
				if id == "unreadable" {
					return pluginsdk.User{}, errors.New("the database is away")
				}
				return pluginsdk.User{ID: id, Name: "N" + id}, nil
			},
			Notify: func(_ context.Context, listener string, e pluginsdk.Event) ([]pluginsdk.Effect, error) {
				mu.Lock()
				defer mu.Unlock()
				if listener == "webhook" {
					tries, last = tries+1, time.Now()
					return nil, errors.New("never")
				}
				got = append(got, e)
				return nil, nil
			},
			Count: func(listener, outcome string, n int) {
				mu.Lock()
				defer mu.Unlock()
				counted[listener+" "+outcome] += n
			},
		}).Run(ctx)
		want := pluginsdk.Event{ID: fmt.Sprintf("%032d", 1), Kind: "password_reset", User: pluginsdk.User{ID: "ada", Name: "Nada"}, At: begin}
		if len(got) != 1 || got[0].ID != want.ID || got[0].Kind != want.Kind || got[0].User.Name != want.User.Name || !got[0].At.Equal(want.At) {
			t.Errorf("notified of %+v, want %+v", got, want)
		}
		if tries < 100 || tries > 115 || last.Sub(begin).Round(time.Hour) != 24*time.Hour { // 10 pauses of 1 to 512 s, then 15 min each
			t.Errorf("%d tries in %s", tries, last.Sub(begin))
		}
		for id, want := range map[string]string{"1webhook": "never", "2gone": "no host has this listener", "3audit": "the database is away"} {
			found := ""
			for key, reason := range box.dead {
				if strings.HasSuffix(key, id) {
					found = reason
				}
			}
			if found != want {
				t.Errorf("%s was given up because of %q, want %q", id, found, want)
			}
		}
		retried := counted["webhook retried"]
		if diff := maps.Equal(counted, map[string]int{
			"audit told": 1, "audit retried": retried, "audit returned": 0, "audit dropped": 1,
			"webhook told": 0, "webhook retried": retried, "webhook returned": 0, "webhook dropped": 1, "gone dropped": 1,
		}); !diff || retried != tries-1 {
			t.Errorf("counted %v", counted)
		}
	})
}

// A mortal is the table as a host sees it, until the host is killed.
type mortal struct {
	*table
	killed atomic.Bool
}

var errKilled = errors.New("the host was killed")

func (m *mortal) Lease(ctx context.Context, c outbox.Claim) (outbox.Item, error) {
	if m.killed.Load() {
		return outbox.Item{}, errKilled
	}
	return m.table.Lease(ctx, c)
}

func (m *mortal) Renew(ctx context.Context, i outbox.Item, until time.Time) (bool, error) {
	if m.killed.Load() {
		return false, errKilled
	}
	return m.table.Renew(ctx, i, until)
}

func (m *mortal) Retry(ctx context.Context, i outbox.Item, next time.Time, reason string) error {
	if m.killed.Load() {
		return errKilled
	}
	return m.table.Retry(ctx, i, next, reason)
}

// Another host repeats the notification of a killed one within a minute. A notification that
// takes long is made once.
func TestLongNotifications(t *testing.T) {
	const took = 12 * time.Minute
	tests := []struct {
		name   string
		killed time.Duration // when the host is killed that is first, 0 for never
		want   []time.Duration
	}{
		{"a timeout beyond the lease", 0, []time.Duration{0}},
		{"the host is killed", 7*time.Minute + 10*time.Second, []time.Duration{0, 8 * time.Minute}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				box := &table{rows: map[string]outbox.Item{}, due: map[string]time.Time{}, dead: map[string]string{}}
				id := strings.Repeat("0", 32) + "audit"
				box.rows[id] = outbox.Item{ID: id, Listener: "audit", Purpose: "password_reset", UserID: "ada", Created: begin}
				var mu sync.Mutex
				var calls []time.Duration
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
				defer cancel()
				first := &mortal{table: box}
				if tt.killed > 0 {
					time.AfterFunc(tt.killed, func() { first.killed.Store(true) })
				}
				var hosts sync.WaitGroup
				for _, view := range []outbox.Store{first, box} {
					hosts.Go(func() {
						if view == box {
							time.Sleep(time.Second)
						}
						events.NewWorker(events.Options{
							Outbox: view, Plugins: func() []string { return []string{"audit"} }, Log: hclog.NewNullLogger(), Now: time.Now,
							Person: func(_ context.Context, id string) (pluginsdk.User, error) { return pluginsdk.User{ID: id}, nil },
							Notify: func(ctx context.Context, _ string, _ pluginsdk.Event) ([]pluginsdk.Effect, error) {
								mu.Lock()
								calls = append(calls, time.Since(begin))
								mu.Unlock()
								select {
								case <-time.After(took):
									return nil, nil
								case <-ctx.Done():
									return nil, ctx.Err()
								}
							},
							Count: func(string, string, int) {},
						}).Run(ctx)
					})
				}
				hosts.Wait()
				if len(calls) != len(tt.want) || len(box.rows) > 0 {
					t.Fatalf("notified at %v; left %v", calls, box.rows)
				}
				for i, want := range tt.want {
					if late := calls[i] - want; late < 0 || late > 15*time.Second {
						t.Errorf("notified at %v, want %v", calls, tt.want)
					}
				}
			})
		})
	}
}

// The effects of a listener are applied with the mark that the event is delivered. What
// breaks the contract is given up at once, and anything else is repeated.
func TestEffects(t *testing.T) {
	again, broken := errors.New("another value by now"), fmt.Errorf("%w: not granted", pluginsdk.ErrContract)
	for name, tt := range map[string]struct {
		notify  error
		apply   []error // by attempt
		tried   int
		applied int
		outcome string
	}{
		"applied":                 {apply: []error{nil}, tried: 1, applied: 1, outcome: "told"},
		"applied the second time": {apply: []error{again, nil}, tried: 2, applied: 1, outcome: "told"},
		"broken by the answer":    {notify: broken, tried: 1, outcome: "dropped"},
		"broken by the database":  {apply: []error{broken}, tried: 1, outcome: "dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				id := fmt.Sprintf("%032daudit", 1)
				box := &table{rows: map[string]outbox.Item{}, due: map[string]time.Time{}, dead: map[string]string{}}
				box.rows[id] = outbox.Item{ID: id, Listener: "audit", Purpose: "password_reset", UserID: "ada", Created: time.Now()}
				effects := []pluginsdk.Effect{pluginsdk.SetUser("must_change", true)}
				tried, applied, counted := 0, 0, map[string]int{}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				events.NewWorker(events.Options{
					Outbox: box, Plugins: func() []string { return []string{"audit"} }, Log: hclog.NewNullLogger(), Now: time.Now,
					Person: func(_ context.Context, id string) (pluginsdk.User, error) { return pluginsdk.User{ID: id}, nil },
					Notify: func(context.Context, string, pluginsdk.Event) ([]pluginsdk.Effect, error) {
						tried++
						return effects, tt.notify
					},
					Apply: func(ctx context.Context, user string, got []pluginsdk.Effect, take func(context.Context) (bool, error)) error {
						if err := tt.apply[tried-1]; err != nil {
							return err
						}
						there, err := take(ctx)
						if !there || err != nil || user != "ada" || len(got) != 1 || got[0].Name() != "must_change" {
							t.Errorf("applied %v to %q: %v, %v", got, user, there, err)
						}
						applied++
						return nil
					},
					Count: func(_, outcome string, n int) { counted[outcome] += n },
				}).Run(ctx)
				if tried != tt.tried || applied != tt.applied || counted[tt.outcome] != 1 || len(box.rows) != 0 {
					t.Errorf("%d tries, %d times applied, counted %v, left %v", tried, applied, counted, box.rows)
				}
			})
		})
	}
}
