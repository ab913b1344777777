package host_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
)

// A crowd of 100 people, each with an own login name, signs in at the same time
// while another client asks for /healthz.
func crowd(t testing.TB, s *testSite) (answers map[int]int, health []time.Duration, peak uint64) {
	t.Helper()
	var mu sync.Mutex
	answers = map[int]int{}
	done := make(chan struct{})
	var all, watch sync.WaitGroup
	watch.Go(func() {
		var m runtime.MemStats
		for {
			start := time.Now()
			resp, err := http.Get(s.URL + "/healthz")
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Errorf("healthz: %d", resp.StatusCode)
			}
			health = append(health, time.Since(start))
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	for i := range 100 {
		all.Go(func() {
			body := fmt.Sprintf(`{"login":"crowd%d@example.com","password":%q}`, i, adaPassword)
			resp, err := http.Post(s.URL+"/auth/login", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
			mu.Lock()
			defer mu.Unlock()
			answers[resp.StatusCode]++
		})
	}
	all.Wait()
	close(done)
	watch.Wait()
	slices.Sort(health)
	return answers, health, peak
}

// crowded is a site that knows the crowd.
func crowded(t testing.TB, s *testSite) *testSite {
	t.Helper()
	for i := range 100 {
		if _, err := s.db.AddUser(context.Background(), fmt.Sprintf("crowd%d@example.com", i), "C", adaHash()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Hashing is bounded: 100 sign-ins at once all succeed, the health check answers
// all the while, and memory does not grow with their number. Unbounded, they
// would need 1.9 GB.
func TestHundredSignInsAtOnce(t *testing.T) {
	s := crowded(t, newSite(t, sqliteStore(t), func(o *host.Options) {
		o.Logger, o.Limits.Wait = nil, 2*time.Minute // a hundred hashes take long where others work, too
	}))
	answers, health, peak := crowd(t, s)
	if answers[200] != 100 {
		t.Errorf("answers %v, want 100 of 200", answers)
	}
	if len(health) < 3 {
		t.Errorf("%d health checks were answered meanwhile", len(health))
	}
	limit := uint64(max(2, runtime.GOMAXPROCS(0))*19+20) << 20
	if peak > 4*limit { // what is garbage already counts until it is collected
		t.Errorf("the heap grew to %d MB", peak>>20)
	}
}
