package admission_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
)

func queue() *admission.Queue {
	return admission.New(admission.Options{
		Slots: 4, Limit: "pool", Share: 2, ShareLimit: "concurrent", Wait: 10 * time.Second,
	})
}

// hold takes n slots that are free, and never gives them back.
func hold(t *testing.T, q *admission.Queue, client string, n int) {
	t.Helper()
	for range n {
		if q.TryEnter(client) == nil {
			t.Fatalf("no slot for %s", client)
		}
	}
}

// wait lets n of a client wait for their turn.
func wait(t *testing.T, q *admission.Queue, client string, n int) {
	for range n {
		go func() { _, _ = q.Enter(t.Context(), client) }()
	}
	synctest.Wait()
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name string
		full func(*testing.T, *admission.Queue)
		want admission.Busy
		text string
	}{
		{
			"its share is used up for too long",
			func(t *testing.T, q *admission.Queue) { hold(t, q, "ada", 2) },
			admission.Busy{Limit: "concurrent", Allowed: 2, Held: 2, Waited: 10 * time.Second},
			"one more beside 2 under way and 0 waiting of this client, after waiting for 10s: concurrent allows one client 2 at once",
		},
		{
			"too many of its own are waiting",
			func(t *testing.T, q *admission.Queue) { hold(t, q, "ada", 2); wait(t, q, "ada", 8) },
			admission.Busy{Limit: "concurrent", Allowed: 2, Held: 2, Waiting: 8},
			"one more beside 2 under way and 8 waiting of this client: concurrent allows one client 2 at once",
		},
		{
			"others use all there is for too long",
			func(t *testing.T, q *admission.Queue) { hold(t, q, "bob", 2); hold(t, q, "eve", 2) },
			admission.Busy{ByHost: true, Limit: "pool", Allowed: 4, Waited: 10 * time.Second},
			"one more beside 0 under way and 0 waiting of this client, after waiting for 10s: pool allows all clients together 4 at once",
		},
		{
			"too many of all clients are waiting",
			func(t *testing.T, q *admission.Queue) {
				for i := range 2 + 128 {
					client := fmt.Sprint(i)
					wait(t, q, client, 8)
				}
			},
			admission.Busy{ByHost: true, Full: true, Limit: "pool", Allowed: 4},
			"one more beside 0 under way and 0 waiting of this client: 1024 of all clients are waiting already, which is a fixed limit",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told atomic.Pointer[admission.Busy]
				q := admission.New(admission.Options{
					Slots: 4, Limit: "pool", Share: 2, ShareLimit: "concurrent", Wait: 10 * time.Second,
					Refused: func(b *admission.Busy) { told.CompareAndSwap(nil, b) },
				})
				tt.full(t, q)
				told.Store(nil)
				_, err := q.Enter(t.Context(), "ada")
				var busy *admission.Busy
				if !errors.As(err, &busy) {
					t.Fatalf("%v is no refusal", err)
				}
				tt.want.Client, tt.want.RetryAfter = "ada", 2500*time.Millisecond
				if diff := cmp.Diff(tt.want, *busy); diff != "" {
					t.Error(diff)
				}
				if told.Load() != busy {
					t.Errorf("was told of %v", told.Load())
				}
				if busy.Error() != tt.text {
					t.Errorf("says\n%s, want\n%s", busy, tt.text)
				}
			})
		})
	}
}

// Where clients take turns, one that waits in vain has asked too much itself if it
// had turns meanwhile; else the others have taken all there is.
func TestWaitingInVainForATurn(t *testing.T) {
	tests := []struct {
		name   string
		others func(t *testing.T, q *admission.Queue)
		byHost bool
	}{
		{"others hold all", func(t *testing.T, q *admission.Queue) { hold(t, q, "bob", 2) }, true},
		{"it holds one itself", func(t *testing.T, q *admission.Queue) { hold(t, q, "bob", 1); hold(t, q, "ada", 1) }, false},
		{"it had one meanwhile", func(t *testing.T, q *admission.Queue) {
			hold(t, q, "bob", 1)
			leave := q.TryEnter("ada")
			time.AfterFunc(5*time.Second, leave)
			go func() { _, _ = q.Enter(t.Context(), "bob") }() // is served before
			time.Sleep(time.Second)
		}, false},
		{"it had one long before", func(t *testing.T, q *admission.Queue) {
			use(q, "ada", time.Second)
			hold(t, q, "bob", 2)
			time.Sleep(time.Second)
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := admission.New(admission.Options{Slots: 2, Limit: "turns", ShareLimit: "turns", Wait: 10 * time.Second})
				tt.others(t, q)
				_, err := q.Enter(t.Context(), "ada")
				busy, ok := errors.AsType[*admission.Busy](err)
				if !ok || busy.ByHost != tt.byHost {
					t.Errorf("%+v, want one of the host %t", err, tt.byHost)
				}
			})
		})
	}
}

func TestNoWaiting(t *testing.T) {
	q := admission.New(admission.Options{Share: 1, ShareLimit: "one"})
	hold(t, q, "ada", 1)
	_, err := q.Enter(t.Context(), "ada")
	if busy := new(admission.Busy); !errors.As(err, &busy) || busy.ByHost || busy.RetryAfter != time.Second {
		t.Errorf("%v", err)
	}
	if leave, err := q.Enter(t.Context(), "bob"); err != nil || leave == nil {
		t.Errorf("bob: %v", err)
	}
}

func TestLeaving(t *testing.T) {
	q := queue()
	leave := q.TryEnter("ada")
	hold(t, q, "ada", 1)
	leave()
	leave() // does nothing more
	hold(t, q, "ada", 1)
	if q.TryEnter("ada") != nil {
		t.Error("a slot was given back twice")
	}
}

