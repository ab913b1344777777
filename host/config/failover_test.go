package config_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A database of two servers, of which one takes connections, behind production's
// defaults.
type twoNodes struct {
	nodes [2]*dbtest.Proxy
	base  string
	http  *http.Client // signed in
}

func newTwoNodes(t *testing.T) *twoNodes {
	t.Helper()
	first, dsn := dbtest.BehindProxy(t, "postgres")
	second := first.Twin(t)
	second.Cut()
	two := &twoNodes{nodes: [2]*dbtest.Proxy{first, second}}
	own := strings.Replace(dsn, first.Address(), first.Address()+","+second.Address(), 1)
	s := serveAt(t, "postgres", own, "", keptShelves+openShelves, nil, boards()...)
	exec(t, s, `INSERT INTO shelves VALUES (1)`)
	p := s.person(t)
	p.Transport = &http.Transport{MaxIdleConnsPerHost: 32}
	two.base, two.http = s.base, &p.Client
	return two
}

func (two *twoNodes) ask(method, path string) (int, string) {
	var body io.Reader
	if method == "POST" {
		body = strings.NewReader(asAda)
	}
	r, err := http.NewRequest(method, two.base+path, body)
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	client := two.http
	if method == "POST" {
		client = http.DefaultClient // a sign-in ends the session that it comes with
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// What a load met.
type met struct {
	mu     sync.Mutex
	asked  int
	slow   time.Duration
	failed []string
}

// load asks for sessions, sign-ins and pages until stop is closed.
func (two *twoNodes) load(stop <-chan struct{}) *met {
	m := &met{}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				method, path, want := "GET", "/auth/intents/current", []int{200}
				switch n {
				case 0, 1:
					path = "/odata/shelves"
				case 2:
					method, path = "POST", "/auth/login"
				case 4:
					path = "/odata/Kept"
				case 3: // or balancers would send nothing to any host
					path = "/readyz"
				}
				began := time.Now()
				status, text := two.ask(method, path)
				m.note(time.Since(began), slices.Contains(want, status), fmt.Sprintf("%s %s: %d %.150s", method, path, status, text))
			}
		})
	}
	all.Wait()
	return m
}

func (m *met) note(took time.Duration, ok bool, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	m.slow = max(m.slow, took)
	if !ok {
		m.failed = append(m.failed, what)
	}
}

// A server that freezes or goes away, with another one that takes over, fails no request
// of those that may be repeated; the gap here is shorter than database.wait.
func TestFailover(t *testing.T) {
	for _, trouble := range []struct {
		name string
		make func(p *dbtest.Proxy)
	}{
		{"frozen", (*dbtest.Proxy).Freeze},
		{"gone", (*dbtest.Proxy).Cut},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			two := newTwoNodes(t)
			stop, result := make(chan struct{}), make(chan *met, 1)
			go func() { result <- two.load(stop) }()
			time.Sleep(500 * time.Millisecond)
			trouble.make(two.nodes[0])
			began := time.Now()
			time.Sleep(2 * time.Second) // while nobody is primary
			two.nodes[1].Restore()
			promoted := time.Now()
			two.waitUntilReady(t)
			t.Logf("ready %v after the new primary, %v after the old one", time.Since(promoted).Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
			time.Sleep(500 * time.Millisecond)
			close(stop)
			m := <-result
			t.Logf("%d requests, %d failed, the slowest took %v", m.asked, len(m.failed), m.slow.Round(time.Millisecond))
			if len(m.failed) > 0 {
				t.Errorf("failed: %s", strings.Join(m.failed[:min(len(m.failed), 10)], "\n"))
			}
		})
	}
}

// waitUntilReady wants /readyz to say so for a while, since it may not know yet what happened.
func (two *twoNodes) waitUntilReady(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if status, _ := two.ask("GET", "/readyz"); status != 200 {
			continue
		}
		if status, _ := two.ask("GET", "/auth/intents/current"); status == 200 {
			return
		}
	}
	t.Fatal("not ready within a minute")
}

