package events_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/vestibule-dev/vestibule/v2/host/pluginproc/internal/events"
	"github.com/vestibule-dev/vestibule/v2/pluginsdk"
)

// outbox keeps events in memory by the contract of events.Outbox. The real one is tested
// where it lives, in host/store.
type outbox struct {
	mu   sync.Mutex
	rows map[string]*row
}

type row struct {
	events.Item
	due    time.Time
	buried bool
	reason string
}

func (o *outbox) add(id, listener, user string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rows == nil {
		o.rows = map[string]*row{}
	}
	item := events.Item{Row: id + listener, ID: id, Listener: listener, Kind: "password_reset", UserID: user, At: time.Now()}
	o.rows[item.Row] = &row{Item: item, due: time.Now()}
}

func (o *outbox) left() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var names []string
	for name, r := range o.rows {
		if !r.buried {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (o *outbox) LeaseEvent(_ context.Context, listeners []string, now, until time.Time) (events.Item, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range slices.SortedFunc(maps.Values(o.rows), func(a, b *row) int { return cmp.Compare(a.ID, b.ID) }) {
		if r.buried || !slices.Contains(listeners, r.Listener) || r.due.After(now) || o.heldBack(r) {
			continue
		}
		r.due = until
		r.Attempt++
		return r.Item, nil
	}
	return events.Item{}, nil
}

func (o *outbox) heldBack(r *row) bool {
	for _, e := range o.rows {
		if !e.buried && e.UserID == r.UserID && e.Listener == r.Listener && e.ID < r.ID {
			return true
		}
	}
	return false
}

func (o *outbox) EventDone(_ context.Context, row string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.rows, row)
	return nil
}

func (o *outbox) RetryEvent(_ context.Context, e events.Item, next time.Time, reason string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows[e.Row].due, o.rows[e.Row].reason = next, reason
	return nil
}

func (o *outbox) BuryEvent(_ context.Context, e events.Item, _ time.Time, reason string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows[e.Row].buried, o.rows[e.Row].reason = true, reason
	return nil
}

func (o *outbox) OrphanedEvents(_ context.Context, listeners []string, _, before time.Time) ([]events.Item, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []events.Item
	for _, r := range o.rows {
		if !r.buried && !slices.Contains(listeners, r.Listener) && !r.At.After(before) {
			list = append(list, r.Item)
		}
	}
	return list, nil
}

// A rig is a worker with listeners that are functions.
type rig struct {
	outbox
	log  bytes.Buffer
	mu   sync.Mutex
	told []string // "listener:event:user name@seconds since the start"
	seen map[events.Outcome]int
}

// run runs a worker for a time of the bubble's clock. Listeners acknowledge unless refuse
// says otherwise.
func (r *rig) run(t *testing.T, while time.Duration, refuse func(listener string, e pluginsdk.Event) error, listeners ...string) {
	t.Helper()
	begin := time.Now()
	r.seen = map[events.Outcome]int{}
	w := events.NewWorker(events.Options{
		Outbox: &r.outbox, Listeners: func() []string { return listeners },
		Log: hclog.New(&hclog.LoggerOptions{Output: &r.log}),
		Person: func(_ context.Context, id string) (pluginsdk.User, error) {
			if id == "unreadable" {
				return pluginsdk.User{}, errors.New("the database is away")
			}
			return pluginsdk.User{ID: id, Name: "N" + id}, nil
		},
		Notify: func(ctx context.Context, listener string, e pluginsdk.Event) error {
			r.mu.Lock()
			r.told = append(r.told, fmt.Sprintf("%s:%s:%s@%g", listener, e.ID, e.User.Name, time.Since(begin).Seconds()))
			r.mu.Unlock()
			if e.User.ID == "hangs" {
				<-ctx.Done()
				return ctx.Err()
			}
			return refuse(listener, e)
		},
		Observe: func(_ string, o events.Outcome) {
			r.mu.Lock()
			r.seen[o]++
			r.mu.Unlock()
		},
	})
	ctx, cancel := context.WithTimeout(t.Context(), while)
	defer cancel()
	w.Kick()
	w.Run(ctx)
}

func accept(string, pluginsdk.Event) error { return nil }

func TestListenersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{}
		r.add("1", "audit", "ada")
		r.add("1", "webhook", "ada")
		r.add("2", "audit", "ada")
		r.run(t, time.Second, accept, "audit", "webhook")
		slices.Sort(r.told)
		want := []string{"audit:1:Nada@0", "audit:2:Nada@0", "webhook:1:Nada@0"}
		if !slices.Equal(r.told, want) || len(r.left()) > 0 || r.seen[events.Told] != 3 {
			t.Errorf("told %v, want %v; left %v", r.told, want, r.left())
		}
	})
}

