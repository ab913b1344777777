package cluster

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// Patroni's own clock: it takes another primary when nothing was heard of the old one
// for ttl. 20 s is the least that it allows, 30 s its default.
const patroniSettings = `
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    primary_start_timeout: 0
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 170
        shared_buffers: 32MB
        wal_keep_size: 64MB
        max_wal_size: 128MB
        min_wal_size: 64MB
  initdb: [encoding: UTF8, locale: C.UTF-8]
postgresql:
  authentication:
    superuser: {username: postgres}
    replication: {username: replicator}
    rewind: {username: postgres}
  pg_hba: [host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust]
`

// A patroni is one PostgreSQL with its Patroni. Everybody else reaches it through
// proxies, and it reaches etcd through one, so that it can be cut off.
type patroni struct {
	program
	disk          string
	small         bool   // the disk is a file system of its own
	direct        string // of the server, not through a proxy
	sql, api, dcs *dbtest.Proxy
	look          *sql.DB
}

// startPatronis returns three of them, once one is primary and the others follow.
func startPatronis(t *testing.T, s *scene) stack {
	t.Helper()
	root := os.Getenv("PATRONI_ROOT")
	if root == "" {
		t.Fatal("PATRONI_ROOT is not set; `make -C internal cluster` sets it")
	}
	etcd, peer := unused(t), unused(t)
	dir := s.folder(t, "etcd", "postgres")
	program{dir: dir, account: "postgres", args: []string{
		filepath.Join(root, "usr/bin/etcd"), "--data-dir", filepath.Join(dir, "data"), "--listen-client-urls", "http://" + etcd,
		"--advertise-client-urls", "http://" + etcd, "--listen-peer-urls", "http://" + peer,
		"--initial-advertise-peer-urls", "http://" + peer, "--initial-cluster", "default=http://" + peer, "--log-level", "error",
	}}.start(t)
	var all []server
	var addresses []string
	for i := range 3 {
		n := newPatroni(t, s, root, fmt.Sprintf("postgres%d", i+1), etcd)
		n.program.start(t)
		all = append(all, n)
		addresses = append(addresses, n.sql.Address())
	}
	st := stack{name: "PostgreSQL", driver: "postgres", servers: all, dsn: "postgres://app@" + strings.Join(addresses, ",") + "/app?sslmode=disable"}
	st.current = func() string {
		writes := make(chan string, len(all))
		for _, n := range all {
			go func() {
				if n.(*patroni).writes() {
					writes <- n.name()
				} else {
					writes <- ""
				}
			}()
		}
		name := ""
		for range all {
			name = max(name, <-writes)
		}
		return name
	}
	st.settle(t)
	for _, statement := range []string{"CREATE ROLE app LOGIN", "CREATE DATABASE app OWNER app"} {
		if _, err := st.primary().(*patroni).look.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func newPatroni(t *testing.T, s *scene, root, name, etcd string) *patroni {
	t.Helper()
	dir := s.folder(t, name, "postgres")
	n := &patroni{disk: filepath.Join(dir, "disk"), direct: unused(t), dcs: dbtest.NewProxy(t, "tcp", etcd)}
	api := unused(t)
	n.sql, n.api = dbtest.NewProxy(t, "tcp", n.direct), dbtest.NewProxy(t, "tcp", api)
	n.makeDisk(t)
	settings := strings.Replace(patroniSettings, "postgresql:\n  authentication", fmt.Sprintf(`scope: app
name: %s
restapi: {listen: %q, connect_address: %q}
etcd3: {host: %q, use_proxies: true}
postgresql:
  listen: %q
  connect_address: %q
  data_dir: %s/data
  bin_dir: %s
  pgpass: %s/pgpass
  parameters: {unix_socket_directories: %s}
  authentication`, name, api, n.api.Address(), n.dcs.Address(), n.direct, n.sql.Address(), n.disk,
		filepath.Dir(find(t, "pg_rewind", "/usr/lib/postgresql/*/bin/pg_rewind")), dir, dir), 1)
	write(t, filepath.Join(dir, "patroni.yml"), settings, "postgres")
	n.program = program{
		dir: dir, account: "postgres", env: []string{"PYTHONPATH=" + filepath.Join(root, "usr/lib/python3/dist-packages")},
		args: []string{"/usr/bin/python3", filepath.Join(root, "usr/bin/patroni"), filepath.Join(dir, "patroni.yml")},
	}
	host, port, _ := net.SplitHostPort(n.direct)
	var err error
	if n.look, err = sql.Open("pgx", "host="+host+" port="+port+" user=postgres dbname=postgres sslmode=disable connect_timeout=1"); err != nil {
		t.Fatal(err)
	}
	n.look.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = n.look.Close() })
	return n
}

