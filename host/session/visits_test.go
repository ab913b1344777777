package session_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/auth"
	"github.com/vestibule-dev/vestibule/v2/host/session"
)

// together is rows of which one statement touches many. A statement takes a while, and fails with err.
type together struct {
	*memory
	mu         sync.Mutex
	statements int
	takes      time.Duration
	err        error
}

func newTogether() *together {
	return &together{memory: &memory{rows: map[string]auth.SessionRow{}}}
}

func (t *together) FindSession(ctx context.Context, hash []byte) (auth.SessionRow, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.memory.FindSession(ctx, hash)
}

func (t *together) CreateSession(ctx context.Context, r auth.SessionRow) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.memory.CreateSession(ctx, r)
}

func (t *together) TouchSession(ctx context.Context, hash []byte, seen time.Time) error {
	return t.TouchSessions(ctx, [][]byte{hash}, seen)
}

func (t *together) TouchSessions(_ context.Context, hashes [][]byte, seen time.Time) error {
	time.Sleep(t.takes)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.statements++
	for _, hash := range hashes {
		if r, ok := t.rows[string(hash)]; ok && t.err == nil && r.Seen.Before(seen) {
			r.Seen = seen
			t.rows[string(hash)] = r
		}
	}
	return t.err
}

func (t *together) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.statements
}

func (t *together) seen(cookie string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	key, _ := session.HashID(cookie)
	return t.rows[string(key)].Seen
}

// mortal is the rows as a host sees them that may have died.
type mortal struct {
	*together
	dead atomic.Bool
}

func (m *mortal) TouchSession(ctx context.Context, hash []byte, seen time.Time) error {
	return m.TouchSessions(ctx, [][]byte{hash}, seen)
}

func (m *mortal) TouchSessions(ctx context.Context, hashes [][]byte, seen time.Time) error {
	if m.dead.Load() {
		return errors.New("dead")
	}
	return m.together.TouchSessions(ctx, hashes, seen)
}

// people begins sessions and returns their cookies.
func people(t *testing.T, s *session.Store, n int) (cookies []string) {
	for i := range n {
		cookies = append(cookies, begin(t, s, httptest.NewRequest("GET", "/", nil), auth.Session{}, strconv.Itoa(i)))
	}
	return cookies
}

// load reports whether the session of a cookie is there.
func load(s *session.Store, cookie string) (bool, error) {
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: s.Name(), Value: cookie})
	got, err := s.Load(r)
	return got.UserID != "", err
}

func lives(t *testing.T, s *session.Store, cookie string) bool {
	t.Helper()
	ok, err := load(s, cookie)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// A hundred people whose visits are due soon are recorded by one statement, with a time that is at most the hold before each
// visit. The user of each is looked up once.
func TestVisitsAreRecordedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows, asked := newTogether(), 0
		s := session.New(rows, session.Options{Alive: func(context.Context, string) (bool, error) { asked++; return true, nil }})
		cookies := people(t, s, 100)
		begun := time.Now()
		time.Sleep(4 * time.Minute)
		for range 2 {
			for _, cookie := range cookies {
				lives(t, s, cookie)
				time.Sleep(100 * time.Millisecond)
			}
		}
		synctest.Wait()
		if rows.count() != 0 || asked != 100 {
			t.Fatalf("%d statements, asked %d times after 20 s, want none, and each once", rows.count(), asked)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if rows.count() != 1 {
			t.Fatalf("%d statements after 31 s, want 1", rows.count())
		}
		for i, cookie := range cookies {
			// The first visit of all, 4 minutes after the beginning: every second visit was up to 20 s later.
			if got := rows.seen(cookie).Sub(begun); got != 4*time.Minute {
				t.Fatalf("session %d was seen after %v", i, got)
			}
		}
	})
}

// Visits after the interval wait for their statement, and those that arrive meanwhile share the next.
func TestLateVisitsShareStatements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTogether()
		s := session.New(rows, session.Options{})
		cookies := people(t, s, 16)
		time.Sleep(5 * time.Minute)
		rows.takes = time.Second
		begun := time.Now()
		var all sync.WaitGroup
		for i, cookie := range cookies {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				arrived := time.Now()
				if ok, err := load(s, cookie); !ok || err != nil || rows.seen(cookie).Before(begun) {
					t.Errorf("visit %d: %v, %v, seen %v", i, ok, err, rows.seen(cookie))
				}
				if took := time.Since(arrived); took > 2*time.Second {
					t.Errorf("visit %d took %v", i, took)
				}
			})
		}
		all.Wait()
		if rows.count() != 2 {
			t.Errorf("%d statements for 16 visits at once, want 2", rows.count())
		}
	})
}

