package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host"
	"github.com/vestibule-dev/vestibule/v2/host/store"
)

// dsn is the main database's, with an absolute file; file is empty for servers.
func (c *Config) dsn() (dsn, file string) {
	if c.Database.Driver != "sqlite" {
		return c.Database.DSN, ""
	}
	file, dsn = sqliteFile(c.Database.DSN, c.origins.Dir("database", "dsn"))
	return dsn, file
}

// open opens the main database.
func (c *Config) open(ctx context.Context) (*store.DB, error) {
	dsn, file := c.dsn()
	if _, err := missingFile(file); err != nil {
		return nil, err
	}
	return openPool(ctx, c.Database.Driver, dsn, c.Database.MaxConnections)
}

// openStore opens the main database. Its error is a finding.
func (c *Config) openStore(ctx context.Context) (*store.DB, error) {
	db, err := c.open(ctx)
	if err != nil {
		return nil, Findings{c.databaseFinding(err)}.Err()
	}
	return db, nil
}

// migrated opens the main database and migrates it.
func (c *Config) migrated(ctx context.Context) (*store.DB, error) {
	db, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := db.Migrate(ctx); err != nil {
		return nil, withClosed(err, db)
	}
	return db, nil
}

// openExisting opens the main database as it is, and creates nothing.
func (c *Config) openExisting(ctx context.Context) (*store.DB, error) {
	_, file := c.dsn()
	if missing, err := missingFile(file); err == nil && missing {
		return nil, fmt.Errorf("there is no database %s: make it with `vestibule migrate`", c.shown(file))
	}
	db, err := c.openStore(ctx)
	if err != nil {
		return nil, err
	}
	if err := db.Ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: run `vestibule migrate`", err), db.Close())
	}
	return db, nil
}

// Migrate brings the main database up to date and tells what it did.
func (c *Config) Migrate(ctx context.Context) (done []string, err error) {
	db, err := c.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if done, err = db.Migrate(ctx); err == nil {
		done, err = c.requests(ctx, db, done, false)
	}
	if err != nil {
		return nil, err
	}
	return leave(ctx, db, done)
}

// Pending tells what Migrate would do, and changes nothing: for a SQLite file
// that does not exist yet it looks at an empty one elsewhere.
func (c *Config) Pending(ctx context.Context) (steps []string, err error) {
	look := func(db *store.DB) error {
		pending, err := db.Pending(ctx)
		if err == nil {
			steps, err = c.requests(ctx, db, append(steps, pending...), true)
		}
		if err == nil {
			steps, err = leave(ctx, db, steps)
		}
		return err
	}
	_, file := c.dsn()
	if missing, err := missingFile(file); err == nil && missing {
		steps = append(steps, "create "+c.shown(file))
		err = withEmpty(ctx, look)
		return steps, err
	}
	db, err := c.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = look(db)
	return steps, err
}

// Backup writes a consistent copy of a SQLite database into a new file.
func (c *Config) Backup(ctx context.Context, file string) (err error) {
	_, name := c.dsn()
	if missing, _ := missingFile(name); missing {
		return fmt.Errorf("there is no database %s", c.shown(name))
	}
	db, err := c.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Backup(ctx, file)
}

// look hands over the main database as it is, with its DSN, or another one as the first
// migration leaves it where the SQLite file does not exist yet. It finds why it cannot.
func (c *Config) look(ctx context.Context, use func(db *store.DB, dsn string)) (found Findings) {
	dsn, file := c.dsn()
	if missing, err := missingFile(file); err == nil && missing {
		err = withScratch(ctx, func(scratch *store.DB) error {
			use(scratch, scratch.Path())
			return nil
		})
		if err != nil {
			found.Add(c.at("database", "dsn"), "no empty database could be made to look at: "+oneLine(err), "make room in the directory for temporary files")
		}
		return found
	}
	db, err := c.open(ctx)
	if err != nil {
		return Findings{c.databaseFinding(err)}
	}
	defer func() { _ = db.Close() }()
	use(db, dsn)
	return nil
}