// A database that hangs for good holds no request longer than database.wait, whatever
// the request needs of it, because its calls share the time. Afterwards all is well.
func TestHungDatabase(t *testing.T) {
	for _, driver := range []string{"postgres", "mysql"} {
		t.Run(driver, func(t *testing.T) {
			proxy, dsn := dbtest.BehindProxy(t, driver)
			s := serveAt(t, driver, dsn, `wait = "3s"`, keptShelves+openShelves, nil, boards()...)
			exec(t, s, `INSERT INTO shelves VALUES (1)`)
			p := s.person(t)
			kept := func(t *testing.T) int { status, _ := p.read(t, "/odata/Kept"); return status }
			if first, again := kept(t), kept(t); first != 200 || again != 200 {
				t.Fatal("a page behind the sign-in:", first, again)
			}
			proxy.Freeze()
			var all sync.WaitGroup
			for name, ask := range map[string]func(*testing.T) int{
				"a sign-in": s.signIn, "a query": func(t *testing.T) int { return s.get(t, "/odata/shelves") }, "a page behind the sign-in": kept,
			} {
				all.Go(func() {
					began := time.Now()
					status := ask(t)
					t.Logf("%s: %d after %v", name, status, time.Since(began).Round(time.Millisecond))
					if status != http.StatusServiceUnavailable {
						t.Errorf("%s: %d", name, status)
					}
				})
			}
			all.Wait()
			s.waitFor(t, "/readyz", http.StatusServiceUnavailable) // now that nobody waits any more
			proxy.Thaw()
			for _, status := range []int{s.signIn(t), s.get(t, "/odata/shelves"), kept(t)} {
				if status != 200 {
					t.Errorf("%d when the database is back", status)
				}
			}
		})
	}
}

// Connections whose way is cut, to a server that is well, as by a firewall that has
// forgotten them, fail nothing: they are closed, and what waited is repeated.
func TestStrandedConnections(t *testing.T) {
	var all sync.WaitGroup // they take little but time, so they take it together
	for _, driver := range []string{"postgres", "mysql"} {
		proxy, dsn := dbtest.BehindProxy(t, driver)
		s := serveAt(t, driver, dsn, "", keptShelves+openShelves, nil, boards()...)
		exec(t, s, `INSERT INTO shelves VALUES (1)`)
		p := s.person(t)
		asks := map[string]func(*testing.T) int{
			"a sign-in": s.signIn, "a query": func(t *testing.T) int { return s.get(t, "/odata/shelves") },
			"a page behind the sign-in": func(t *testing.T) int { status, _ := p.read(t, "/odata/Kept"); return status },
		}
		for name, ask := range asks {
			if status := ask(t); status != 200 {
				t.Fatal(name, status)
			}
		}
		all.Go(func() {
			t.Run(driver, func(t *testing.T) {
				// The connections over which the server is asked must be there before, which takes
				// a second, or longer where the machine is busy: then the next round finds them.
				for round := 0; round < 2 && len(asks) > 0; round++ {
					time.Sleep(2 * time.Second)
					proxy.Strand()
					asks = stillFailing(t, asks)
				}
				for name := range asks {
					t.Error(name, "fails")
				}
			})
		})
	}
	all.Wait()
}

// stillFailing asks all at once, and returns what was not answered with 200.
func stillFailing(t *testing.T, asks map[string]func(*testing.T) int) map[string]func(*testing.T) int {
	failing := map[string]func(*testing.T) int{}
	var all sync.WaitGroup
	var mu sync.Mutex
	for name, ask := range asks {
		all.Go(func() {
			began := time.Now()
			status := ask(t)
			t.Logf("%s: %d after %v", name, status, time.Since(began).Round(time.Millisecond))
			if mu.Lock(); status != 200 {
				failing[name] = ask
			}
			mu.Unlock()
		})
	}
	all.Wait()
	return failing
}

// waitFor asks until the answer has a status.
func (s served) waitFor(t *testing.T, path string, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); s.get(t, path) != want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not become %d within a minute", path, want)
		}
	}
}
