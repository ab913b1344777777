package postgres

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// Connections are few, so that several hosts fit into the 100 that a server
// allows by default.
const maxConnections = 20

// connectionIdle is after which time a connection that nobody uses is given back to the
// server, which other hosts share.
const connectionIdle = 30 * time.Second

// Open opens the database that dsn names, a URL or a keyword string as libpq
// reads it. With several hosts in it, the one that accepts writes is used, now
// and after a failover, unless target_session_attrs says otherwise. They are tried
// side by side, 1 s each unless connect_timeout says otherwise, and the connections
// of one that does not answer are closed. The server ends a transaction that stands
// still for 3 s, unless the dsn names idle_in_transaction_session_timeout. Errors never
// contain the password. Close the DB after use.
func Open(ctx context.Context, dsn string) (*store.DB, error) {
	if strings.Contains(dsn, idleTransaction) {
		return open(ctx, dsn, func(*pgx.ConnConfig) {})
	}
	return open(ctx, dsn, func(*pgx.ConnConfig) {}, with("set_config('"+idleTransaction+"', '3s', false)"))
}

// idleTransaction is how long the server lets a transaction wait for its client. A host that has left a server which seems
// to hang cannot tell it so: where only the way to it is cut, the server would keep the locks of that host's transactions
// for hours, and nobody could change these rows. It is as long as package nodes needs to leave a server.
const idleTransaction = "idle_in_transaction_session_timeout"

// OpenForQueries is like Open, for the queries of strangers: none of them gets parallel workers of the server, of which
// each would take one processor more, unless the dsn names max_parallel_workers_per_gather. Doubles become texts with all
// their digits, whatever extra_float_digits of the server or the database is.
func OpenForQueries(ctx context.Context, dsn string) (*store.DB, error) {
	settings := "set_config('extra_float_digits', '1', false)"
	if !strings.Contains(dsn, parallelWorkers) {
		settings += ", set_config('" + parallelWorkers + "', '0', false)"
	}
	return open(ctx, dsn, readMuch, with(settings))
}

// with sets up each connection with these settings.
func with(settings string) stdlib.OptionOpenDB {
	return stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error { return setUp(ctx, conn, settings) })
}

// readMuch sets up a connection for rows: with a buffer that holds a page of them, what the server has sent meanwhile comes
// with one system call instead of one for each 8 KiB.
func readMuch(config *pgx.ConnConfig) {
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(bufio.NewReaderSize(r, 64<<10), w)
	}
}

const parallelWorkers = "max_parallel_workers_per_gather"

// setUp sets up a connection. Settings are no startup parameters, since PgBouncer refuses those that it does not
// know. Behind a pooler, whose connections have other numbers than the server's, nothing is set: it would stay with a
// connection that others get.
func setUp(ctx context.Context, conn *pgx.Conn, settings string) error {
	_, err := conn.PgConn().Exec(ctx, fmt.Sprintf(`SELECT %s WHERE pg_backend_pid() = %d`, settings, conn.PgConn().PID())).ReadAll()
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return nil // not PostgreSQL itself
	}
	return err
}

func open(ctx context.Context, dsn string, setUp func(*pgx.ConnConfig), options ...stdlib.OptionOpenDB) (*store.DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if !strings.Contains(dsn, "target_session_attrs") && severalHosts(config) {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "vestibule"
	}
	// Without prepared statements dates come as text, which pgx and OData read in this form alone.
	config.RuntimeParams["datestyle"] = "ISO"
	setUp(config)
	servers, err := cluster(config, dsn, options...)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db := pool(servers, maxConnections)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), db.Close())
	}
	return store.New(dialect(), db, db, pool(servers, 1), ""), nil
}

// pool connects when it is first used.
func pool(servers driver.Connector, connections int) *sqlx.DB {
	db := sqlx.NewDb(sql.OpenDB(servers), "pgx")
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(connectionIdle)
	return db
}

func severalHosts(config *pgx.ConnConfig) bool {
	for _, f := range config.Fallbacks {
		if f.Host != config.Host || f.Port != config.Port {
			return true
		}
	}
	return false
}

func dialect() store.Dialect {
	return store.Dialect{
		Name:  "postgres",
		Goose: "postgres",
		Bind:  sqlx.DOLLAR,
		Quote: `"`,
		Types: []string{
			"{auto}", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "{key}", "VARCHAR(255)", "{bytes}", "BYTEA",
			"{blob}", "BYTEA", "{time}", "TIMESTAMP(0)", "{engine}", "", "{computed}", "STORED",
			"{fold_index}", "CREATE UNIQUE INDEX users_email_lower ON users (LOWER(email))",
		},
		// As the search path finds the table; a domain counts as what it is made of.
		Columns: `SELECT a.attname AS name, COALESCE(base.typname, t.typname) AS type,
			CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 ELSE 0 END AS length,
			COALESCE(base.typname, t.typname) = 'citext' AS folds,
			a.atthasdef OR a.attidentity <> '' AS auto
			FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type base ON base.oid = NULLIF(t.typbasetype, 0)
			WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
		// The number is arbitrary, but the same in all versions; the lock holds
		// for this database only.
		Lock:            `SELECT 1 FROM pg_advisory_lock(7310872093014)`,
		Unlock:          `SELECT pg_advisory_unlock(7310872093014)`,
		Returning:       true,
		ForUpdate:       ` FOR UPDATE`,
		Time:            func(t time.Time) any { return t },
		Unavailable:     unavailable,
		UniqueViolation: func(err error) bool { return code(err) == "23505" },
		BackupTool:      "pg_dump",
	}
}

func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// unavailable knows connection exceptions, insufficient resources such as too many
// connections, shutdown and start, a server that takes no writes, and a lock that
// was not to be had.
func unavailable(err error) bool {
	c := code(err)
	return strings.HasPrefix(c, "08") || strings.HasPrefix(c, "53") || strings.HasPrefix(c, "57P") || c == "25006" || c == "55P03"
}
