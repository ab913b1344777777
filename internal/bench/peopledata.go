package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// settle makes the people from one number to another, each with a session that was seen within the last hour. All have one
// password.
func (t *town) settle(ctx context.Context, from, to int) error {
	hash, err := t.hashed(ctx)
	if err != nil {
		return err
	}
	now, hour := time.Now().UnixMilli(), time.Hour.Milliseconds()
	users := `INSERT INTO users (name, email, password) SELECT 'Person', `
	sessions := `INSERT INTO vestibule_sessions (hash, version, user_id, data, created, seen, expires, user_agent, address, state, format) SELECT `
	rest := fmt.Sprintf(`, %d - %d, %d - 120000 - (n * 7919) %% %d, %d + %d, '%s', '203.0.113.200', 'settled', 1`, now, hour, now, hour, now, 24*hour, browser)
	var script []string
	switch t.db {
	case "sqlite":
		return t.settleSQLite(ctx, from, to, hash, rest)
	case "postgres":
		series := fmt.Sprintf(` FROM generate_series(%d::bigint, %d) n`, from+1, to)
		script = []string{
			users + `'u' || n || '@example.com', '` + hash + `'` + series,
			sessions + `sha256(lpad(n::text, 32, '0')::bytea), 1, n::text, convert_to(chr(11) || 'auth.target' || chr(5) || chr(46) || '/' || repeat('x', 45), 'UTF8')` + rest + series,
			`VACUUM ANALYZE`,
		}
	case "mariadb":
		series := fmt.Sprintf(` FROM (SELECT seq AS n FROM seq_%d_to_%d) s`, from+1, to)
		var pool, log int64
		if err := t.store.Writer().QueryRowContext(ctx, `SELECT @@innodb_buffer_pool_size, @@innodb_log_file_size`).Scan(&pool, &log); err != nil {
			return err
		}
		script = []string{ // all pages stay in memory, as with SQLite
			`SET GLOBAL innodb_buffer_pool_size = 8 << 30`, `SET GLOBAL innodb_log_file_size = 4 << 30`,
			users + `CONCAT('u', n, '@example.com'), '` + hash + `'` + series,
			sessions + `UNHEX(SHA2(LPAD(n, 32, '0'), 256)), 1, n, CONCAT(CHAR(11), 'auth.target', CHAR(5), CHAR(46), '/', REPEAT('x', 45))` + rest + series,
			`ANALYZE TABLE users, vestibule_sessions`,
			fmt.Sprintf(`SET GLOBAL innodb_log_file_size = %d`, log), fmt.Sprintf(`SET GLOBAL innodb_buffer_pool_size = %d`, pool),
		}
	}
	for _, statement := range script {
		if _, err := t.store.Writer().ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// hashed is the password as the table of users has it, of somebody who is added for this.
func (t *town) hashed(ctx context.Context) (hash string, err error) {
	admin, err := host.NewAdmin(host.Options{Store: t.store})
	if err != nil {
		return "", err
	}
	if _, err := admin.AddUser(ctx, login, "Bench", secret); err != nil && !errors.Is(err, host.ErrTaken) {
		return "", err
	}
	return hash, t.store.Writer().QueryRowContext(ctx, `SELECT password FROM users WHERE email = '`+login+`'`).Scan(&hash)
}

// settleSQLite hashes the keys itself: SQLite has no such function. The keys are in no order, so that all pages are kept
// in memory meanwhile, up to 8 GB: else each would be written for each row.
func (t *town) settleSQLite(ctx context.Context, from, to int, hash, rest string) (err error) {
	conn, err := t.store.Writer().Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var pages int
	if err := conn.GetContext(ctx, &pages, `PRAGMA cache_size`); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `PRAGMA cache_size = -8000000`); err != nil {
		return err
	}
	defer func() {
		_, err2 := conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA cache_size = %d; PRAGMA shrink_memory; PRAGMA wal_checkpoint(TRUNCATE)`, pages))
		err = errors.Join(err, err2)
	}()
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	user, err := tx.PreparexContext(ctx, `INSERT INTO users (name, email, password) VALUES ('Person', ?, ?)`)
	if err != nil {
		return err
	}
	session, err := tx.PreparexContext(ctx, `INSERT INTO vestibule_sessions (hash, version, user_id, data, created, seen, expires, user_agent, address, state, format)
		SELECT ?, 1, ?, CAST(char(11) || 'auth.target' || char(5) || char(46) || '/' || substr(hex(zeroblob(30)), 1, 45) AS BLOB)`+rest+` FROM (SELECT ? AS n)`)
	if err != nil {
		return err
	}
	for n := from + 1; n <= to; n++ {
		if _, err := user.ExecContext(ctx, fmt.Sprintf("u%d@example.com", n), hash); err != nil {
			return err
		}
		if _, err := session.ExecContext(ctx, sessionHash(n), strconv.Itoa(n), n); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// sessionID returns the id of a session that settle made; the cookie has it in base64.
func sessionID(n int) []byte { return fmt.Appendf(nil, "%032d", n) }

func sessionHash(n int) []byte {
	hash := sha256.Sum256(sessionID(n))
	return hash[:]
}

// minutesLater makes the sessions of the visitors those of six minutes ago.
func (t *town) minutesLater(ctx context.Context) error {
	now := time.Now().UnixMilli()
	_, err := t.store.Writer().ExecContext(ctx, fmt.Sprintf(`UPDATE vestibule_sessions SET seen = seen - 360000 WHERE seen > %d`, now-100_000))
	return err
}

// sizes tells how large the two tables are with their indexes.
func (t *town) sizes(ctx context.Context) (string, error) {
	query := `SELECT (SELECT SUM(pgsize) FROM dbstat WHERE name LIKE 'vestibule_sessions%' OR name LIKE 'sqlite_autoindex_vestibule_sessions%'),
		(SELECT SUM(pgsize) FROM dbstat WHERE name LIKE 'users%' OR name LIKE 'sqlite_autoindex_users%')`
	switch t.db {
	case "postgres":
		query = `SELECT pg_total_relation_size('vestibule_sessions'), pg_total_relation_size('users')`
	case "mariadb":
		query = `SELECT SUM(CASE table_name WHEN 'vestibule_sessions' THEN data_length + index_length END), SUM(CASE table_name WHEN 'users' THEN data_length + index_length END)
			FROM information_schema.tables WHERE table_schema = DATABASE()`
	}
	var sessions, users float64
	err := t.store.Reader().QueryRowContext(ctx, query).Scan(&sessions, &users)
	return fmt.Sprintf("sessions %.0f MB, users %.0f MB", sessions/1e6, users/1e6), err
}

// logged is how many bytes the database has written to its log; SQLite's is cut before.
func (t *town) logged(ctx context.Context, before bool) (n int64, err error) {
	switch t.db {
	case "postgres":
		err = t.store.Writer().QueryRowContext(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`).Scan(&n)
	case "mariadb":
		var name string
		err = t.store.Writer().QueryRowContext(ctx, `SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'`).Scan(&name, &n)
	default:
		if before {
			if _, err := t.store.Writer().ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
				return 0, err
			}
		}
		var info os.FileInfo
		if info, err = os.Stat(t.dsn + "-wal"); err == nil {
			n = info.Size()
		}
	}
	return n, err
}

