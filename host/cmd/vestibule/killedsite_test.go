package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A killSite is a database, and the hosts on it.
type killSite struct {
	*testing.T
	dialect string
	server  *dbtest.Killable // nil for SQLite
	proxy   *dbtest.Proxy    // between hosts and server
	dsn     string
	db      *sql.DB // behind no host
	hosts   []*rollingHost
	token   string      // of Ada, who may write
	over    atomic.Bool // clients are to end

	hostKills, startKills, serverKills, sessionKills, mutedKills int
}

// killConfig has a set that counts versions, and one whose entity tags are digests. Orders may have two rows with the same code, and
// the table between orders and tags two alike.
const killConfig = `
database {
  driver = %q
  dsn    = %q
}
route "home" {
  path = "/"
  file = "home.html"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/"
}
odata {
  entity_set "Counted" {
    table = "counted"
    write {
      create  = true
      update  = true
      delete  = true
      version = "version"
    }
  }
  entity_set "Plain" {
    table = "plain"
    write {
      create = true
      update = true
      delete = true
    }
  }
  entity_set "Orders" {
    table = "orders"
    write {
      create  = true
      update  = true
      version = "version"
    }
    navigation "tags" {
      to       = "Tags"
      many     = true
      via      = "order_tags"
      from_key = "order_id"
      to_key   = "tag_id"
    }
  }
  entity_set "Parts" {
    table = "parts"
    write {
      create = true
      update = true
    }
  }
  entity_set "Tags" {
    table = "tags"
    write {
      update = true
    }
  }
}
`

