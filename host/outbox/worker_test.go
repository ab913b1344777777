package outbox_test

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
	"github.com/vestibule-dev/vestibule/v2/host/outbox"
)

// table keeps items in memory by the contract of outbox.Store. The real one is tested
// where it lives, in host/store.
type table struct {
	mu      sync.Mutex
	rows    map[string]*row
	failing error // every call's answer while not nil
	looks   int
	looked  func(look int) // called after each look, if not nil
}

type row struct {
	outbox.Item
	due    time.Time
	buried bool
	reason string
}

// add queues a mail if listener is empty, else an event. The ids give the order.
func (t *table) add(id, listener, user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		t.rows = map[string]*row{}
	}
	item := outbox.Item{ID: id + listener, Listener: listener, Purpose: "reset", UserID: user, Created: time.Now()}
	t.rows[item.ID] = &row{Item: item, due: time.Now()}
}

func (t *table) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failing = err
}

func (t *table) left() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for name, r := range t.rows {
		if !r.buried {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (t *table) Lease(ctx context.Context, c outbox.Claim) (outbox.Item, error) {
	t.mu.Lock()
	t.looks++
	look, looked := t.looks, t.looked
	item, err := t.lease(ctx, c)
	t.mu.Unlock()
	if looked != nil {
		looked(look)
	}
	if ctx.Err() != nil {
		return outbox.Item{}, ctx.Err() // as a database answers a canceled statement
	}
	return item, err
}

func (t *table) lease(_ context.Context, c outbox.Claim) (outbox.Item, error) {
	if t.failing != nil {
		return outbox.Item{}, t.failing
	}
	for _, r := range slices.SortedFunc(maps.Values(t.rows), func(a, b *row) int { return cmp.Compare(a.ID, b.ID) }) {
		mine := slices.Contains(c.Free, r.Listener) || r.Listener != "" && !slices.Contains(c.Known, r.Listener) && !r.Created.After(c.Orphaned)
		if r.buried || !mine || r.due.After(c.Now) || t.waits(r) {
			continue
		}
		r.due = c.Until
		r.Attempt++
		return r.Item, nil
	}
	return outbox.Item{}, nil
}

func (t *table) waits(r *row) bool {
	for _, e := range t.rows {
		if r.Listener != "" && !e.buried && e.UserID == r.UserID && e.Listener == r.Listener && e.ID < r.ID {
			return true
		}
	}
	return false
}

func (t *table) Renew(_ context.Context, i outbox.Item, until time.Time) (bool, error) {
	held := false
	err := t.settle(i.ID, func(r *row) {
		if held = r.Attempt == i.Attempt && !r.buried; held {
			r.due = until
		}
	})
	return held, err
}

func (t *table) Done(_ context.Context, id string) error {
	return t.settle(id, func(*row) { delete(t.rows, id) })
}

func (t *table) Retry(_ context.Context, i outbox.Item, next time.Time, reason string) error {
	return t.settle(i.ID, func(r *row) { r.due, r.reason = next, reason })
}

func (t *table) Take(context.Context, outbox.Item) (bool, error) { return false, nil }

func (t *table) Bury(_ context.Context, i outbox.Item, _ time.Time, reason string) error {
	return t.settle(i.ID, func(r *row) { r.buried, r.reason = true, reason })
}

func (t *table) settle(id string, change func(*row)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.rows[id]; r != nil && t.failing == nil {
		change(r)
	}
	return t.failing
}

// A host is a worker whose deliverer a test writes. It records attempts and outcomes.
type host struct {
	*table
	listeners []string
	deliver   func(ctx context.Context, i outbox.Item) error // nil succeeds
	begin     time.Time

	mu   sync.Mutex
	log  bytes.Buffer
	got  []string // "id user@seconds since the start"
	seen map[outbox.Outcome]int
}

func (h *host) Listeners() []string { return h.listeners }

func (h *host) Deliver(ctx context.Context, i outbox.Item) error {
	h.mu.Lock()
	h.got = append(h.got, fmt.Sprintf("%s %s@%g", i.ID, i.UserID, time.Since(h.begin).Seconds()))
	h.mu.Unlock()
	if h.deliver == nil {
		return nil
	}
	return h.deliver(ctx, i)
}

func (h *host) Pause(i outbox.Item, now time.Time) time.Duration {
	if now.Sub(i.Created) >= time.Hour {
		return 0
	}
	return outbox.Backoff(time.Second, i.Attempt)
}

func (h *host) Observe(_ outbox.Item, o outbox.Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[o]++
}

func (h *host) worker() *outbox.Worker {
	h.begin, h.seen = time.Now(), map[outbox.Outcome]int{}
	return outbox.New(h, outbox.Options{
		Store: h.table, Log: hclog.New(&hclog.LoggerOptions{Output: &h.log, Mutex: &h.mu}), Now: time.Now,
		Lease: 2 * time.Minute, Parallel: 2, Orphaned: 2 * time.Hour,
	})
}

// run runs a worker for a time of the bubble's clock.
func (h *host) run(t *testing.T, while time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), while)
	defer cancel()
	h.worker().Run(ctx)
}

