package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

// versionTable is where applied migrations are written down.
const versionTable = "vestibule_schema"

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed stock.sql
var stockTables string

// A migration is a file of statements in neutral SQL. Files are only ever added:
// one that was released is not edited.
type migration struct {
	version int64
	name    string
	text    string
}

// Migrate applies what is pending to our own tables, creates the stock tables
// where they are missing, and returns what it did, in the words of
// [DB.Pending]. Any number of hosts may call it at the same time. It does not
// join a transaction.
func (db *DB) Migrate(ctx context.Context) ([]string, error) {
	unlock, err := db.lockMigrations(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	defer unlock()
	if _, err := db.Newer(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	done, err := db.Pending(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if err := db.applyMigrations(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if err := db.createStockTables(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	db.users.Store(nil)
	return done, nil
}

// Pending returns what [DB.Migrate] would do, nothing when the database is up to
// date. It only reads.
func (db *DB) Pending(ctx context.Context) ([]string, error) {
	var pending []string
	all, err := allMigrations()
	if err != nil {
		return nil, err
	}
	applied, err := db.applied(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if !slices.Contains(applied, m.version) {
			pending = append(pending, "apply "+m.name)
		}
	}
	for _, s := range db.stockStatements() {
		if exists, err := db.tableExists(ctx, s.table); err != nil {
			return nil, err
		} else if !exists {
			pending = append(pending, "create table "+s.table)
		}
	}
	return pending, nil
}

// lineSize is how many migrations there may be in a line of versions: those of 2.x are
// numbered below it, those of 3.x from it on.
const lineSize = 100_000

// ErrOtherLine says that a program of another line of versions, such as 3.x, has
// changed our tables.
var ErrOtherLine = errors.New("the tables are those of a newer line of versions, with which this one does not work: run that version, or restore a backup")

// Newer returns the numbers of migrations that this program does not know, because a
// newer one has applied them. Within a line of versions, such as 2.x, migrations only
// add, and it works all the same; those of another line are an [ErrOtherLine].
func (db *DB) Newer(ctx context.Context) (newer []int64, err error) {
	all, err := allMigrations()
	if err != nil {
		return nil, err
	}
	applied, err := db.applied(ctx)
	if err != nil {
		return nil, err
	}
	last := all[len(all)-1].version
	for _, version := range applied {
		if version/lineSize > last/lineSize {
			return nil, fmt.Errorf("%w: migration %d is applied", ErrOtherLine, version)
		}
		if version > last {
			newer = append(newer, version)
		}
	}
	slices.Sort(newer)
	return newer, nil
}

// applied returns the numbers of the migrations that were applied, and 0.
func (db *DB) applied(ctx context.Context) ([]int64, error) {
	exists, err := db.tableExists(ctx, versionTable)
	if err != nil || !exists {
		return nil, err
	}
	var applied []int64
	err = db.list(ctx, "read versions", &applied, `SELECT version_id FROM `+versionTable)
	return applied, err
}

// ownTables returns the names of the tables that the migrations create.
func ownTables() ([]string, error) {
	all, err := allMigrations()
	if err != nil {
		return nil, err
	}
	var tables []string
	for _, m := range all {
		for line := range strings.Lines(m.text) {
			if rest, ok := strings.CutPrefix(line, "CREATE TABLE "); ok {
				name, _, _ := strings.Cut(rest, " ")
				tables = append(tables, name)
			}
		}
	}
	return tables, nil
}

// lockPause is how long a host waits before it tries to lock the migrations again.
const lockPause = 200 * time.Millisecond

// lockMigrations waits until no other host migrates.
func (db *DB) lockMigrations(ctx context.Context) (unlock func(), err error) {
	for db.dialect.Lock != "" {
		unlock, err = db.tryLock(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, fmt.Errorf("lock the migrations: %w", err)
		case unlock != nil:
			return unlock, nil
		case err != nil, db.dialect.Unlock != "":
			return nil, fmt.Errorf("another host has been migrating for too long: %w", errors.Join(err, ctx.Err()))
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockPause):
		}
	}
	return func() {}, nil
}

// tryLock takes the lock in a transaction, which a pooler such as PgBouncer leaves on one connection of the server until it
// ends. It returns nil if another host has the lock.
func (db *DB) tryLock(ctx context.Context) (unlock func(), err error) {
	tx, err := db.writer.BeginTxx(context.WithoutCancel(ctx), nil) // it lasts until unlock, also when ctx is over
	if err != nil {
		return nil, err
	}
	var got sql.NullInt64
	if err := tx.GetContext(ctx, &got, db.dialect.Lock); err != nil || got.Int64 != 1 {
		return nil, errors.Join(err, tx.Rollback())
	}
	return func() {
		if db.dialect.Unlock != "" {
			_, _ = tx.Exec(db.dialect.Unlock) //nolint:noctx // also when ctx is over
		}
		_ = tx.Rollback()
	}, nil
}

func (db *DB) applyMigrations(ctx context.Context) error {
	all, err := allMigrations()
	if err != nil {
		return err
	}
	steps := make([]*goose.Migration, len(all))
	for i, m := range all {
		steps[i] = goose.NewGoMigration(m.version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			return db.applyOnce(ctx, tx, m)
		}}, nil)
	}
	provider, err := goose.NewProvider(goose.Dialect(db.dialect.Goose), db.writer.DB, nil,
		goose.WithTableName(versionTable), goose.WithGoMigrations(steps...),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	return db.retry(ctx, always, func() error {
		_, err := provider.Up(ctx)
		return err
	})
}

// applyOnce runs a migration in its transaction. Another host may have applied
// it after goose looked, where the transaction is the only lock.
func (db *DB) applyOnce(ctx context.Context, tx *sql.Tx, m migration) error {
	var n int
	query := db.rebind(`SELECT COUNT(*) FROM ` + versionTable + ` WHERE version_id = ?`)
	if err := tx.QueryRowContext(ctx, query, m.version).Scan(&n); err != nil || n > 0 {
		return err
	}
	return db.script(ctx, tx, m.text)
}

// script runs statements that are separated by semicolons.
func (db *DB) script(ctx context.Context, tx sqlx.ExecerContext, text string) error {
	text = strings.NewReplacer(db.dialect.Types...).Replace(text)
	for statement := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		_, err := tx.ExecContext(ctx, statement)
		if err != nil && (db.dialect.AlreadyExists == nil || !db.dialect.AlreadyExists(err)) {
			return fmt.Errorf("%s: %w", firstLine(statement), err)
		}
	}
	return nil
}

// createStockTables creates each stock table in a transaction of its own.
func (db *DB) createStockTables(ctx context.Context) error {
	for _, s := range db.stockStatements() {
		err := db.InTx(ctx, func(ctx context.Context) error {
			exists, err := db.tableExists(ctx, s.table)
			if err != nil || exists {
				return err
			}
			return db.script(ctx, db.tx(ctx), s.text)
		})
		if err != nil {
			return fmt.Errorf("create table %s: %w", s.table, err)
		}
	}
	return nil
}

type stockTable struct{ table, text string }

// stockStatements splits stock.sql, whose parts are separated by a blank line.
func (db *DB) stockStatements() []stockTable {
	users, tokens, _ := strings.Cut(stockTables, "\n\n")
	return []stockTable{{usersTable, users}, {resetTable, tokens}}
}

func (db *DB) tableExists(ctx context.Context, table string) (bool, error) {
	columns, err := db.columns(ctx, table)
	return len(columns) > 0, err
}

func (db *DB) columns(ctx context.Context, table string) ([]Column, error) {
	var columns []Column
	err := db.list(ctx, "read the columns of "+table, &columns, db.dialect.Columns, table)
	return columns, err
}

// allMigrations returns the embedded files in the order of their versions.
func allMigrations() ([]migration, error) {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	all := make([]migration, len(entries))
	for i, e := range entries {
		text, err := migrations.ReadFile(path.Join("migrations", e.Name()))
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", e.Name(), err)
		}
		all[i] = migration{version: version, name: e.Name(), text: string(text)}
	}
	return all, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
