package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// Hosts are killed while they deliver events to a listener, again and again. Its effects are
// applied once for each event, and each event has its mail.
func TestKilledHostsTellOnce(t *testing.T) {
	kit := newFaultKit(t, nil)
	for engine, hosts := range map[string]int{"sqlite": 1, "postgres": 2} {
		t.Run(engine, func(t *testing.T) {
			s := newTeller(t, engine, kit.plugin)
			const people, kills = 12, 8 // and no user gets more mails than a user may
			ids := s.people(people)
			for kill := range kills {
				s.announce(ids)
				var killed []*exec.Cmd
				for range hosts {
					killed = append(killed, s.start())
				}
				for left := people * (kills - kill) / (kills + 1); s.events() > left; { // in the midst of them
					time.Sleep(time.Millisecond)
				}
				for _, cmd := range killed {
					_ = cmd.Process.Kill()
					_ = cmd.Wait()
				}
				s.exec(`UPDATE vestibule_outbox SET held = 0`) // as when the leases have ended
			}
			last := s.start()
			for end := time.Now().Add(2 * time.Minute); s.waiting() > 0 && time.Now().Before(end); {
				time.Sleep(100 * time.Millisecond)
			}
			_ = last.Process.Signal(syscall.SIGINT)
			_ = last.Wait()
			s.countedOnce(ids, kills)
		})
	}
}

// A teller is a folder from which hosts tell a listener, and its database.
type teller struct {
	*testing.T
	dir string
	db  *store.DB
	log *os.File
}

func newTeller(t *testing.T, engine, plugin string) *teller {
	t.Helper()
	s := &teller{T: t, dir: t.TempDir()}
	database, open := `dsn = "test.db"`, func() (*store.DB, error) { return sqlite.Open(t.Context(), filepath.Join(s.dir, "test.db")) }
	if engine == "postgres" {
		dsn := dbtest.Postgres(t)
		database, open = fmt.Sprintf("driver = %q\n  dsn = %q", engine, dsn), func() (*store.DB, error) { return postgres.Open(t.Context(), dsn) }
	}
	s.must(os.Mkdir(filepath.Join(s.dir, "templates"), 0o755))
	putFile(t, s.dir, "templates/changed.txt", "Subject: Changed\n\n{{.Text \"link\"}}\n")
	putFile(t, s.dir, "templates/changed.html", "<p>{{.Text \"link\"}}</p>\n")
	putFile(t, s.dir, "config.hcl", fmt.Sprintf(`
database {
  %s
}
mail {
  templates = "templates"
}
route "home" {
  path     = "/"
  redirect = "/login"
}
route "dashboard" {
  path     = "/dashboard"
  redirect = "/login"
}
plugin "audit" {
  command    = [%q, "ok"]
  roles      = ["listener"]
  user_read  = ["heard"]
  user_write = ["heard"]
  mails      = ["changed"]
}
`, database, plugin))
	var err error
	s.db, err = open()
	s.must(err)
	t.Cleanup(func() { s.must(s.db.Close()) })
	_, err = s.db.Migrate(t.Context())
	s.must(err)
	s.exec(`ALTER TABLE users ADD heard INTEGER`)
	s.log, err = os.Create(filepath.Join(s.dir, "log"))
	s.must(err)
	t.Cleanup(func() {
		if text, err := os.ReadFile(s.log.Name()); err == nil && t.Failed() {
			t.Logf("%s", text)
		}
	})
	return s
}

func (s *teller) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *teller) exec(query string) {
	s.Helper()
	_, err := s.db.Writer().ExecContext(s.Context(), query)
	s.must(err)
}

// people adds users and returns their ids.
func (s *teller) people(n int) (ids []string) {
	s.Helper()
	for i := range n {
		s.exec(fmt.Sprintf(`INSERT INTO users (name, email, password) VALUES ('Ada', 'counts+%d@example.com', 'x')`, i))
	}
	s.must(s.db.Reader().SelectContext(s.Context(), &ids, `SELECT CAST(id AS TEXT) FROM users ORDER BY id`))
	return ids
}

// announce queues an event of each user.
func (s *teller) announce(ids []string) {
	s.Helper()
	for _, id := range ids {
		s.must(s.db.Settle(s.Context(), func(ctx context.Context) error {
			return s.db.Outbox().Announce(ctx, "password_reset", id, []string{"audit"})
		}))
	}
}

// events counts those that wait for the listener.
func (s *teller) events() (n int) {
	s.Helper()
	s.must(s.db.Reader().GetContext(s.Context(), &n, `SELECT count(*) FROM vestibule_outbox WHERE listener <> ''`))
	return n
}

// waiting counts what the outbox still has.
func (s *teller) waiting() (n int) {
	s.Helper()
	s.must(s.db.Reader().GetContext(s.Context(), &n, `SELECT count(*) FROM vestibule_outbox`))
	return n
}

// start starts a host.
func (s *teller) start() *exec.Cmd {
	s.Helper()
	cmd := vestibuleCommand(s.T, "serve", "--set", "server.address=127.0.0.1:0")
	cmd.Dir, cmd.Stderr = s.dir, s.log
	s.must(cmd.Start())
	return cmd
}

// countedOnce wants each event to be counted once, and to have its mail.
func (s *teller) countedOnce(ids []string, each int) {
	s.Helper()
	if n := s.waiting(); n > 0 {
		s.Errorf("%d rows are left in the outbox", n)
	}
	var counts []int
	s.must(s.db.Reader().SelectContext(s.Context(), &counts, `SELECT coalesce(heard, 0) FROM users ORDER BY id`))
	for i, n := range counts {
		if n != each {
			s.Errorf("of %d events of user %s %d were counted", each, ids[i], n)
		}
	}
	mails, err := filepath.Glob(filepath.Join(s.dir, "mail", "*.eml"))
	s.must(err)
	seen := map[string]int{}
	for _, name := range mails {
		text, err := os.ReadFile(name)
		s.must(err)
		seen[regexp.MustCompile(`event=(3D)?([0-9a-f]{32})`).FindString(string(text))]++
	}
	if len(seen) != len(ids)*each || seen[""] > 0 { // a mail may be sent twice, as its host dies before that is noted
		s.Errorf("%d files have the mails of %d events, want %d", len(mails), len(seen), len(ids)*each)
	}
	s.Logf("%d mails of %d events", len(mails), len(seen))
}