// check compares the attempts, in any order, and what is left.
func (h *host) check(t *testing.T, left int, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.got)
	if !slices.Equal(h.got, want) || len(h.left()) != left {
		t.Errorf("attempts %q, want %q; left %v\n%s", h.got, want, h.left(), h.log.String())
	}
}

// A bubble is a test on a clock of its own.
func bubble(name string, f func(t *testing.T, box *table)) func(t *testing.T) {
	return func(t *testing.T) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, &table{}) }) })
	}
}

func TestMails(t *testing.T) {
	mails := []string{""}
	for name, f := range map[string]func(t *testing.T, box *table){
		"a decoy, or a mail that nobody wants, is deleted": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			h := &host{table: box, listeners: mails, deliver: func(context.Context, outbox.Item) error { return fmt.Errorf("gone: %w", outbox.ErrUnwanted) }}
			h.run(t, time.Second)
			if h.check(t, 0, "1 ada@0"); h.seen[outbox.Unwanted] != 1 {
				t.Errorf("outcomes %v", h.seen)
			}
		},
		"a rejected mail is kept with the reason, and not repeated": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			h := &host{table: box, listeners: mails, deliver: func(context.Context, outbox.Item) error {
				return fmt.Errorf("%w: 550 no such \x1b[31m user%s", outbox.ErrRejected, strings.Repeat("ä ", 5000))
			}}
			h.run(t, time.Hour)
			h.check(t, 0, "1 ada@0")
			if r := box.rows["1"]; !strings.HasPrefix(r.reason, "rejected for good: 550 no such") || len(r.reason) > 600 || strings.Contains(r.reason, "\x1b") ||
				!strings.Contains(h.log.String(), "[ERROR] not delivered and given up: mend the cause") || h.seen[outbox.Dead] != 1 {
				t.Errorf("%+v, %v\n%s", r, h.seen, h.log.String())
			}
		},
		"a mail of another host is found by the clock": func(t *testing.T, box *table) {
			h := &host{table: box, listeners: mails}
			time.AfterFunc(7*time.Second, func() { box.add("1", "", "ada") })
			h.run(t, time.Minute)
			h.check(t, 0, "1 ada@10")
		},
		"a kick before the commit is enough": func(t *testing.T, box *table) {
			h := &host{table: box, listeners: mails}
			w := h.worker()
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			time.AfterFunc(time.Second, w.Kick)
			time.AfterFunc(time.Second+200*time.Millisecond, func() { box.add("1", "", "ada") })
			w.Run(ctx)
			h.check(t, 0, "1 ada@1.62")
		},
		"three hosts send each mail once, two at a time": func(t *testing.T, box *table) {
			var all sync.WaitGroup
			var mu sync.Mutex
			under, most := 0, 0
			for i := range 60 {
				box.add(fmt.Sprintf("%02d", i), "", "ada")
			}
			hosts := []*host{{}, {}, {}}
			for _, h := range hosts {
				h.table, h.listeners, h.deliver = box, mails, func(context.Context, outbox.Item) error {
					mu.Lock()
					under++
					most = max(most, under)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					under--
					mu.Unlock()
					return nil
				}
				all.Go(func() { h.run(t, 15*time.Second) })
			}
			all.Wait()
			sent := 0
			for _, h := range hosts {
				sent += len(h.got)
			}
			if sent != 60 || most != 6 || len(box.left()) > 0 {
				t.Errorf("%d sent, %d at a time, left %v", sent, most, box.left())
			}
		},
		"the mail of a host that was killed waits for the end of the lease": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			if i, err := box.Lease(t.Context(), outbox.Claim{Free: mails, Known: mails, Now: time.Now(), Until: time.Now().Add(time.Minute)}); err != nil || i.ID == "" {
				t.Fatal(i, err)
			}
			h := &host{table: box, listeners: mails}
			h.run(t, 2*time.Minute)
			h.check(t, 0, "1 ada@60")
		},
		"an outbox that cannot be read is logged once, and read again": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			box.failing = errors.New("the database is gone")
			time.AfterFunc(time.Minute+time.Second, func() { box.fail(nil) })
			h := &host{table: box, listeners: mails}
			h.run(t, 2*time.Minute)
			h.check(t, 0, "1 ada@65")
			if log := h.log.String(); strings.Count(log, "cannot be read") != 1 || strings.Count(log, "can be read again") != 1 {
				t.Error(log)
			}
		},
		"an outcome outlives a database that is away": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			tries := 0
			h := &host{table: box, listeners: mails, deliver: func(context.Context, outbox.Item) error {
				if tries++; tries > 1 {
					return nil
				}
				box.fail(errors.New("the database is gone"))
				time.AfterFunc(time.Minute, func() { box.fail(nil) })
				return errors.New("no mail server")
			}}
			h.run(t, 100*time.Second) // less than the lease
			if len(h.got) != 2 || len(box.left()) > 0 || h.seen[outbox.Retried] != 1 || h.seen[outbox.Delivered] != 1 {
				t.Errorf("attempts %v, outcomes %v, left %v", h.got, h.seen, box.left())
			}
		},
	} {
		bubble(name, f)(t)
	}
}