// databaseFinding tells where the database that cannot be used was named.
func (c *Config) databaseFinding(err error) Finding {
	remedy := map[string]string{
		"sqlite":   "name a file that this user may read and write in database.dsn",
		"postgres": `check that the server runs and that database.dsn is right, as in "postgres://user:password@host/name"`,
		"mysql":    `check that the server runs and that database.dsn is right, as in "user:password@tcp(host:3306)/name"`,
	}[c.Database.Driver]
	if better := store.Remedy(err); better != "" {
		remedy = better
	}
	return Finding{At: c.at("database", "dsn"), What: "the database cannot be opened: " + strings.TrimSuffix(oneLine(err), ": "+remedy), Remedy: remedy}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// verifyDatabases opens the databases as serving would, changes nothing but opts,
// whose columns of users get their real names, and finds what does not fit. For a
// database that serving would make it looks at an empty one elsewhere.
func (c *Config) verifyDatabases(ctx context.Context, opts *host.Options) Findings {
	if c.faulty("database", "driver") || c.faulty("database", "dsn") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var unfit Findings
	found := c.look(ctx, func(db *store.DB, dsn string) {
		if _, err := db.Pending(ctx); err != nil {
			unfit = Findings{c.databaseFinding(err)}
			return
		}
		var e endpoint
		e, unfit = c.fit(ctx, db, dsn, opts)
		if e.source != nil {
			if err := e.source.MayMigrate(ctx); err != nil {
				unfit = append(unfit, c.requestsFinding(err))
			}
		}
		if err := e.Close(); err != nil {
			unfit.Add(c.at("odata", "database"), "the database of odata cannot be closed", oneLine(err))
		}
	})
	return append(found, unfit...)
}

// fit is the verification that check and serve share: it resolves the columns of users in opts, opens
// the query endpoint, and finds what does not fit the databases. db was opened with dsn. The caller
// closes the endpoint, also when there are findings.
func (c *Config) fit(ctx context.Context, db *store.DB, dsn string, opts *host.Options) (endpoint, Findings) {
	newer := c.findNewer(ctx, db)
	if newer.Failed() {
		return endpoint{}, newer
	}
	columns, err := c.resolveColumns(ctx, db, opts)
	if err != nil {
		return endpoint{}, Findings{c.databaseFinding(err)}
	}
	e, found := c.openEndpoint(ctx, db, dsn)
	if e.source != nil {
		if err := columns.policies(e); err != nil {
			found.Add(c.at("odata"), oneLine(err), "correct the row policies")
		}
	}
	return e, found.With(newer).With(columns.found).With(c.checkTokens(ctx, db))
}

// findNewer tells of tables that a newer version has changed: a warning, unless this
// one does not work with them.
func (c *Config) findNewer(ctx context.Context, db *store.DB) (found Findings) {
	newer, err := db.Newer(ctx)
	if err != nil {
		return Findings{c.databaseFinding(err)}
	}
	if len(newer) > 0 {
		found.Warn(c.at("database", "dsn"), "the tables are newer than this version: "+numbered(newer), "use the version that changed them on all hosts, in the end; until then this one works")
	}
	return found
}

// numbered names migrations that have no other name here.
func numbered(migrations []int64) string {
	names := make([]string, len(migrations))
	for i, n := range migrations {
		names[i] = fmt.Sprintf("migration %d", n)
	}
	return strings.Join(names, ", ")
}

// leave adds what a newer version has applied to the steps of a migration.
func leave(ctx context.Context, db *store.DB, steps []string) ([]string, error) {
	newer, err := db.Newer(ctx)
	if err == nil && len(newer) > 0 {
		steps = append(steps, "leave "+numbered(newer)+" as it is: a newer version has applied it")
	}
	return steps, err
}