// While the database fails nobody waits for more than one statement, each late visit gets the error, and a visit that nobody
// waits for is reported once.
func TestVisitsWhileTheDatabaseFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows, unrecorded := newTogether(), 0
		s := session.New(rows, session.Options{Unrecorded: func(error) { unrecorded++ }})
		cookies := people(t, s, 16)
		time.Sleep(4 * time.Minute)
		rows.err = errors.New("away")
		lives(t, s, cookies[0])
		time.Sleep(time.Minute)
		synctest.Wait()
		if unrecorded != 1 {
			t.Errorf("%d errors reported, want 1", unrecorded)
		}
		rows.takes = 10 * time.Second
		var all sync.WaitGroup
		for i, cookie := range cookies {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				arrived := time.Now()
				if _, err := load(s, cookie); !errors.Is(err, rows.err) {
					t.Errorf("visit %d: %v", i, err)
				}
				if took := time.Since(arrived); took > rows.takes {
					t.Errorf("visit %d took %v", i, took)
				}
			})
		}
		all.Wait()
		rows.err, rows.takes = nil, 0
		if !lives(t, s, cookies[0]) || time.Since(rows.seen(cookies[0])) != 0 {
			t.Error("the visit after the fault is not recorded")
		}
	})
}

// Flush records what waits. A batch of 512 does not wait, and what waits beyond the bound is recorded later.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := newTogether()
		s := session.New(rows, session.Options{})
		cookies := people(t, s, 5000)
		time.Sleep(4 * time.Minute)
		lives(t, s, cookies[0])
		if err := s.Flush(t.Context()); err != nil || rows.count() != 1 || time.Since(rows.seen(cookies[0])) != 0 {
			t.Fatalf("%v, %d statements, seen %v", err, rows.count(), rows.seen(cookies[0]))
		}
		rows.takes = time.Second
		for _, cookie := range cookies[1:513] {
			lives(t, s, cookie)
		}
		synctest.Wait()
		for _, cookie := range cookies[513:] {
			lives(t, s, cookie) // while the full batch is written
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if rows.count() != 2 {
			t.Errorf("%d statements, want 2: a full batch waits", rows.count())
		}
		if err := s.Flush(t.Context()); err != nil || rows.count() != 10 {
			t.Errorf("%v, %d statements for 4,096 more, want 10 in all", err, rows.count())
		}
		waiting := 0
		for _, cookie := range cookies {
			if time.Since(rows.seen(cookie)) > time.Minute {
				waiting++
			}
		}
		if waiting != 5000-513-4096 {
			t.Errorf("%d visits are not recorded", waiting)
		}
	})
}

// A session ends at its idle limit after the last visit, and at most an interval sooner, whatever dies and whoever visits
// which host.
func TestIdleLimitThroughLostBatches(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			const idle, interval = 2 * time.Hour, 5 * time.Minute
			random := rand.New(rand.NewPCG(seed, 37)) //nolint:gosec // must be repeatable
			rows := newTogether()
			options := session.Options{Idle: idle, Absolute: 1000 * time.Hour}
			lifes := []*mortal{{together: rows}, {together: rows}}
			hosts := []*session.Store{session.New(lifes[0], options), session.New(lifes[1], options)}
			cookies := people(t, hosts[0], 20)
			last := map[string]time.Time{}
			for _, cookie := range cookies {
				last[cookie] = time.Now()
			}
			ended := 0
			for range 4000 {
				if random.IntN(50) == 0 {
					time.Sleep(time.Duration(random.Int64N(int64(3 * time.Hour))))
				}
				time.Sleep(time.Duration(random.Int64N(int64(20 * time.Second))))
				if random.IntN(20) == 0 {
					n := random.IntN(2)
					lifes[n].dead.Store(true)
					lifes[n] = &mortal{together: rows}
					hosts[n] = session.New(lifes[n], options)
				}
				i := random.IntN(len(cookies))
				cookie := cookies[i]
				away := time.Since(last[cookie])
				ok := lives(t, hosts[random.IntN(2)], cookie)
				if ok && away >= idle || !ok && away < idle-interval {
					t.Fatalf("seed %d: the session lives %v, %v after the last visit", seed, ok, away)
				}
				if !ok {
					ended++
					cookie = people(t, hosts[0], 1)[0]
					cookies[i] = cookie
				}
				last[cookie] = time.Now()
			}
			if ended == 0 {
				t.Error("no session ended")
			}
			for _, s := range hosts {
				if err := s.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Minute)
		})
	}
}
