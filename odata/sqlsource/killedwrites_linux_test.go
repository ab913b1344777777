package sqlsource_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// A database is killed again and again while eight people write pairs of orders, each pair in a transaction: every pair that was
// acknowledged is there afterwards, none is there by half, and none that was refused.
func TestKilledDatabaseLosesNothing(t *testing.T) {
	settings := map[string][]string{
		"postgres": {"-c", "synchronous_commit=on", "-c", "restart_after_crash=on"},
		"mysql":    {"--innodb-flush-log-at-trx-commit=2"},
	}
	for _, dialect := range []string{"postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			dsn, err := dbtest.Start(dialect, settings[dialect]...)
			if err != nil {
				t.Skip(err)
			}
			driver := map[string]string{"postgres": "pgx", "mysql": "mysql"}[dialect]
			db, err := sqlx.Open(driver, dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			fill(t, db.DB, ordersScript(dialect))
			patience := func(context.Context) time.Duration { return time.Minute }
			w := writer{t, open(t, sqlsource.Database{Dialect: dialect, DB: db, Wait: patience}, ordersConfig(nil)), tenant(1)}
			var all sync.WaitGroup
			var mu sync.Mutex
			var over atomic.Bool
			outcomes := map[string]string{}
			for person := range 8 {
				all.Go(func() {
					for n := 0; !over.Load(); n++ {
						pair := fmt.Sprintf("p%d-%d", person, n)
						outcome := w.pair(pair)
						mu.Lock()
						outcomes[pair] = outcome
						mu.Unlock()
					}
				})
			}
			for range 4 {
				time.Sleep(700 * time.Millisecond)
				killServer(t, dialect, dsn)
			}
			time.Sleep(500 * time.Millisecond)
			over.Store(true)
			all.Wait()
			there := map[string]int{}
			var codes []string
			if err := db.Select(&codes, "SELECT code FROM orders WHERE code LIKE 'p%-%'"); err != nil {
				t.Fatal(err)
			}
			for _, code := range codes {
				there[strings.TrimRight(code, "ab")]++
			}
			counts := map[string]int{}
			for pair, outcome := range outcomes {
				counts[outcome]++
				switch n := there[pair]; {
				case n == 1:
					t.Errorf("%s (%s) is there by half", pair, outcome)
				case outcome == "done" && n == 0:
					t.Errorf("%s was acknowledged and is lost", pair)
				case outcome != "done" && outcome != "unknown" && n > 0:
					t.Errorf("%s was refused (%s) and is there", pair, outcome)
				}
			}
			t.Log(counts)
			if counts["done"] < 50 {
				t.Errorf("no more than %d pairs were written", counts["done"])
			}
		})
	}
}

// pair writes two orders in one transaction, and again where it was undone.
func (w writer) pair(name string) string {
	for range 1000 {
		tx, err := w.Begin(context.Background())
		for _, part := range []string{"a", "b"} {
			if err == nil {
				_, err = w.apply(tx, w.change("POST Orders code="+name+part, ""))
			}
		}
		if err == nil {
			err = tx.Commit()
		}
		if tx != nil {
			_ = tx.Close()
		}
		switch {
		case err == nil:
			return "done"
		case refusalOf(err) != "conflict":
			return refusalOf(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return "conflict"
}

// killServer ends processes of a server with SIGKILL. PostgreSQL begins again by itself where one of its processes was killed.
func killServer(t *testing.T, dialect, dsn string) {
	t.Helper()
	if dialect == "postgres" {
		db, err := sqlx.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		var pid int
		for range 100 {
			if err = db.Get(&pid, "SELECT pg_backend_pid()"); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err := errors.Join(err, syscall.Kill(pid, syscall.SIGKILL)); err != nil {
			t.Fatal(err)
		}
		return
	}
	_, rest, _ := strings.Cut(dsn, "unix(")
	socket, _, _ := strings.Cut(rest, ")")
	dir := filepath.Dir(socket)
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	args := strings.Split(string(bytes.TrimRight(command, "\x00")), "\x00")
	again := exec.Command(args[0], args[1:]...) // the same server
	again.Dir = dir
	if own := info.Sys().(*syscall.Stat_t); int(own.Uid) != os.Getuid() {
		again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: own.Uid, Gid: own.Gid}}
	}
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = again.Process.Kill()
		_ = again.Wait()
	})
	for range 200 {
		if text, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(again.Process.Pid) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server did not begin again")
}
