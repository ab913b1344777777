package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const poolerConfig = `[databases]
bench = host=%[1]s port=%[2]d dbname=bench user=postgres
[pgbouncer]
unix_socket_dir = %[1]s
listen_addr =
listen_port = %[3]d
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 200
`

// pooled asks through PgBouncer in transaction mode: in the mode of the driver that docs/operations/postgresql.md names, in the
// other one without prepared statements, and in the default one, which prepares them.
func (l *large) pooled(ctx context.Context) error {
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		l.say("pooler: not tried, pgbouncer is missing (apt-get install pgbouncer)")
		return nil
	}
	version, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return err
	}
	if err := l.small(ctx); err != nil {
		return err
	}
	file := filepath.Join(l.dir, "pgbouncer.ini")
	if err := os.WriteFile(file, fmt.Appendf(nil, poolerConfig, l.dir, serverPort, poolerPort), 0o644); err != nil {
		return err
	}
	pooler, err := l.command(context.WithoutCancel(ctx), path, file)
	if err != nil {
		return err
	}
	if err := pooler.Start(); err != nil {
		return err
	}
	defer func() { _ = pooler.Process.Signal(syscall.SIGINT); _ = pooler.Wait() }()
	name, _, _ := strings.Cut(string(version), "\n")
	l.say("%s, transaction mode, 8 connections to the server; 16 clients", name)
	if err := l.through(ctx, "direct", l.at(serverPort, "")); err != nil {
		return err
	}
	for _, mode := range []string{"exec", "simple_protocol", "cache_statement"} {
		if err := l.through(ctx, mode, l.at(poolerPort, "&default_query_exec_mode="+mode)); err != nil {
			return err
		}
	}
	return l.migrateAtOnce(ctx)
}

// small makes the table of entries where no other part has left one.
func (l *large) small(ctx context.Context) error {
	var there bool
	if err := l.conn.QueryRow(ctx, `SELECT to_regclass('entries') IS NOT NULL`).Scan(&there); err != nil || there {
		return err
	}
	defer func(rows int) { l.rows = rows }(l.rows)
	l.rows = min(l.rows, 100_000)
	return l.load(ctx, "small", 0)
}

// through lets people sign in and read, and counts what failed.
func (l *large) through(ctx context.Context, name, dsn string) error {
	p, err := l.serve(ctx, dsn, "skip")
	if err != nil {
		l.say("%-16s does not start: %.300s", name, strings.ReplaceAll(err.Error(), "\n", " "))
		return ctx.Err()
	}
	defer p.stop()
	cookies, err := p.signedIn(ctx, 16)
	if err != nil {
		l.say("%-16s sign-in: %.300s", name, err)
		return ctx.Err()
	}
	var parts []string
	for _, step := range []struct {
		name, method, path string
		want               int
	}{
		{"guarded page", http.MethodGet, "/dashboard", http.StatusFound},
		{"page of 20 rows", http.MethodGet, "/odata/entries?$filter=category%20eq%207&$orderby=price&$top=20", http.StatusOK},
		{"page with $count", http.MethodGet, "/odata/entries?$filter=category%20eq%207&$count=true&$top=20", http.StatusOK},
		{"$apply", http.MethodGet, "/odata/entries?$apply=filter(category%20eq%207)/aggregate(price%20with%20sum%20as%20Total)", http.StatusOK},
		{"sign-out", http.MethodPost, "/logout", http.StatusSeeOther},
	} {
		times := 25
		if step.name == "sign-out" {
			times = 1
		}
		got, failed := p.crowd(ctx, cookies, times, step.method, step.path, step.want)
		part := fmt.Sprintf("%s %.1f ms", step.name, float64(typical(got).wait.Microseconds())/1000)
		if len(failed) > 0 {
			part += fmt.Sprintf(", %d of %d failed (%d %.120s)", len(failed), len(failed)+len(got), failed[0].status, bytes.TrimSpace(failed[0].body))
		}
		parts = append(parts, part)
	}
	l.say("%-16s %s", name, strings.Join(parts, "; "))
	return ctx.Err()
}

