package web_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/web"
)

// A connection ends within five seconds of its session, and also when nobody can
// tell for that long; a moment's outage ends none.
func TestEndWith(t *testing.T) {
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
				ctx, cancel := context.WithCancel(t.Context())
				var ended time.Duration
				go web.EndWith(ctx, func() { ended = time.Since(start); cancel() }, func(ctx context.Context) (bool, error) {
					now := time.Since(start)
					if now >= test.away[0] && now < test.away[1] {
						if test.hangs {
							<-ctx.Done()
						}
						return false, away
					}
					return test.gone == 0 || now < test.gone, nil
				})
				time.Sleep(time.Hour)
				cancel()
				synctest.Wait()
				if ended != 0 && ended < test.endures || test.endsBy != 0 && (ended == 0 || ended > test.endsBy) || test.endsBy == 0 && ended != 0 {
					t.Errorf("ended after %v", ended)
				}
			})
		})
	}
}
