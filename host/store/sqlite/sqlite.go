package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/internal/sqlitefile"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// settings are of every connection. The time to wait for a lock comes first: the
// others may have to wait already.
const settings = "_busy_timeout=1000&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
	"&_pragma=foreign_keys(1)"

// unmapped stands behind the operator's own settings. Who copies a shorter file over
// one that is mapped into memory would end the process.
const unmapped = "&_pragma=mmap_size(0)"

// Open opens the database file that dsn names, creating it when it is missing: a
// path, or a file: URI whose parameters override our settings, such as
// "file:app.db?_pragma=synchronous(NORMAL)". A database in memory is refused, as
// its connections would each have their own. A new file is readable by its owner
// only. Close the DB after use.
func Open(ctx context.Context, dsn string) (*store.DB, error) {
	uri, file, err := locate(dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := create(uri, file); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	base, own, _ := strings.Cut(uri, "?")
	query := "?" + settings + "&" + own + unmapped
	// The file is in WAL mode once the writer has opened it; only then may readers.
	var exchange *watched
	if !strings.Contains(own, "vfs=") {
		exchange = &watched{file: file}
	}
	writer, err := open(ctx, exchange, base+query+"&_txlock=immediate", 1)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", file, err)
	}
	reader, err := open(ctx, exchange, base+query+readsOnly, max(4, runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", file, errors.Join(err, writer.Close()))
	}
	// The probe opens its connection when it is first asked, and gives up early on a
	// lock: it is asked again soon.
	probe, err := pool(exchange, base+"?_busy_timeout=1000&"+query[1:]+"&_txlock=immediate", 1)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", file, errors.Join(err, reader.Close(), writer.Close()))
	}
	return store.New(dialect(), writer, reader, probe, file), nil
}

// LimitMemory bounds the memory of SQLite in this process, in bytes, for sign-in and queries together. Call it before the
// first database is opened.
func LimitMemory(bytes int64) error { return sqlite3.LimitHeap(bytes) }

// readsOnly is the parameter of connections that cannot write.
const readsOnly = "&_query_only=1"

// locate returns dsn as a URI, and the absolute path of the file.
func locate(dsn string) (uri, file string, err error) {
	uri = dsn
	if !strings.HasPrefix(dsn, "file:") {
		uri = "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(dsn)
	}
	name, query, _ := strings.Cut(strings.TrimPrefix(uri, "file:"), "?")
	if name == "" || strings.Contains(name, ":memory:") || strings.Contains(query, "mode=memory") {
		return "", "", fmt.Errorf("%q is a database in memory, which connections cannot share: name a file", dsn)
	}
	file, err = sqlitefile.Path(uri)
	return uri, file, err
}

// create makes the file readable for its owner only. A file that is there is not opened: closing it would drop the locks of
// the program's own connections to it.
func create(uri, file string) error {
	if strings.Contains(uri, "mode=ro") || strings.Contains(uri, "vfs=") {
		return nil
	}
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: create the directory first", err)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// pool connects when it is first used.
func pool(exchange *watched, dsn string, connections int) (*sqlx.DB, error) {
	opened, err := connectorFor(dsn, exchange)
	if err != nil {
		return nil, err
	}
	db := sqlx.NewDb(opened, "sqlite3") // the name by which sqlx knows the parameters
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

func open(ctx context.Context, exchange *watched, dsn string, connections int) (*sqlx.DB, error) {
	db, err := pool(exchange, dsn, connections)
	if err != nil {
		return nil, err
	}
	// The switch to WAL does not wait for other processes by itself.
	for range 50 {
		if err = db.PingContext(ctx); err == nil || !retryable(err) || ctx.Err() != nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func dialect() store.Dialect {
	return store.Dialect{
		Name:  "sqlite",
		Goose: "sqlite3",
		Bind:  sqlx.QUESTION,
		Quote: "`", // a name in double quotes that is no column's would be taken for a text
		Types: []string{
			"{auto}", "INTEGER PRIMARY KEY AUTOINCREMENT", "{key}", "VARCHAR(255)", "{bytes}", "BLOB", "{blob}", "BLOB",
			"{time}", "DATETIME", "{engine}", "", "{computed}", "VIRTUAL", "{fold_index}", "CREATE UNIQUE INDEX users_email_lower ON users (LOWER(email))",
		},
		KeyTypes: map[string]string{"int": "INTEGER"},
		Columns: `SELECT name, LOWER(type) AS type, 0 AS length, 0 AS folds,
			dflt_value IS NOT NULL OR (pk = 1 AND LOWER(type) = 'integer'
				AND (SELECT COUNT(*) FROM pragma_table_info(t.tbl) WHERE pk > 0) = 1) AS auto,
			"notnull" AND dflt_value IS NULL AND hidden = 0 AND NOT (pk = 1 AND LOWER(type) = 'integer') AS required
			FROM (SELECT ? AS tbl) AS t, pragma_table_xinfo(t.tbl)`,
		FoldsColumns:    true,
		Returning:       true,
		InProcess:       true,
		Time:            func(t time.Time) any { return t.Format(time.DateTime) },
		Unavailable:     unavailable,
		UniqueViolation: uniqueViolation,
		BadValue:        badValue,
		Backup:          backup,
	}
}

func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// retryable reports whether another connection, perhaps of another process,
// holds a lock. The low byte of a SQLite error code is its kind.
func retryable(err error) bool {
	kind := code(err) & 0xff
	return kind == lib.SQLITE_BUSY || kind == lib.SQLITE_LOCKED
}

// unavailable also holds for a file that was exchanged, is not there or cannot be opened, and for a full disk.
func unavailable(err error) bool {
	kind := code(err) & 0xff
	return retryable(err) || errors.Is(err, errExchanged) || kind == lib.SQLITE_CANTOPEN || kind == lib.SQLITE_FULL
}

func uniqueViolation(err error) bool {
	c := code(err)
	return c == lib.SQLITE_CONSTRAINT_UNIQUE || c == lib.SQLITE_CONSTRAINT_PRIMARYKEY
}

// badValue knows constraints, which the types of a STRICT table and RAISE(ABORT) in a
// trigger count as, and values over the limits of SQLite.
func badValue(err error) bool {
	kind := code(err) & 0xff
	return kind == lib.SQLITE_CONSTRAINT || kind == lib.SQLITE_TOOBIG || kind == lib.SQLITE_MISMATCH
}

// backup copies with VACUUM INTO, which reads one snapshot and does not block
// writers.
func backup(ctx context.Context, reader *sqlx.DB, file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: a backup never overwrites a file", file)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := vacuumInto(ctx, reader, file); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return f.Sync()
}

func vacuumInto(ctx context.Context, reader *sqlx.DB, file string) error {
	conn, err := reader.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, `PRAGMA query_only = 0`); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `VACUUM INTO ?`, file)
	_, back := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA query_only = 1`)
	return errors.Join(err, back)
}
