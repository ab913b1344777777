package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/config/internal/schema"
	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/host/store"
	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/host/store/postgres"
	"github.com/vestibule-dev/vestibule/v2/host/store/sqlite"
)

// dsn is the main database's, with an absolute file; file is empty for servers.
func (c *Config) dsn() (dsn, file string) {
	if c.Database.Driver != "sqlite" {
		return c.Database.DSN, ""
	}
	file, dsn = sqliteFile(c.Database.DSN, c.origins.Dir("database", "dsn"))
	return dsn, file
}

// openStore opens the main database.
func (c *Config) openStore(ctx context.Context) (*store.DB, error) {
	dsn, file := c.dsn()
	if _, err := missingFile(file); err != nil {
		return nil, err
	}
	switch c.Database.Driver {
	case "postgres":
		return postgres.Open(ctx, dsn)
	case "mysql":
		return mysql.Open(ctx, dsn)
	}
	return sqlite.Open(ctx, dsn)
}

// openMigrated opens the main database and brings it up to date.
func (c *Config) openMigrated(ctx context.Context) (*store.DB, error) {
	db, err := c.openStore(ctx)
	if err != nil {
		return nil, Findings{c.databaseFinding(err)}.Err()
	}
	if _, err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(Findings{c.databaseFinding(err)}.Err(), db.Close())
	}
	return db, nil
}

// openExisting opens the main database as it is, and creates nothing.
func (c *Config) openExisting(ctx context.Context) (*store.DB, error) {
	_, file := c.dsn()
	missing, err := missingFile(file)
	if err != nil {
		return nil, Findings{c.databaseFinding(err)}.Err()
	}
	if missing {
		return nil, fmt.Errorf("there is no database %s: make it with `vestibule migrate`", c.shown(file))
	}
	db, err := c.openStore(ctx)
	if err != nil {
		return nil, Findings{c.databaseFinding(err)}.Err()
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
		return nil, Findings{c.databaseFinding(err)}.Err()
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Migrate(ctx)
}

// Pending tells what Migrate would do, and changes nothing: for a SQLite file
// that does not exist yet it looks at an empty one elsewhere.
func (c *Config) Pending(ctx context.Context) (steps []string, err error) {
	_, file := c.dsn()
	missing, err := missingFile(file)
	if err != nil {
		return nil, Findings{c.databaseFinding(err)}.Err()
	}
	open := c.openStore
	if missing {
		dir, err := os.MkdirTemp("", "vestibule-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		open = func(ctx context.Context) (*store.DB, error) { return sqlite.Open(ctx, filepath.Join(dir, "empty.db")) }
		steps = append(steps, "create "+c.shown(file))
	}
	db, err := open(ctx)
	if err != nil {
		return nil, Findings{c.databaseFinding(err)}.Err()
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	pending, err := db.Pending(ctx)
	return append(steps, pending...), err
}

// Backup writes a consistent copy of a SQLite database into a new file.
func (c *Config) Backup(ctx context.Context, file string) (err error) {
	_, name := c.dsn()
	if missing, _ := missingFile(name); missing {
		return fmt.Errorf("there is no database %s", c.shown(name))
	}
	db, err := c.openStore(ctx)
	if err != nil {
		return Findings{c.databaseFinding(err)}.Err()
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Backup(ctx, file)
}

// databaseFinding tells where the database that cannot be used was named.
func (c *Config) databaseFinding(err error) Finding {
	remedy := map[string]string{
		"sqlite":   "name a file that this user may read and write in database.dsn",
		"postgres": `check that the server runs and that database.dsn is right, as in "postgres://user:password@host/name"`,
		"mysql":    `check that the server runs and that database.dsn is right, as in "user:password@tcp(host:3306)/name"`,
	}[c.Database.Driver]
	return Finding{At: c.at("database", "dsn"), What: "the database cannot be opened: " + oneLine(err), Remedy: remedy}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// verifyDatabases opens the databases and looks at what the settings say of them.
func (c *Config) verifyDatabases(ctx context.Context) Findings {
	var f Findings
	if c.faulty("database", "driver") || c.faulty("database", "dsn") {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, file := c.dsn()
	missing, err := missingFile(file)
	if err != nil {
		return append(f, c.databaseFinding(err))
	}
	if missing {
		if c.OData.Database.Driver != nil {
			return append(f, c.verifyOData(ctx, nil)...)
		}
		if len(c.OData.Discover)+len(c.OData.EntitySets)+len(c.OData.Singletons) > 0 {
			f.Warn(c.at("database", "dsn"), fmt.Sprintf("there is no database %s yet, so its tables could not be looked at", c.shown(file)), "run `vestibule migrate`, or start the host once")
		}
		return f
	}
	db, err := c.openStore(ctx)
	if err != nil {
		return append(f, c.databaseFinding(err))
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Pending(ctx); err != nil {
		return append(f, c.databaseFinding(err))
	}
	c.checkColumns(ctx, db, &f)
	return append(f, c.verifyOData(ctx, db)...)
}

// policyColumns returns the columns of the user that a row policy names.
func policyColumns(filter *string) []string {
	if filter == nil {
		return nil
	}
	var names []string
	for _, m := range regexp.MustCompile(`@user_(\w+)`).FindAllStringSubmatch(*filter, -1) {
		if !slices.Contains(names, m[1]) && !reserved.Credential(m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// checkColumns looks for the columns of users that settings name, when there is
// such a table already.
func (c *Config) checkColumns(ctx context.Context, db *store.DB, f *Findings) {
	columns, err := db.UserColumns(ctx)
	if err != nil || len(columns) == 0 {
		return
	}
	var names []string
	for _, column := range columns {
		if !reserved.Credential(column.Name) { // never to be granted or compared
			names = append(names, column.Name)
		}
	}
	check := func(name string, path ...string) {
		if !slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			f.Add(c.at(path...), fmt.Sprintf("%s: the table users has no column %q", strings.Join(path[:len(path)-1], "."), name), schema.DidYouMean(name, names))
		}
	}
	check(c.Auth.LoginField, "auth", "login_field", "")
	for kind, sets := range map[string]map[string]EntitySet{"entity_set": c.OData.EntitySets, "singleton": c.OData.Singletons} {
		for label, set := range sets {
			for _, name := range policyColumns(set.Filter) {
				check(name, "odata", kind, label, "filter", "")
			}
		}
	}
	for _, plugin := range c.PluginNames() {
		for i, name := range c.Plugins[plugin].UserRead {
			check(name, "plugin", plugin, "user_read", fmt.Sprint(i))
		}
		for i, name := range c.Plugins[plugin].UserWrite {
			check(name, "plugin", plugin, "user_write", fmt.Sprint(i))
		}
	}
}
