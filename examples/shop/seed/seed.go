package seed

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/bcrypt"
	_ "modernc.org/sqlite" // driver "sqlite"
)

// The demo account. The password is public: never let it sign in to anything
// that is reachable from outside.
const (
	Email    = "demo@example.com"
	Name     = "Ada Demo"
	Password = "analytical-engine-1843"
)

// How many rows there are.
const (
	Suppliers = 40
	Products  = 20_000
	Customers = 5_000
	Orders    = 100_000
	Reviews   = 2_000
)

//go:embed schema.sql
var schema string

//go:embed indexes.sql
var indexes string

// ErrNotAShop is returned by [Build] for a file that exists and holds something
// else. It was not touched.
var ErrNotAShop = errors.New("exists and is not the demo's database, or that of an older version: move it away, or name another file")

// Build makes the SQLite database file path, which takes a few seconds, and
// reports true; where the shop is already there it changes nothing and reports
// false. The file appears complete or not at all, also when the program is
// killed in between.
func Build(ctx context.Context, path string) (made bool, err error) {
	switch _, err := os.Stat(path); {
	case err == nil:
		return false, recognise(ctx, path)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".making-*.db")
	if err != nil {
		return false, err
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	if err := fill(ctx, f.Name()); err != nil {
		_ = os.Remove(f.Name())
		return false, fmt.Errorf("make %s: %w", path, err)
	}
	return true, os.Rename(f.Name(), path)
}

// open opens the file with options as the driver wants them.
func open(path string, options url.Values) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	return sql.Open("sqlite", u.String())
}

// recognise returns nil when the file holds the shop.
func recognise(ctx context.Context, path string) error {
	db, err := open(path, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var last int
	if err := db.QueryRowContext(ctx, "SELECT MAX(id) FROM orders WHERE EXISTS (SELECT 1 FROM reviews)").Scan(&last); err != nil || last < Orders {
		return fmt.Errorf("%s: %w", path, ErrNotAShop)
	}
	return nil
}

// fill writes all tables in one transaction. Nothing has to survive a crash: the
// file gets its name afterwards.
func fill(ctx context.Context, path string) error {
	db, err := open(path, url.Values{"_pragma": {"journal_mode(off)", "synchronous(off)", "foreign_keys(off)"}})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := run(ctx, tx, schema); err != nil {
		return err
	}
	w := &writer{ctx: ctx, tx: tx}
	for _, step := range []func(*writer) error{people, catalog, sales, reviews} {
		if err := step(w); err != nil {
			return err
		}
	}
	if err := run(ctx, tx, indexes); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return db.Close()
}

// run executes the statements of a script that holds no semicolon elsewhere.
func run(ctx context.Context, tx *sql.Tx, script string) error {
	for statement := range strings.SplitSeq(script, ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// people adds the demo account with a hash as PHP applications store it, which
// is replaced at the first sign-in.
func people(w *writer) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.DefaultCost)
	if err != nil {
		return err
	}
	insert, err := w.into("users", "id", "name", "email", "email_verified_at", "password", "created_at", "updated_at")
	if err != nil {
		return err
	}
	const joined = "2026-01-05 09:00:00"
	php := "$2y$" + strings.TrimPrefix(string(hash), "$2a$") // the same hash under PHP's name
	return insert(1, Name, Email, joined, php, joined, joined)
}

// writer makes prepared inserts.
type writer struct {
	ctx context.Context // lives as long as the call of fill
	tx  *sql.Tx
}

// into returns a function that inserts one row.
func (w *writer) into(table string, columns ...string) (func(values ...any) error, error) {
	marks := strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",")
	stmt, err := w.tx.PrepareContext(w.ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), marks))
	if err != nil {
		return nil, err
	}
	return func(values ...any) error {
		_, err := stmt.ExecContext(w.ctx, values...)
		return err
	}, nil
}