// An event that fails is tried again after pauses that double, holds back what follows of
// its user for that listener, and nothing else.
func TestFailingEventHoldsBackItsUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{}
		r.add("1", "audit", "ada")
		r.add("2", "audit", "ada")
		r.add("3", "audit", "grace")
		r.add("1", "webhook", "ada")
		tries := 0
		r.run(t, time.Minute, func(listener string, e pluginsdk.Event) error {
			if listener == "audit" && e.ID == "1" {
				r.mu.Lock()
				defer r.mu.Unlock()
				if tries++; tries <= 4 {
					return errors.New("not \x1b[31mnow")
				}
			}
			return nil
		}, "audit", "webhook")
		slices.SortStableFunc(r.told, func(a, b string) int { return cmp.Compare(a[:7], b[:7]) })
		want := []string{
			"audit:1:Nada@0", "audit:1:Nada@1", "audit:1:Nada@3", "audit:1:Nada@7", "audit:1:Nada@15",
			"audit:2:Nada@15", "audit:3:Ngrace@0", "webhook:1:Nada@0",
		}
		if !slices.Equal(r.told, want) || len(r.left()) > 0 {
			t.Errorf("told %v, want %v; left %v", r.told, want, r.left())
		}
		if r.seen[events.Retried] != 4 || r.seen[events.Told] != 4 || strings.Contains(r.log.String(), "\x1b") {
			t.Errorf("%v %s", r.seen, r.log.String())
		}
	})
}

// A listener that hangs, with however many events, delays no other.
func TestHangingListenerDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{}
		for i := range 20 {
			r.add(fmt.Sprintf("%02d", i), "audit", fmt.Sprint("user", i))
		}
		r.add("99", "webhook", "ada")
		r.run(t, time.Minute, func(listener string, _ pluginsdk.Event) error {
			if listener == "audit" {
				time.Sleep(10 * time.Second)
				return errors.New("it ran out of time")
			}
			return nil
		}, "audit", "webhook")
		if !slices.Contains(r.told, "webhook:99:Nada@0") {
			t.Errorf("told %v", r.told)
		}
	})
}

// What fails for a day is dropped, with a line in the log; then its followers are told.
func TestEventIsDroppedAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{}
		r.add("1", "audit", "ada")
		r.add("2", "audit", "ada")
		r.add("3", "audit", "unreadable")
		r.run(t, 25*time.Hour, func(_ string, e pluginsdk.Event) error {
			if e.ID == "1" {
				return errors.New("never")
			}
			return nil
		}, "audit")
		if left := r.left(); len(left) > 0 || r.seen[events.Dropped] != 2 || r.seen[events.Told] != 1 {
			t.Errorf("left %v, seen %v", left, r.seen)
		}
		if !strings.Contains(r.log.String(), "is dropped: mend the cause") || r.rows["1audit"].reason != "never" {
			t.Error("the log, or the row, does not say why")
		}
		if n := r.seen[events.Retried]; n < 200 || n > 230 { // 10 pauses of 1 to 512 s, then 15 min each, for two events
			t.Errorf("%d tries", n)
		}
	})
}

// An event for a listener that no host has any more is given up in the end.
func TestOrphanedEventIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{}
		r.add("1", "gone", "ada")
		r.run(t, 24*time.Hour, accept, "audit")
		if len(r.left()) != 1 {
			t.Error("it was dropped too early")
		}
		r.run(t, 2*time.Hour, accept)
		if len(r.left()) > 0 || r.seen[events.Dropped] != 1 || !strings.Contains(r.log.String(), "no host has its listener") {
			t.Errorf("left %v, seen %v", r.left(), r.seen)
		}
	})
}

// A host that stops gives back at once what it could not tell.
func TestStoppingHostGivesEventsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{}
		r.add("1", "audit", "hangs")
		begin := time.Now()
		r.run(t, time.Second, accept, "audit")
		if took := time.Since(begin); took != 4*time.Second || r.seen[events.Returned] != 1 {
			t.Errorf("it took %s, %v", took, r.seen)
		}
		if due := r.rows["1audit"].due; due.After(time.Now()) {
			t.Errorf("it is due only in %s", time.Until(due))
		}
	})
}

func TestPause(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 10: 512 * time.Second, 11: 15 * time.Minute, 1000: 15 * time.Minute,
	} {
		if got := events.Pause(attempt); got != want {
			t.Errorf("after %d tries: %s, want %s", attempt, got, want)
		}
	}
}
