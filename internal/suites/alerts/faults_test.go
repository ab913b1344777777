package alerts

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A fault is a row of the table.
type fault struct {
	name       string
	prepare    func(*host) // before the configuration is written
	do         func(*host) // the fault
	alerts     []string    // that fire; no others may
	files      int         // how many the host may open
	pages      int         // a second; 1 by default
	backfilled bool        // a Prometheus of its own knows of sign-ins a week ago
}

func faults() []fault {
	return []fault{
		{name: "none"},
		{name: "a host is killed every minute, and started again at once", do: killedEachMinute, alerts: []string{"VestibuleRestarts"}},
		{name: "a host is killed, and not started again", do: (*host).kill, alerts: []string{"VestibuleDown"}},
		{name: "nobody reads the log any more, its pipe is full", pages: 100, do: stuckLog, alerts: []string{"VestibuleLogLost"}},
		{name: "the reader of the log goes away", do: lostLog, alerts: []string{"VestibuleLogLost"}},
		{name: "the configuration is emptied and read again", do: emptied, alerts: []string{"VestibuleReloadFailed"}},
		{name: "`odata.guard` is changed and read again", prepare: openData, do: guarded, alerts: []string{"VestibuleRestartNeeded"}},
		{name: "PostgreSQL is out of reach for 40 s", prepare: onPostgres, do: away(40 * time.Second), alerts: []string{"VestibuleShortOutage"}},
		{name: "PostgreSQL is out of reach for 8 s, less than `database.wait`", prepare: onPostgres, do: away(8 * time.Second)},
		{name: "PostgreSQL is out of reach for good", prepare: onPostgres, do: away(time.Hour), alerts: []string{"VestibuleNotReady"}},
		{name: "25 addresses open connections until no file descriptor is free", files: 400, do: crowd, alerts: []string{"VestibuleRefuses"}},
		{name: "an import replaces the password of everybody", do: imported, alerts: []string{"VestibuleSignInsFail"}},
		{name: "nobody reaches the sign-in any more, requests go on", backfilled: true, alerts: []string{"VestibuleSignInsStop"}},
		{name: "a dispenser answers every call with an error", do: failing, alerts: []string{"VestibulePluginFails"}},
		{name: "a dispenser sets a column to what it cannot hold", prepare: withNumber, do: setsWord, alerts: []string{"VestibulePluginFails"}},
		{name: "a dispenser sets a column to what its table refuses", prepare: withNumber, do: setsRefused, alerts: []string{"VestibulePluginFails"}},
		{name: "a dispenser dies, and does not start again", do: dead, alerts: []string{"VestibulePluginDown"}},
		{name: "a dispenser dies every 30 s, and starts again", do: dying, alerts: []string{"VestibulePluginRestarts"}},
	}
}

func killedEachMinute(h *host) {
	h.each(time.Minute, func() { h.kill(); h.serve() })
}

// stuckLog has the reader of the log stop. The one Read that is under way is still answered.
func stuckLog(h *host) { close(h.hush) }

// lostLog closes the read end of the log.
func lostLog(h *host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.log.Close(); err != nil {
		h.Error(err)
	}
}

func emptied(h *host) {
	write(h.T, filepath.Join(h.dir, "config.hcl"), "")
	h.signal(syscall.SIGHUP)
}

func openData(h *host) {
	h.statement("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
	h.more = "odata {\n  guard = \"none\"\n  entity_set \"Things\" {\n    table = \"things\"\n  }\n}\n"
}

func guarded(h *host) {
	h.more = "odata {\n  guard = \"settled\"\n  entity_set \"Things\" {\n    table = \"things\"\n  }\n}\n"
	h.configure()
	h.signal(syscall.SIGHUP)
}

func onPostgres(h *host) {
	h.proxy, h.dsn = dbtest.BehindProxy(h.T, "postgres")
}

// away takes the database out of reach for so long.
func away(limit time.Duration) func(*host) {
	return func(h *host) {
		h.proxy.Cut()
		h.wait(limit)
		h.proxy.Restore()
	}
}

// crowd keeps 500 connections, 20 of each address, which say nothing. The host closes
// them after a while, and they come again.
func crowd(h *host) {
	var all sync.WaitGroup
	for i := range 500 {
		all.Go(func() {
			dialer := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%25))}}
			h.each(time.Second, func() {
				ctx, cancel := context.WithCancel(h.Context())
				defer cancel()
				conn, err := dialer.DialContext(ctx, "tcp", h.address)
				if err != nil {
					return // that no more are accepted is the fault
				}
				go func() {
					select {
					case <-h.over:
					case <-ctx.Done():
					}
					_ = conn.Close()
				}()
				_, _ = conn.Read(make([]byte, 1))
			})
		})
	}
	all.Wait()
}

// imported leaves nobody with the password that they know.
func imported(h *host) {
	h.statement("UPDATE users SET password = '!'")
}

// failing gives the dispenser settings with which it answers every call with UNAVAILABLE.
func failing(h *host) {
	h.plugin = "  config {\n    call = \"says-unavailable\"\n  }"
	h.configure()
	h.signal(syscall.SIGHUP)
}

// withNumber gives users columns that the dispenser may set.
func withNumber(h *host) {
	h.statement("ALTER TABLE users ADD COLUMN number BIGINT")
	h.statement("ALTER TABLE users ADD COLUMN note TEXT")
	h.statement("ALTER TABLE users ADD COLUMN checked BIGINT CHECK (checked >= 0)")
	h.plugin = mayWrite
}

const mayWrite = "  user_write = [\"number\", \"note\", \"checked\"]\n"

// setsWord gives the dispenser settings with which it sets a column of numbers to a word.
func setsWord(h *host) { h.callsGo("column-word") }

// setsRefused gives the dispenser settings with which it violates a constraint of the table.
func setsRefused(h *host) { h.callsGo("column-check") }

// callsGo makes each call of the dispenser go this way.
func (h *host) callsGo(way string) {
	h.plugin = mayWrite + "  config {\n    call = \"" + way + "\"\n  }"
	h.configure()
	h.signal(syscall.SIGHUP)
}

func dead(h *host) {
	write(h.T, filepath.Join(h.dir, "told"), "exit")
	h.killPlugin()
}

func dying(h *host) {
	h.each(30*time.Second, h.killPlugin)
}

// killPlugin kills the process of the plugin that the log has named last.
func (h *host) killPlugin() {
	text, err := os.ReadFile(filepath.Join(h.dir, "log"))
	if err != nil {
		h.Error(err)
		return
	}
	found := regexp.MustCompile(`ready: plugin=fault pid=(\d+)`).FindAllSubmatch(text, -1)
	if len(found) == 0 {
		h.Errorf("the log names no process of the plugin:\n%s", h.logTail())
		return
	}
	pid, err := strconv.Atoi(string(found[len(found)-1][1]))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		h.Error(fmt.Errorf("kill the plugin: %w", err))
	}
}

// statement runs a statement on the host's SQLite database.
func (h *host) statement(text string) {
	h.Helper()
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "test.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(text); err != nil {
		h.Error(err)
	}
}
