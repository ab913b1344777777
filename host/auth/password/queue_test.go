package password_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/admission"
	"github.com/vestibule-dev/vestibule/v2/host/auth/password"
)

// cheap is a hash that costs next to nothing; each takes a second here.
var cheap = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$" + strings.Repeat("a", 22)

// slow is a hasher each of whose hashes takes a second of the bubble's time.
func slow(refused func(*admission.Busy)) *password.Hasher {
	return password.New(password.Options{Observe: func(string) { time.Sleep(time.Second) }, Queue: admission.Options{Refused: refused}})
}

// A hundred people guess from one address: another client's password waits for one
// hash that is under way, and not for theirs.
func TestGuessersDelayNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := slow(nil)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				_, _ = h.Verify(ctx, password.Attempt{Client: "guessers", Stored: cheap, Password: "wrong"})
			})
		}
		time.Sleep(time.Second / 2) // half of the first hashes' time
		start := time.Now()
		if _, err := h.Verify(ctx, password.Attempt{Client: "innocent", Stored: cheap, Password: "wrong"}); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Second/2+time.Second {
			t.Errorf("the other client's took %v, want the rest of one hash and its own", took)
		}
		cancel()
		all.Wait()
	})
}

// No more are hashed at once than there are processors, or than the options say; an
// attempt beyond the queue is refused at once, and one that waits too long afterwards.
func TestQueueIsBounded(t *testing.T) {
	boundedQueue(t, 0, runtime.GOMAXPROCS(0))
	boundedQueue(t, runtime.GOMAXPROCS(0)+3, runtime.GOMAXPROCS(0)+3)
}

func boundedQueue(t *testing.T, given, slots int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var now, most, refusals, served atomic.Int64
		h := password.New(password.Options{
			Observe: func(string) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(4 * time.Second)
				now.Add(-1)
			},
			Queue: admission.Options{Slots: given, Refused: func(*admission.Busy) { refusals.Add(1) }},
		})
		var all sync.WaitGroup
		for range slots + 128 + 7 {
			all.Go(func() {
				_, err := h.Verify(t.Context(), password.Attempt{Client: "crowd", Stored: cheap, Password: "wrong"})
				if busy, ok := errors.AsType[*admission.Busy](err); ok && busy.RetryAfter > 0 {
					return
				}
				if err != nil {
					t.Error(err)
				}
				served.Add(1)
			})
		}
		synctest.Wait()
		if n := refusals.Load(); n != 7 {
			t.Errorf("%d were refused at once, want the 7 beyond the bound", n)
		}
		all.Wait()
		// Turns begin after 0, 4 and 8 seconds; ten are too long.
		if most.Load() != int64(slots) || served.Load() != int64(3*slots) {
			t.Errorf("%d at once and %d in all, want %d and %d", most.Load(), served.Load(), slots, 3*slots)
		}
	})
}