func TestStop(t *testing.T) {
	mails := []string{""}
	for name, f := range map[string]func(t *testing.T, box *table){
		"a delivery under way may end": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			time.AfterFunc(2*time.Second, func() { box.add("2", "", "bob") })
			h := &host{table: box, listeners: mails, deliver: func(ctx context.Context, _ outbox.Item) error {
				time.Sleep(3 * time.Second)
				return ctx.Err()
			}}
			h.run(t, time.Second)
			if h.check(t, 1, "1 ada@0"); h.seen[outbox.Delivered] != 1 {
				t.Errorf("outcomes %v", h.seen)
			}
		},
		"a delivery that takes too long is given back at once": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			h := &host{table: box, listeners: mails, deliver: func(ctx context.Context, _ outbox.Item) error {
				<-ctx.Done()
				return ctx.Err()
			}}
			h.run(t, time.Second)
			h.check(t, 1, "1 ada@0")
			if took := time.Since(h.begin); took != 4*time.Second || h.seen[outbox.Returned] != 1 || box.rows["1"].due.After(time.Now()) {
				t.Errorf("it took %s, %v, %+v", took, h.seen, box.rows["1"])
			}
		},
		"an item that is leased just then is given back": func(t *testing.T, box *table) {
			box.add("1", "", "ada")
			box.looked = func(int) { time.Sleep(2 * time.Second) }
			h := &host{table: box, listeners: mails, deliver: func(ctx context.Context, _ outbox.Item) error {
				<-ctx.Done()
				return ctx.Err()
			}}
			h.run(t, time.Second)
			if h.check(t, 1, "1 ada@2"); h.seen[outbox.Returned] != 1 || box.rows["1"].due.After(time.Now()) {
				t.Errorf("%v, %+v", h.seen, box.rows["1"])
			}
		},
	} {
		bubble(name, f)(t)
	}
}

