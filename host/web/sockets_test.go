package web_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// A connection ends within five seconds of its session, and also when nobody can
// tell for that long; a moment's outage ends none.
func TestSocketsEndWithTheirSessions(t *testing.T) {
	away := errors.New("the database is away")
	for name, test := range map[string]struct {
		gone    time.Duration // when the session ends; zero never
		away    [2]time.Duration
		hangs   bool // the database does not answer while it is away
		endsBy  time.Duration
		endures time.Duration
	}{
		"lasts":                 {endures: time.Hour},
		"gone":                  {gone: 10 * time.Second, endures: 10 * time.Second, endsBy: 15 * time.Second},
		"a moment's outage":     {away: [2]time.Duration{2 * time.Second, 4 * time.Second}, endures: time.Hour},
		"outage":                {away: [2]time.Duration{10 * time.Second, time.Hour}, endures: 10 * time.Second, endsBy: 15 * time.Second},
		"hangs":                 {away: [2]time.Duration{10 * time.Second, time.Hour}, hangs: true, endures: 10 * time.Second, endsBy: 15 * time.Second},
		"gone during an outage": {gone: 3 * time.Second, away: [2]time.Duration{2 * time.Second, 6 * time.Second}, endsBy: 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var ended time.Duration
				sockets := web.NewSockets(func(ctx context.Context, _ []auth.Principal) ([]bool, error) {
					now := time.Since(start)
					if now >= test.away[0] && now < test.away[1] {
						if test.hangs {
							<-ctx.Done()
						}
						return nil, away
					}
					return []bool{test.gone == 0 || now < test.gone}, nil
				})
				leave := sockets.EndWith(auth.Principal{UserID: "7", Session: auth.Session{Key: []byte("k")}}, func() { ended = time.Since(start) })
				time.Sleep(time.Hour)
				leave()
				time.Sleep(2 * time.Second) // nobody is asked any more
				if ended != 0 && ended < test.endures || test.endsBy != 0 && (ended == 0 || ended > test.endsBy) || test.endsBy == 0 && ended != 0 {
					t.Errorf("ended after %v", ended)
				}
			})
		})
	}
}

// A thousand connections of a thousand sessions ask two questions a tick, where each
// asked its own before, and each ends with its own session alone.
func TestSocketsShareTheirQuestions(t *testing.T) {
	const connections = 1000
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		over := map[string]bool{}
		questions, about := 0, 0
		asked := func() (int, int) { mu.Lock(); defer mu.Unlock(); return questions, about }
		sockets := web.NewSockets(func(_ context.Context, who []auth.Principal) ([]bool, error) {
			mu.Lock()
			defer mu.Unlock()
			questions++
			about += len(who)
			alive := make([]bool, len(who))
			for i, one := range who {
				alive[i] = !over[string(one.Session.Key)]
			}
			return alive, nil
		})
		session := func(i int) auth.Principal {
			return auth.Principal{UserID: "7", Session: auth.Session{Key: fmt.Appendf(nil, "%04d", i)}}
		}
		ended := map[int]int{}
		var leaves []func()
		for i := range connections {
			leaves = append(leaves, sockets.EndWith(session(i), func() { mu.Lock(); ended[i]++; mu.Unlock() }))
		}
		second := sockets.EndWith(session(7), func() { mu.Lock(); ended[-7]++; mu.Unlock() }) // one more of the same session
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if n, about := asked(); n != 20 || about != 10*connections {
			t.Errorf("%d questions about %d sessions in ten ticks, want 20 about %d", n, about, 10*connections)
		}
		mu.Lock()
		over["0007"], over["0999"] = true, true
		mu.Unlock()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		mu.Lock()
		if want := map[int]int{7: 1, -7: 1, 999: 1}; !maps.Equal(ended, want) {
			t.Errorf("ended %v, want %v", ended, want)
		}
		mu.Unlock()
		second()
		for _, leave := range leaves {
			leave()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		before, _ := asked()
		time.Sleep(time.Minute)
		if n, _ := asked(); n != before {
			t.Errorf("%d questions about nobody", n-before)
		}
		leave := sockets.EndWith(session(1), func() {}) // and on again
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n, _ := asked(); n != before+1 {
			t.Errorf("%d questions about one, want 1", n-before)
		}
		leave()
		time.Sleep(2 * time.Second)
	})
}
