package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// errUnhealthy is wrapped by what is wrong with a server that answers.
var errUnhealthy = errors.New("it is not healthy")

// A server is one of the three of a database.
type server interface {
	name() string
	healthy() error
	kill()
	freeze()
	cut()              // from everybody, without a word
	fill() error       // its disk
	switchOver() error // away from it
	heal(t *testing.T) // from all of that
}

// A stack is a database of three servers.
type stack struct {
	name, driver, dsn string
	servers           []server
	// current names the server that takes writes now; empty while none does.
	current func() string
}

// primary is the server that takes writes.
func (st stack) primary() server {
	now := st.current()
	for _, s := range st.servers {
		if s.name() == now {
			return s
		}
	}
	return nil
}

// settle waits until all is as it should be: one takes writes and the others follow.
func (st stack) settle(t *testing.T) {
	t.Helper()
	within(t, 2*time.Minute, st.name+" with three servers", func() error {
		var errs []error
		for _, s := range st.servers {
			errs = append(errs, s.healthy())
		}
		if st.primary() == nil {
			errs = append(errs, errors.New("no server takes writes"))
		}
		return errors.Join(errs...)
	})
}

// open connects to the database as the hosts do.
func (st stack) open(t *testing.T) *sql.DB {
	t.Helper()
	var db *sql.DB
	if st.driver == "postgres" {
		config, err := pgx.ParseConfig(st.dsn + "&target_session_attrs=read-write&connect_timeout=2")
		if err != nil {
			t.Fatal(err)
		}
		db = stdlib.OpenDB(*config)
	} else {
		var err error
		if db, err = sql.Open("mysql", st.dsn); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// exhaust takes all connections that the database gives, ends half of those of the
// hosts, so that they need new ones, and gives all back when ctx ends. It returns how
// many it has taken.
func (st stack) exhaust(ctx context.Context, t *testing.T) int {
	t.Helper()
	db, primary := st.open(t), st.primary() // which nobody may be able to ask soon
	taken := 0
	take := func() {
		for {
			c, err := db.Conn(ctx)
			if err != nil {
				return
			}
			taken++
			context.AfterFunc(ctx, func() { _ = c.Close(); _ = db.Close() })
		}
	}
	take()
	if err := endHalf(primary); err != nil {
		t.Error(err)
	}
	take()
	return taken
}

// endHalf ends half of the connections to the primary that the hosts, or others by their name, have.
func endHalf(primary server) error {
	if n, ok := primary.(*patroni); ok {
		_, err := n.look.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vestibule' AND pid % 2 = 0`)
		return err
	}
	look := primary.(*galera).look
	rows, err := look.Query("SELECT id FROM information_schema.processlist WHERE user = 'app' AND id % 2 = 0")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var all []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		all = append(all, id)
	}
	for _, id := range all {
		if _, err := look.Exec(fmt.Sprintf("KILL %d", id)); err != nil && !strings.Contains(err.Error(), "1094") { // it has ended by itself
			return err
		}
	}
	return rows.Err()
}

// A move is from one server to another.
type move struct{ last, first time.Time }

// observe looks who takes writes until another server than old does, for at most so
// long. It sends when old last did and when the other one first did.
func (st stack) observe(old string, limit time.Duration) <-chan move {
	found := make(chan move, 1)
	go func() {
		defer close(found)
		m := move{last: time.Now()}
		for end := m.last.Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			asked := time.Now()
			switch st.current() {
			case "":
			case old:
				m.last = asked
			default:
				m.first = time.Now()
				found <- m
				return
			}
		}
	}()
	return found
}
