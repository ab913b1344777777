package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // driver "mysql"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A galera is one MariaDB of a cluster, with a check that tells HAProxy whether it
// may be used.
type galera struct {
	program
	sql, check *dbtest.Proxy
	away       atomic.Bool // what the operator has told the check
	look       *sql.DB
}

// startGaleras returns three of them behind HAProxy, which sends everybody to the
// first that can be used.
func startGaleras(t *testing.T, s *scene) stack {
	t.Helper()
	library := find(t, "galera-4", "/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so")
	var group []string
	for range 3 {
		group = append(group, unused(t))
	}
	st := stack{name: "MariaDB Galera", driver: "mysql"}
	for i := range group {
		n := newGalera(t, s, i, library, group)
		st.servers = append(st.servers, n)
		first := n.program
		if i == 0 {
			first.args = append(first.args[:len(first.args):len(first.args)], "--wsrep-new-cluster")
		}
		first.start(t)
		within(t, time.Minute, n.name(), n.healthy)
	}
	front := st.balance(t, s)
	st.dsn = "app@tcp(" + front + ")/app?clientFoundRows=true"
	look, err := sql.Open("mysql", "root@tcp("+front+")/?timeout=500ms&readTimeout=500ms")
	if err != nil {
		t.Fatal(err)
	}
	look.SetMaxIdleConns(0) // ask HAProxy each time
	t.Cleanup(func() { _ = look.Close() })
	st.current = func() string {
		var name, ready string
		if look.QueryRow("SELECT @@wsrep_node_name, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'wsrep_ready'").Scan(&name, &ready) != nil || ready != "ON" {
			return ""
		}
		return name
	}
	st.settle(t)
	for _, statement := range []string{"CREATE DATABASE app CHARACTER SET utf8mb4", "CREATE USER app@'%'", "GRANT ALL ON app.* TO app@'%'"} {
		if _, err := st.servers[0].(*galera).look.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func newGalera(t *testing.T, s *scene, i int, library string, group []string) *galera {
	t.Helper()
	dir := s.folder(t, fmt.Sprintf("galera%d", i+1), "mysql")
	direct, state := unused(t), unused(t)
	_, port, _ := net.SplitHostPort(direct)
	n := &galera{sql: dbtest.NewProxy(t, "tcp", direct), program: program{dir: dir, account: "mysql"}}
	install := n.program
	data := filepath.Join(dir, "data")
	install.args = []string{find(t, "mariadb-install-db"), "--no-defaults", "--datadir=" + data, "--skip-test-db", "--auth-root-authentication-method=normal", "--skip-name-resolve"}
	install.run(t)
	n.args = []string{
		find(t, "mariadbd"), "--no-defaults", "--datadir=" + data, "--tmpdir=" + dir, "--socket=" + filepath.Join(dir, "sock"), "--pid-file=" + filepath.Join(dir, "pid"),
		"--bind-address=127.0.0.1", "--port=" + port, "--skip-name-resolve", "--default-time-zone=+00:00", "--max-connections=170",
		"--character-set-server=utf8mb4", "--collation-server=utf8mb4_unicode_ci", "--innodb-buffer-pool-size=64M", "--innodb-use-native-aio=0",
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--wsrep-on=ON", "--wsrep-provider=" + library,
		"--wsrep-cluster-name=app", "--wsrep-node-name=" + filepath.Base(dir), "--wsrep-cluster-address=gcomm://" + strings.Join(group, ","),
		"--wsrep-node-address=127.0.0.1", "--wsrep-sst-method=rsync", "--wsrep-sst-receive-address=" + unused(t),
		"--wsrep-provider-options=gmcast.listen_addr=tcp://" + group[i] + ";ist.recv_addr=" + state,
	}
	var err error
	if n.look, err = sql.Open("mysql", "root@tcp("+direct+")/?timeout=500ms&readTimeout=500ms"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.look.Close() })
	n.check = dbtest.NewProxy(t, "tcp", n.answerChecks(t))
	return n
}

// answerChecks is what the operator runs beside a server: 200 as long as it may be
// used.
func (n *galera) answerChecks(t *testing.T) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.away.Load() || n.healthy() != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// balance starts the HAProxy of docs/operations/galera.md and returns its address.
func (st stack) balance(t *testing.T, s *scene) string {
	t.Helper()
	own := []string{"127.0.0.1:3306", unused(t)}
	for i, n := range st.servers {
		_, port, _ := net.SplitHostPort(n.(*galera).check.Address())
		own = append(own, fmt.Sprintf("10.0.0.%d:3306", i+1), n.(*galera).sql.Address(), fmt.Sprintf("port %d", 9201+i), "port "+port)
	}
	dir := s.folder(t, "galera-haproxy", "")
	write(t, filepath.Join(dir, "haproxy.cfg"), fill(t, recipe(t, "galera.md", "haproxy"), own)+"\n", "")
	program{dir: dir, args: []string{find(t, "haproxy"), "-db", "-f", "haproxy.cfg"}}.start(t)
	return own[1]
}

func (n *galera) name() string { return filepath.Base(n.dir) }

// healthy reports why the server is no synced member of a cluster with a majority.
func (n *galera) healthy() error {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	rows, err := n.look.QueryContext(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state', 'wsrep_cluster_status')")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	state := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		state[name] = value
	}
	if state["wsrep_ready"] != "ON" || state["wsrep_local_state"] != "4" || state["wsrep_cluster_status"] != "Primary" {
		return fmt.Errorf("%s: %v: %w", n.name(), state, errUnhealthy)
	}
	return rows.Err()
}

func (n *galera) kill()   { kill(n.dir) }
func (n *galera) freeze() { signal(n.dir, syscall.SIGSTOP) }

// cut separates the server from HAProxy; the servers keep hearing of each other.
func (n *galera) cut() {
	n.sql.Freeze()
	n.check.Freeze()
}

func (n *galera) fill() error { return errors.New("not for Galera") }

// switchOver tells the check to answer 503.
func (n *galera) switchOver() error {
	n.away.Store(true)
	return nil
}

func (n *galera) heal(t *testing.T) {
	t.Helper()
	signal(n.dir, syscall.SIGCONT)
	n.sql.Thaw()
	n.check.Thaw()
	n.away.Store(false)
	if signal(n.dir, 0) == 0 {
		n.program.start(t)
	}
}
