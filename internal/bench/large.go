package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// A large is a run of `make bench-large`: PostgreSQL with many rows, asked through the real program. All that it makes is in
// one directory, where a run that was cut short goes on.
type large struct {
	settings
	pg     *exec.Cmd
	server *server
	conn   *pgx.Conn
	report *os.File
}

// largely measures tables with many rows, and a pooler.
func (s settings) largely(ctx context.Context) (err error) {
	runtime.LockOSThread() // the server ends with this thread
	if err := s.fits(); err != nil {
		return err
	}
	l := &large{settings: s}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if l.report, err = os.OpenFile(filepath.Join(s.dir, "report"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.report.Close()) }()
	if err := l.build(ctx, l.dir); err != nil {
		return err
	}
	if err := l.startPostgres(ctx, production()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.stopPostgres()) }()
	l.say("%s, %d rows", time.Now().UTC().Format(time.DateTime), s.rows)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go l.watch(ctx, cancel)
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{{"plain", l.shape("plain", 0)}, {"hash", l.shape("hash", partitions)}, {"pooler", l.pooled}, {"totals", l.totals}} {
		if l.only != "" && !slices.Contains(strings.Split(l.only, ","), part.name) {
			continue
		}
		if err := part.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, errors.Join(err, context.Cause(ctx)))
		}
	}
	return nil
}

// bytesPerRow is the disk space of a row with its three indexes, and while the largest of these is sorted.
const bytesPerRow = 250

// fits refuses what would take more disk than the bound.
func (s settings) fits() error {
	if need := int64(s.rows) * bytesPerRow; need > int64(s.disk)<<30 {
		return fmt.Errorf("%d rows take up to %d GB, more than the %d of -disk: raise it, or take fewer -rows", s.rows, need>>30, s.disk)
	}
	return nil
}

// watch ends the run before the directory takes more than the bound, or before the disk is full.
func (l *large) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	for ctx.Err() == nil {
		var used int64
		_ = filepath.WalkDir(l.dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // files come and go
			}
			if info, err := d.Info(); err == nil && d.Type().IsRegular() {
				used += info.Size()
			}
			return nil
		})
		var disk syscall.Statfs_t
		_ = syscall.Statfs(l.dir, &disk)
		if free := int64(disk.Bavail) * disk.Bsize; used > int64(l.disk)<<30 || free < 2<<30 {
			cancel(fmt.Errorf("%s takes %d MB, and %d MB are free: ended before -disk (%d GB) is exceeded", l.dir, used>>20, free>>20, l.disk))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// say prints a line, which is also kept.
func (l *large) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Println(line)
	_, _ = fmt.Fprintln(l.report, line)
}

// build makes the program that is measured.
func (s *settings) build(ctx context.Context, dir string) error {
	if s.program != "" {
		return nil
	}
	s.program = filepath.Join(dir, "vestibule")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", s.program, "./host/cmd/vestibule")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// dsn is the name of the database at a port of the directory.
func (l *large) at(port int, more string) string {
	return fmt.Sprintf("postgres://postgres@/bench?host=%s&port=%d&sslmode=disable%s", url.QueryEscape(l.dir), port, more)
}

// The ports in the directory; they are names of sockets.
const (
	serverPort = 5432
	poolerPort = 6432
)

// account is the user who may run PostgreSQL: root may not.
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2) //nolint:gosec // of the system
}

// command runs a program as the account, until this process ends, and writes its output into a file.
func (l *large) command(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	cred, err := account()
	if err != nil {
		return nil, err
	}
	if cred != nil {
		if err := os.Chown(l.dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(filepath.Join(l.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGINT, Setpgid: true}
	return cmd, err
}

// production returns the settings of the server that is measured, beside the defaults of PostgreSQL.
func production() []string {
	return []string{
		"listen_addresses=", "port=" + strconv.Itoa(serverPort), "max_connections=200", "shared_buffers=1GB", "dynamic_shared_memory_type=mmap", "timezone=UTC",
	}
}

// loading returns the settings with which the server loads: nothing is flushed, so a run that loses power loads again.
func loading() []string {
	return append(production(),
		"fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "max_wal_size=4GB", "autovacuum=off", "maintenance_work_mem=1GB")
}

// startPostgres starts the server of the directory, which it makes at first.
func (l *large) startPostgres(ctx context.Context, settings []string) error {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		return errors.New("PostgreSQL is missing: apt-get install postgresql")
	}
	bin, data := found[len(found)-1], filepath.Join(l.dir, "data")
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err != nil {
		install, err := l.command(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
		if err != nil {
			return err
		}
		if err := install.Run(); err != nil {
			return fmt.Errorf("initdb: %w; see %s", err, filepath.Join(l.dir, "log"))
		}
	}
	args := []string{"-D", data, "-k", l.dir}
	for _, set := range settings {
		args = append(args, "-c", set)
	}
	var err error
	if l.pg, err = l.command(context.WithoutCancel(ctx), filepath.Join(bin, "postgres"), args...); err != nil {
		return err
	}
	if err := l.pg.Start(); err != nil {
		return err
	}
	return l.connect(ctx)
}

// connect waits until the server answers.
func (l *large) connect(ctx context.Context) error {
	admin := strings.Replace(l.at(serverPort, ""), "/bench?", "/postgres?", 1)
	for begin := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, admin)
		if err == nil {
			_, _ = conn.Exec(ctx, "CREATE DATABASE bench") // may be there
			_ = conn.Close(ctx)
			break
		}
		if time.Since(begin) > 5*time.Minute {
			return fmt.Errorf("PostgreSQL does not answer: %w; see %s", err, filepath.Join(l.dir, "log"))
		}
	}
	var err error
	if l.conn, err = pgx.Connect(ctx, l.at(serverPort, "")); err != nil {
		return err
	}
	l.server, err = findServer("postgres", l.at(serverPort, ""))
	return err
}

// restart starts the server with other settings.
func (l *large) restart(ctx context.Context, settings []string) error {
	if err := l.stopPostgres(); err != nil {
		return err
	}
	return l.startPostgres(ctx, settings)
}

// stopPostgres stops the server in an orderly way.
func (l *large) stopPostgres() error {
	_ = l.pg.Process.Signal(syscall.SIGINT)
	return l.pg.Wait()
}