func TestEvents(t *testing.T) {
	both := []string{"audit", "webhook"}
	for name, f := range map[string]func(t *testing.T, box *table){
		"each listener is notified, in order": func(t *testing.T, box *table) {
			box.add("1", "audit", "ada")
			box.add("1", "webhook", "ada")
			box.add("2", "audit", "ada")
			h := &host{table: box, listeners: both}
			h.run(t, time.Second)
			if h.check(t, 0, "1audit ada@0", "1webhook ada@0", "2audit ada@0"); h.seen[outbox.Delivered] != 3 {
				t.Errorf("outcomes %v", h.seen)
			}
		},
		"an event that fails is repeated after pauses that double, and holds back its user's next one only": func(t *testing.T, box *table) {
			box.add("1", "audit", "ada")
			box.add("2", "audit", "ada")
			box.add("3", "audit", "grace")
			box.add("1", "webhook", "ada")
			h := &host{table: box, listeners: both, deliver: func(_ context.Context, i outbox.Item) error {
				if i.ID == "1audit" && i.Attempt <= 4 {
					return errors.New("not \x1b[31mnow")
				}
				return nil
			}}
			h.run(t, time.Minute)
			h.check(t, 0, "1audit ada@0", "1audit ada@1", "1audit ada@15", "1audit ada@3", "1audit ada@7", "1webhook ada@0", "2audit ada@15", "3audit grace@0")
			if h.seen[outbox.Retried] != 4 || h.seen[outbox.Delivered] != 4 || strings.Contains(h.log.String(), "\x1b") {
				t.Errorf("%v %s", h.seen, h.log.String())
			}
		},
		"a listener that hangs delays no other": func(t *testing.T, box *table) {
			for i := range 20 {
				box.add(fmt.Sprintf("%02d", i), "audit", fmt.Sprint("user", i))
			}
			box.add("99", "webhook", "ada")
			h := &host{table: box, listeners: both, deliver: func(_ context.Context, i outbox.Item) error {
				if i.Listener == "audit" {
					time.Sleep(10 * time.Second)
					return errors.New("it ran out of time")
				}
				return nil
			}}
			h.run(t, time.Minute)
			if !slices.Contains(h.got, "99webhook ada@0") {
				t.Errorf("attempts %v", h.got)
			}
		},
		"an attempt that takes longer than the lease is the only one": func(t *testing.T, box *table) {
			box.add("1", "audit", "ada")
			slow := func(ctx context.Context, _ outbox.Item) error {
				select {
				case <-time.After(10 * time.Minute):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			one, two := &host{table: box, listeners: both, deliver: slow}, &host{table: box, listeners: both, deliver: slow}
			var all sync.WaitGroup
			for _, h := range []*host{one, two} {
				all.Go(func() { h.run(t, 15*time.Minute) })
			}
			all.Wait()
			if len(one.got)+len(two.got) != 1 || len(box.left()) > 0 {
				t.Errorf("attempts %v and %v, left %v", one.got, two.got, box.left())
			}
		},
		"an attempt ends before the lease that cannot be renewed": func(t *testing.T, box *table) {
			box.add("1", "audit", "ada")
			ended := time.Duration(0)
			h := &host{table: box, listeners: both}
			h.deliver = func(ctx context.Context, i outbox.Item) error {
				if i.Attempt > 1 {
					return nil
				}
				time.AfterFunc(70*time.Second, func() { box.fail(errors.New("the database is gone")) })
				time.AfterFunc(5*time.Minute, func() { box.fail(nil) })
				<-ctx.Done()
				ended = time.Since(h.begin)
				return ctx.Err()
			}
			h.run(t, 10*time.Minute)
			if ended != 150*time.Second { // renewed last after a minute, for two
				t.Errorf("it ended after %s", ended)
			}
			if len(h.got) != 2 || len(box.left()) > 0 || h.seen[outbox.Delivered] != 1 || !strings.Contains(h.log.String(), "the lease of the item was lost") {
				t.Errorf("attempts %v, outcomes %v, left %v\n%s", h.got, h.seen, box.left(), h.log.String())
			}
		},
		"an event is given up in the end, and then its followers are delivered": func(t *testing.T, box *table) {
			box.add("1", "audit", "ada")
			box.add("2", "audit", "ada")
			h := &host{table: box, listeners: both, deliver: func(_ context.Context, i outbox.Item) error {
				if i.ID == "1audit" {
					return errors.New("never")
				}
				return nil
			}}
			h.run(t, 90*time.Minute)
			if left := box.left(); len(left) > 0 || h.seen[outbox.Dead] != 1 || h.seen[outbox.Delivered] != 1 || box.rows["1audit"].reason != "never" {
				t.Errorf("left %v, outcomes %v, %+v", left, h.seen, box.rows["1audit"])
			}
		},
		"an event for a listener that no host has is given up in the end": func(t *testing.T, box *table) {
			box.add("1", "gone", "ada")
			h := &host{table: box, deliver: func(context.Context, outbox.Item) error { return errors.New("no such listener") }}
			h.run(t, 2*time.Hour-time.Second)
			h.check(t, 1)
			h.run(t, time.Minute)
			if h.check(t, 0, "1gone ada@5"); h.seen[outbox.Dead] != 1 {
				t.Errorf("outcomes %v", h.seen)
			}
		},
	} {
		bubble(name, f)(t)
	}
}

func TestBackoff(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 10: 512 * time.Second, 11: 15 * time.Minute, 1000: 15 * time.Minute,
	} {
		if got := outbox.Backoff(time.Second, attempt); got != want {
			t.Errorf("after %d attempts: %s, want %s", attempt, got, want)
		}
	}
}