// swept removes nothing where nothing is over, and then what is: a tenth of the sessions, up to 50,000 of them.
func (t *town) swept(ctx context.Context, people int) error {
	t.own = true
	defer func() { t.own = false }()
	keep := store.Retention{Idle: 2 * time.Hour}
	sweep := func() (int, error) { return t.store.Sweep(ctx, time.Now(), keep) }
	err := t.step(ctx, fmt.Sprintf("%9d people: a search for what is over, nothing", people), 10, func() error {
		n, err := sweep()
		if n > 0 {
			return fmt.Errorf("%d rows were over", n)
		}
		return err
	})
	if err != nil {
		return err
	}
	over := min(people/10, 50_000)
	ended := fmt.Sprintf(`UPDATE vestibule_sessions SET expires = %d WHERE user_id IN (SELECT u FROM (SELECT user_id AS u FROM vestibule_sessions ORDER BY hash LIMIT %d) s)`, time.Now().Add(-time.Hour).UnixMilli(), over)
	if _, err := t.store.Writer().ExecContext(ctx, ended); err != nil {
		return err
	}
	return t.step(ctx, fmt.Sprintf("%9d people: sessions that are over, each", people), over, sweptOne(sweep))
}

// sweptOne removes a session: it sweeps when those of the last time have been counted.
func sweptOne(sweep func() (int, error)) func() error {
	left := 0
	return func() (err error) {
		if left <= 0 {
			left, err = sweep()
		}
		left--
		return err
	}
}