// newKillSite starts a database of the dialect, and two hosts on it.
func newKillSite(t *testing.T, dialect string) *killSite {
	t.Helper()
	s := &killSite{T: t, dialect: dialect, dsn: filepath.Join(t.TempDir(), "site.db")}
	driver, counted, direct := "sqlite", "INTEGER PRIMARY KEY", s.dsn
	if dialect != "sqlite" {
		s.server = dbtest.NewKillable(t, dialect)
		s.proxy, s.dsn = s.server.Behind(t)
		direct = s.server.DSN
		driver = map[string]string{"postgres": "pgx", "mysql": "mysql"}[dialect]
		counted = map[string]string{"postgres": "BIGSERIAL PRIMARY KEY", "mysql": "BIGINT PRIMARY KEY AUTO_INCREMENT"}[dialect]
	}
	for range 2 {
		s.hosts = append(s.hosts, hostWith(t, fmt.Sprintf(killConfig, dialect, s.dsn)))
	}
	impatient := s.hosts[1] // answers 503 where the other one waits
	impatient.flags = append(impatient.flags, "--set", "database.wait=500ms")
	s.hosts[0].addAda(t) // makes the tables of the host, too
	var err error
	if s.db, err = sql.Open(driver, direct); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	const columns = ", code VARCHAR(60) NOT NULL UNIQUE, history TEXT NOT NULL, latest VARCHAR(60) NOT NULL"
	for _, statement := range []string{
		"CREATE TABLE counted (id " + counted + columns + ", version INTEGER NOT NULL)",
		"CREATE TABLE plain (id " + counted + columns + ")",
		"CREATE TABLE tags (id BIGINT PRIMARY KEY, name VARCHAR(60) NOT NULL)",
		"CREATE TABLE orders (id " + counted + strings.Replace(columns, " UNIQUE", "", 1) + ", version INTEGER NOT NULL, kind_id BIGINT, FOREIGN KEY (kind_id) REFERENCES tags (id))",
		"CREATE TABLE parts (id " + counted + ", code VARCHAR(60) NOT NULL, order_id BIGINT NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))",
		"CREATE TABLE order_tags (order_id BIGINT NOT NULL, tag_id BIGINT NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id), FOREIGN KEY (tag_id) REFERENCES tags (id))",
		"INSERT INTO tags (id, name) VALUES (1, 'tag')" + tagRows(),
		"INSERT INTO counted (code, history, latest, version) VALUES ('shared0', 'made', 'made', 1), ('shared1', 'made', 'made', 1)",
		"INSERT INTO plain (code, history, latest) VALUES ('shared0', 'made', 'made'), ('shared1', 'made', 'made')",
	} {
		if _, err := s.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	out, err := vestibuleCommand(t, append(s.hosts[0].flags, "token", "add", "--email", "ada@example.com", "--name", "writer", "--write")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(out))
	for _, h := range s.hosts {
		h.start(t)
	}
	return s
}

// onceTags is how many tags there are. A link locks its tag, and clients that link the same tags in other orders wait for each other.
const onceTags = 100

// tagRows are the values of all tags but the first.
func tagRows() string {
	rows := ""
	for id := 2; id <= onceTags; id++ {
		rows += fmt.Sprintf(", (%d, 'tag')", id)
	}
	return rows
}

// killHost kills a host, perhaps the next one while it starts, too, and starts it anew on the same configuration.
func (s *killSite) killHost(r *rand.Rand) {
	s.Helper()
	h := s.hosts[r.IntN(len(s.hosts))]
	h.kill(s.T)
	s.hostKills++
	if r.IntN(3) == 0 {
		h.launch(s.T)
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
		h.kill(s.T)
		s.startKills++
	}
	h.start(s.T)
}

// killDatabase kills the server, or one session of PostgreSQL. Half of the servers lose the answers of their last milliseconds, as
// when the machine or the network in front of it fails.
func (s *killSite) killDatabase(r *rand.Rand) {
	s.Helper()
	if s.dialect == "postgres" && r.IntN(2) == 0 {
		s.sessionKills++
		if err := s.server.KillSession(); err != nil {
			s.Fatal(err)
		}
		return
	}
	s.serverKills++
	if r.IntN(2) == 0 {
		s.mutedKills++
		s.proxy.Mute()
		time.Sleep(time.Duration(r.IntN(10000)) * time.Microsecond)
		s.proxy.Cut()
		defer s.proxy.Restore()
		defer s.proxy.Thaw()
	}
	if err := s.server.Kill(); err != nil {
		s.Fatal(err)
	}
}

// killAtRandom kills as often as kills says, while done counts to total: each time after a random part of the writes, and at a
// random moment then. It returns once no kill is left, or ended is closed.
func (s *killSite) killAtRandom(r *rand.Rand, kills, total int, done *atomic.Int64, ended <-chan struct{}, kill func(*rand.Rand)) {
	s.Helper()
	for n := range kills {
		at := int64(total*n/kills + r.IntN(max(1, total/kills)))
		for last, moved := done.Load(), time.Now(); last < at; time.Sleep(time.Millisecond) {
			select {
			case <-ended:
				return
			default:
			}
			if now := done.Load(); now != last {
				last, moved = now, time.Now()
			}
			if time.Since(moved) > 2*time.Minute {
				s.Fatalf("no write was done for two minutes, after %d", last)
			}
		}
		time.Sleep(time.Duration(r.IntN(20000)) * time.Microsecond)
		kill(r)
	}
}

// workUnderKills lets eight clients do total writes, and kills meanwhile. begin makes a client and returns its writes, which end with
// the first one that reports false. compare looks at what the writes have left, before the hosts end.
func (s *killSite) workUnderKills(seed uint64, total, kills int, kill func(*rand.Rand), begin func(n int, r *rand.Rand, c *http.Client) func(int) bool, compare func(summary string)) {
	s.Helper()
	const people = 8
	began := time.Now()
	var done atomic.Int64
	var all sync.WaitGroup
	for n := range people {
		c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
		s.Cleanup(c.CloseIdleConnections)
		write := begin(n, rand.New(rand.NewPCG(seed, uint64(n)+1)), c)
		share := total*(n+1)/people - total*n/people
		all.Go(func() {
			for k := range share {
				if !write(k) {
					return // its rows are not known any more
				}
				done.Add(1)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	defer func() {
		s.over.Store(true) // where a kill has failed
		<-ended
		s.end()
	}()
	s.killAtRandom(rand.New(rand.NewPCG(seed, 0)), kills, total, &done, ended, kill)
	<-ended
	if killed := s.hostKills + s.serverKills + s.sessionKills; killed != kills || done.Load() != int64(total) {
		s.Errorf("%d kills and %d writes, want %d and %d", killed, done.Load(), kills, total)
	}
	compare(fmt.Sprintf("%d writes in %v; kills: %d of a host, %d of one that starts, %d of the server (%d with lost answers), %d of a session",
		done.Load(), time.Since(began).Round(time.Second), s.hostKills, s.startKills, s.serverKills, s.mutedKills, s.sessionKills))
}

// A killVerdict is the knowledge of a client about a request.
type killVerdict int

const (
	answered   killVerdict = iota // the answer arrived whole
	unsent                        // no host took the connection
	unanswered                    // the connection broke, and the request may have been done
)

// A killAnswer is an answer as far as it arrived.
type killAnswer struct {
	verdict killVerdict
	status  int // of what arrived, 0 without a status line
	header  http.Header
	body    string
}

// send sends a request once, to any of the hosts.
func (s *killSite) send(client *http.Client, r *rand.Rand, method, path, body string, header http.Header) killAnswer {
	return s.sendTo(s.hosts[r.IntN(len(s.hosts))], client, method, path, body, header)
}

// sendTo sends a request once to a host.
func (s *killSite) sendTo(h *rollingHost, client *http.Client, method, path, body string, header http.Header) killAnswer {
	request, err := http.NewRequest(method, "http://"+h.address+path, strings.NewReader(body))
	if err != nil {
		s.Error(err)
		return killAnswer{verdict: unsent}
	}
	request.Header = header.Clone()
	request.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := client.Do(request)
	var dialed *net.OpError
	switch {
	case errors.As(err, &dialed) && dialed.Op == "dial":
		return killAnswer{verdict: unsent}
	case err != nil:
		return killAnswer{verdict: unanswered}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	a := killAnswer{status: resp.StatusCode, header: resp.Header, body: string(text)}
	if err != nil {
		a.verdict = unanswered
	}
	return a
}

// retried repeats an attempt until it succeeds: after the last kill the database may recover for a while.
func (s *killSite) retried(attempt func() error) {
	s.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := attempt()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			s.Fatal(err)
		}
	}
}

// end ends the hosts, and wants that none of them had a panic.
func (s *killSite) end() {
	s.Helper()
	for _, h := range s.hosts {
		if err := h.cmd.Process.Kill(); err != nil {
			s.Error(err)
		}
		var ended *exec.ExitError
		if err := h.cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != -1 {
			s.Errorf("a host had ended with %v", err)
		}
		if text := h.text(s.T); strings.Contains(text, "panic") || s.Failed() {
			s.Errorf("the log of a host ends: %s", text[max(0, len(text)-8000):])
		}
	}
}
