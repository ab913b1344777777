package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// A server is a database's processes.
type server struct {
	// parent has a process for each connection; else it is the only one.
	parent, forks int
}

// findServer looks for the processes of a database on this machine; nil for SQLite, which has none.
func findServer(db, dsn string) (*server, error) {
	ctx := context.Background()
	switch db {
	case "postgres":
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return nil, err
		}
		defer conn.Close(ctx) //nolint:errcheck // read only
		pid, err := strconv.Atoi(status(int(conn.PgConn().PID()), "PPid:"))
		return &server{pid, 1}, err
	case "mariadb":
		handle, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		defer handle.Close() //nolint:errcheck // read only
		var file string
		if err := handle.QueryRowContext(ctx, "SELECT @@pid_file").Scan(&file); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(file) // the server names it
		if err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		return &server{pid, 0}, err
	}
	return nil, nil
}

// status is a field of a process's status, or empty.
func status(pid int, field string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), field)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// processorTime is what a process has used in µs, user and system, with its threads that have ended.
func processorTime(pid int) (int, error) {
	const ofProcess = 2 // CPUCLOCK_SCHED; the rest of such a clock's number is the process, inverted
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|ofProcess), &t); err != nil { // numbers of processes are small
		return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
	}
	return int(t.Nano() / 1000), nil
}

// times are the processor times of threads, in ns.
type times map[string]int64

// used is what the threads of a database have used so far.
func (s *server) used() times {
	switch {
	case s == nil:
		return nil
	case s.forks == 0:
		return threads(s.parent)
	}
	all := threads(s.parent)
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", s.parent, s.parent))
	for _, pid := range strings.Fields(string(children)) {
		n, _ := strconv.Atoi(pid)
		for name, t := range threads(n) {
			all[name] = t
		}
	}
	return all
}

// threads are those of a process. A process that has ended has none.
func threads(pid int) times {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	all := times{}
	for _, f := range files {
		text, _ := os.ReadFile(f) // of the kernel
		first, _, _ := strings.Cut(string(text), " ")
		all[f], _ = strconv.ParseInt(first, 10, 64)
	}
	return all
}

// since is what was used after another moment, in µs. What a thread used that has ended meanwhile does not count.
func (t times) since(before times) float64 {
	ns := int64(0)
	for name, now := range t {
		ns += now - before[name]
	}
	return float64(ns) / 1000
}