// makeDisk puts the data on a small file system of its own where the test may.
func (n *patroni) makeDisk(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(n.disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=600m", "none", n.disk).CombinedOutput(); err != nil {
			t.Logf("no file system of its own for %s: %v: %s", n.disk, err, out)
		} else {
			n.small = true
		}
	}
	own(t, n.disk, "postgres")
	if err := os.Chmod(n.disk, 0o700); err != nil {
		t.Fatal(err)
	}
}

func (n *patroni) name() string { return filepath.Base(n.dir) }

// writes reports whether this server, asked behind all proxies, takes writes.
func (n *patroni) writes() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	var standby bool
	return n.look.QueryRowContext(ctx, "SELECT pg_is_in_recovery()").Scan(&standby) == nil && !standby
}

// healthy reports why the server is neither a primary with a synchronous standby nor a
// standby that follows.
func (n *patroni) healthy() error {
	client := &http.Client{Timeout: time.Second}
	resp, err := client.Get("http://" + n.api.Address() + "/patroni")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	role := string(text)
	if n.writes() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var following, synchronous int
		err := n.look.QueryRowContext(ctx, `SELECT COUNT(*), COUNT(*) FILTER (WHERE sync_state <> 'async') FROM pg_stat_replication WHERE state = 'streaming'`).Scan(&following, &synchronous)
		if err != nil || following < 2 || synchronous < 1 {
			return fmt.Errorf("%d follow %s, %d of them synchronously, %w", following, n.name(), synchronous, errors.Join(err, errUnhealthy))
		}
		return nil
	}
	if !strings.Contains(role, `"state": "running"`) || !strings.Contains(role, `"replication_state": "streaming"`) {
		return fmt.Errorf("%s: %.200s: %w", n.name(), role, errUnhealthy)
	}
	return nil
}

func (n *patroni) kill()   { kill(n.dir) }
func (n *patroni) freeze() { signal(n.dir, syscall.SIGSTOP) }

func (n *patroni) cut() {
	for _, p := range []*dbtest.Proxy{n.sql, n.api, n.dcs} {
		p.Freeze() // nothing passes, and nobody is told
	}
}

// heal undoes whatever was done to the server.
func (n *patroni) heal(t *testing.T) {
	t.Helper()
	signal(n.dir, syscall.SIGCONT)
	for _, p := range []*dbtest.Proxy{n.sql, n.api, n.dcs} {
		p.Thaw()
	}
	_ = os.Remove(filepath.Join(n.disk, "ballast"))
	if signal(n.dir, 0) == 0 {
		n.program.start(t)
	}
}

// fill leaves no room on the disk of the server.
func (n *patroni) fill() error {
	if !n.small {
		return errors.New("the disk is everybody's: only root can mount a small one")
	}
	f, err := os.Create(filepath.Join(n.disk, "ballast"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 1<<20); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			for _, err = f.Write(block[:1]); err == nil; _, err = f.Write(block[:1]) {
			}
			return nil
		} else if err != nil {
			return err
		}
	}
}

// switchOver asks Patroni for another primary.
func (n *patroni) switchOver() error {
	body := fmt.Sprintf(`{"leader": %q}`, n.name())
	resp, err := http.Post("http://"+n.api.Address()+"/switchover", "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", resp.StatusCode, text)
	}
	return err
}
