package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Killable is a server of one test that can be killed and starts again on its data. What a process has committed outlives the
// process; nothing here survives the loss of the machine.
type Killable struct {
	// DSN is the data source name of an empty database.
	DSN string

	engine engine
	dir    string
}

// NewKillable starts a server of the dialect "postgres" or "mysql". The server ends with the test.
func NewKillable(t testing.TB, dialect string) *Killable {
	t.Helper()
	e, dsn, database, more := postgresEngine(), postgresDSN, "postgres", settings("synchronous_commit=on", "full_page_writes=on")
	if dialect == "mysql" {
		e, dsn, database, more = mariadbEngine(), mysqlDSN, "", []string{"--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=1"}
	}
	serve := e.serve
	e.serve = func(bin []string, dir string) []string { return append(serve(bin, dir), more...) }
	k := &Killable{engine: e, dir: following(t, e).dir}
	if err := admin(e.driver, dsn(k.dir, database), "CREATE DATABASE killable"); err != nil {
		t.Fatalf("create the test's database: %v", err)
	}
	k.DSN = dsn(k.dir, "killable")
	return k
}

// Behind returns a proxy in front of the server, and the data source name of the database through it.
func (k *Killable) Behind(t testing.TB) (*Proxy, string) {
	t.Helper()
	return behind(t, k.DSN)
}

// Kill ends the server with SIGKILL and returns when it answers again.
func (k *Killable) Kill() error {
	before, err := k.pid()
	if err != nil {
		return err
	}
	again := filepath.Join(k.dir, "again")
	if err := os.WriteFile(again, nil, 0o600); err != nil {
		return err
	}
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		return err
	}
	for range 2 { // the server may have been forking
		for _, pid := range k.orphans(before) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with the server
		}
		time.Sleep(pollInterval)
	}
	for end := time.Now().Add(startTimeout); ; time.Sleep(pollInterval) {
		if now, err := k.pid(); err == nil && now != before {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("the server did not start again within %s", startTimeout)
		}
	}
	if err := k.engine.wait(k.dir); err != nil {
		return errors.Join(err, logTail(k.dir))
	}
	return os.Remove(again)
}

// orphans returns the processes that a killed server has left: those in its directory of data. A process of PostgreSQL that waits
// for a lock in shared memory does not notice the end of the server, and no other server starts before the end of that process.
// Where there is no /proc it returns none.
func (k *Killable) orphans(server int) []int {
	data := filepath.Join(k.dir, "data")
	links, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is a constant
	var pids []int
	for _, link := range links {
		if dir, err := os.Readlink(link); err != nil || dir != data {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil && pid != server {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ask repeats a question to the server until it is answered.
func (k *Killable) ask(question func(context.Context, *sql.DB) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), adminTimeout)
	defer cancel()
	db, err := sql.Open(k.engine.driver, k.DSN)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for {
		err := question(ctx, db)
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(pollInterval)
	}
}

// KillSession ends the process of one session of PostgreSQL with SIGKILL, at random one that runs a statement. The server then
// ends all others and recovers.
func (k *Killable) KillSession() error {
	const another = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
		ORDER BY state = 'active' DESC, random() LIMIT 1`
	return k.ask(func(ctx context.Context, db *sql.DB) error {
		var pid int
		if err := db.QueryRowContext(ctx, another).Scan(&pid); err != nil {
			return fmt.Errorf("find a session to be killed: %w", err)
		}
		return syscall.Kill(pid, syscall.SIGKILL)
	})
}

// pid is the number of the server's process.
func (k *Killable) pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(k.dir, "server"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