// One who gave up waiting leaves no trace: the next in line gets the slot.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue()
		hold(t, q, "ada", 1)
		leave := q.TryEnter("ada")
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		given := make(chan error)
		go func() { _, err := q.Enter(ctx, "ada"); given <- err }()
		synctest.Wait()
		go func() { _, err := q.Enter(t.Context(), "ada"); given <- err }()
		synctest.Wait()
		cancel(gone)
		if err := <-given; !errors.Is(err, gone) {
			t.Errorf("%v, want what ended the context", err)
		}
		leave()
		if err := <-given; err != nil {
			t.Error(err)
		}
	})
}

// Who has used the least time is served first, whoever came first: one who works
// the database hard waits for those who do not, and time that was used long ago
// does not count.
func TestOrder(t *testing.T) {
	tests := []struct {
		name string
		past func(q *admission.Queue)
		come string // in this order, a letter for each
		want string
	}{
		{"as they come", func(*admission.Queue) {}, "aabb", "aabb"},
		{"who has used less comes first", func(q *admission.Queue) { use(q, "a", time.Minute); use(q, "b", time.Second) }, "aabbc", "cbbaa"},
		{"what was used long ago is forgotten", func(q *admission.Queue) {
			use(q, "a", time.Minute)
			time.Sleep(time.Hour)
			use(q, "b", time.Second)
		}, "ba", "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := admission.New(admission.Options{Slots: 1, Wait: time.Hour})
				tt.past(q)
				leave := q.TryEnter("x")
				var served strings.Builder
				for _, client := range tt.come {
					go func() {
						leave, err := q.Enter(t.Context(), string(client))
						if err != nil {
							t.Error(err)
							return
						}
						served.WriteRune(client) // one at a time: there is one slot
						leave()
					}()
					synctest.Wait()
				}
				leave()
				synctest.Wait()
				if served.String() != tt.want {
					t.Errorf("served %s, want %s", &served, tt.want)
				}
			})
		})
	}
}

func use(q *admission.Queue, client string, d time.Duration) {
	leave := q.TryEnter(client)
	time.Sleep(d)
	leave()
}

// Slots that a client holds count from the moment at which it took them.
func TestHeldTimeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 3, Wait: time.Hour})
		hold(t, q, "heavy", 1)
		time.Sleep(time.Minute)
		hold(t, q, "light", 1)
		last := q.TryEnter("x")
		served := make(chan string, 2)
		for _, client := range []string{"heavy", "light"} {
			go func() {
				leave, err := q.Enter(t.Context(), client)
				if err != nil {
					t.Error(err)
					return
				}
				served <- client
				leave()
			}()
			synctest.Wait()
		}
		last()
		if first := <-served; first != "light" {
			t.Errorf("%s was served first", first)
		}
		<-served
	})
}

// A client that asks without end leaves the others the rest of the slots at once,
// and sixteen people who share one address wait a moment at most.
func TestOneClientDoesNotStopOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: 20, Share: 5, Wait: 10 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		var attack sync.WaitGroup
		for range 32 {
			attack.Go(func() {
				for ctx.Err() == nil {
					leave, err := q.Enter(ctx, "attacker")
					if err != nil {
						time.Sleep(time.Millisecond)
						continue
					}
					time.Sleep(30 * time.Second)
					leave()
				}
			})
		}
		synctest.Wait()
		var people sync.WaitGroup
		var longest atomic.Int64
		for range 16 {
			people.Go(func() {
				for range 100 {
					start := time.Now()
					leave, err := q.Enter(t.Context(), "office")
					if err != nil {
						t.Error(err)
						return
					}
					waited := int64(time.Since(start))
					for known := longest.Load(); waited > known && !longest.CompareAndSwap(known, waited); known = longest.Load() {
					}
					time.Sleep(5 * time.Millisecond)
					leave()
				}
			})
		}
		people.Wait()
		if waited := time.Duration(longest.Load()); waited > 20*time.Millisecond {
			t.Errorf("somebody waited %v", waited)
		}
		cancel()
		attack.Wait()
	})
}

// However many come and go and give up, no more than there are is ever taken.
func TestExact(t *testing.T) {
	const slots, share = 8, 3
	synctest.Test(t, func(t *testing.T) {
		q := admission.New(admission.Options{Slots: slots, Share: share, Wait: 50 * time.Millisecond})
		var all atomic.Int64
		held := make([]atomic.Int64, 6)
		var work sync.WaitGroup
		for i := range 120 {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			n := i % len(held)
			work.Go(func() {
				for range 200 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(40))*time.Millisecond)
					leave, err := q.Enter(ctx, fmt.Sprint(n))
					cancel()
					if err == nil {
						if a, c := all.Add(1), held[n].Add(1); a > slots || c > share {
							t.Errorf("%d in all and %d of one client", a, c)
						}
						time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
						all.Add(-1)
						held[n].Add(-1)
						leave()
					}
				}
			})
		}
		work.Wait()
		for i := range slots { // nothing was lost
			hold(t, q, fmt.Sprint("new", i), 1)
		}
	})
}

// Addresses cost nothing: those that ask once are forgotten.
func TestClientsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue()
		for i := range 300_000 {
			leave := q.TryEnter(fmt.Sprint(i))
			if i%100 == 0 {
				time.Sleep(time.Millisecond)
			}
			leave()
		}
		if n := q.Remembered(); n > 66_000 {
			t.Errorf("knows %d clients", n)
		}
		time.Sleep(time.Hour)
		for i := range 70_000 {
			q.TryEnter(fmt.Sprint("later", i))()
		}
		if n := q.Remembered(); n > 2048 {
			t.Errorf("still knows %d clients", n)
		}
	})
}