// crowd sends requests of clients at once, and returns the replies that were as wanted, and the others.
func (p *program) crowd(ctx context.Context, cookies []string, times int, method, path string, want int) (got, failed []reply) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, cookie := range cookies {
		all.Go(func() {
			for range times {
				r, err := p.ask(ctx, method, path, "", cookie)
				if err != nil {
					r.body = []byte(err.Error())
				}
				mu.Lock()
				if r.status == want {
					got = append(got, r)
				} else {
					failed = append(failed, r)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return got, failed
}

// signedIn signs in people, who are made as needed, and returns their cookies.
func (p *program) signedIn(ctx context.Context, n int) (cookies []string, err error) {
	out, err := p.run(ctx, secret+"\n", "user", "add", "--email", login, "--name", "Bench", "--password-stdin")
	if err != nil && !strings.Contains(out, "already") && !strings.Contains(out, "taken") {
		return nil, fmt.Errorf("add a user: %w: %s", err, out)
	}
	_, err = p.conn.Exec(ctx, `INSERT INTO users (name, email, password) SELECT 'Person', 'u' || n || '@example.com', password FROM users, generate_series(1, $2::int) n
		WHERE email = $1 AND NOT EXISTS (SELECT FROM users o WHERE o.email = 'u' || n || '@example.com')`, login, n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		r, err := p.ask(ctx, http.MethodPost, "/auth/login", fmt.Sprintf(`{"login":"u%d@example.com","password":%q}`, i+1, secret), "")
		if err != nil {
			return nil, err
		}
		if r.status != http.StatusOK || len(r.cookies) == 0 {
			return nil, fmt.Errorf("%d %s", r.status, r.body)
		}
		cookies = append(cookies, r.cookies[0].Name+"="+r.cookies[0].Value)
	}
	return cookies, nil
}

// migrateAtOnce lets eight hosts look at the tables at once through the pooler. Their lock belongs to a connection of the
// server, which a pooler gives to the next client.
func (l *large) migrateAtOnce(ctx context.Context) error {
	if err := os.WriteFile(filepath.Join(l.dir, "config.hcl"), fmt.Appendf(nil, largeConfig, "127.0.0.1:0", l.at(poolerPort, "&default_query_exec_mode=exec"), l.dir, "skip"), 0o600); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p := &program{large: l, config: filepath.Join(l.dir, "config.hcl")}
	failed := make([]error, 8)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() {
			for n := 0; n < 3 && failed[i] == nil; n++ {
				if out, err := p.run(limited, "", "migrate"); err != nil {
					failed[i] = fmt.Errorf("%w: %.200s", err, out)
				}
			}
		})
	}
	all.Wait()
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	var left int
	err := l.conn.QueryRow(ctx, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'`).Scan(&left)
	l.say("migrate, 8 at once, 3 times, through the pooler: %d failed (%v); locks left: %d", len(failed), errors.Join(failed...), left)
	return err
}

// totals measures how long a remembered total lives on PostgreSQL while a hundred people are active: until the snapshot is
// another one. Each of them sends a request every 15 s.
func (l *large) totals(ctx context.Context) error {
	if err := l.small(ctx); err != nil {
		return err
	}
	p, err := l.serve(ctx, l.at(serverPort, ""), "skip")
	if err != nil {
		return err
	}
	defer p.stop()
	const people, d = 100, 5 * time.Minute
	cookies, err := p.signedIn(ctx, people)
	if err != nil {
		return err
	}
	// As if they had come at any time, and not together.
	if _, err := l.conn.Exec(ctx, `UPDATE vestibule_sessions SET seen = seen - (random() * 240000)::bigint`); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var all sync.WaitGroup
	for i, cookie := range cookies {
		all.Go(func() {
			for at := time.Duration(i) * 15 * time.Second / people; ; at = 15 * time.Second {
				select {
				case <-limited.Done():
					return
				case <-time.After(at):
					_, _ = p.ask(limited, http.MethodGet, "/dashboard", "", cookie)
				}
			}
		})
	}
	var last string
	begin := time.Now()
	since, lives := begin, []time.Duration{}
	for limited.Err() == nil {
		var now string
		if err := l.conn.QueryRow(ctx, `SELECT pg_current_snapshot()::text`).Scan(&now); err != nil {
			return err
		}
		if now != last {
			lives, since, last = append(lives, time.Since(since)), time.Now(), now
		}
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
	slices.Sort(lives)
	l.say("%d people active, %v: %d snapshots, one lives %.1f s on average, %.1f in the median", people, d, len(lives), d.Seconds()/float64(len(lives)), lives[len(lives)/2].Seconds())
	return nil
}
