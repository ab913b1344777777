package sqlsource

import (
	"context"
	"regexp"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// sqliteCache is what decides whether answers of a SQLite database can be cached, and until when.
type sqliteCache struct {
	lite *engine.SQLite
	// writer is Database.Writer, protected Config.Protected.
	writer    *sqlx.DB
	protected func(table string) bool
	mapping   *sqltext.Mapping
	// bytes is Database.SeekBytes.
	bytes int
}

// use gives a reader the cache, unless a view of the model can change although nobody writes.
func (c *sqliteCache) use(ctx context.Context, r *cursor.Reader) error {
	exposed := c.exposed()
	indirect, impure, err := c.views(ctx, exposed)
	if err != nil || indirect && impure {
		return err
	}
	if err := c.lite.NameVersions(c.ownWriter(exposed, indirect), c.relied(exposed, indirect)); err != nil {
		return err
	}
	r.Marks = seekcache.New(c.bytes)
	r.Seekable = func(set *edm.EntitySet) bool { return c.mapping.Tables[set].Unique }
	return nil
}

// exposed are the names of all tables that the model reads, in lower case.
func (c *sqliteCache) exposed() map[string]bool {
	names := map[string]bool{}
	for _, t := range c.mapping.Tables {
		names[strings.ToLower(t.Name[len(t.Name)-1])] = true
	}
	for _, l := range c.mapping.Links {
		if len(l.Via) > 0 {
			names[strings.ToLower(l.Via[len(l.Via)-1])] = true
		}
	}
	return names
}

// ownWriter tells which tables the host may write without changing what the model shows: the protected ones. There
// are none as soon as a view or a virtual table is part of the model, which may show anything.
func (c *sqliteCache) ownWriter(exposed map[string]bool, indirect bool) *engine.Writer {
	if c.writer == nil || c.protected == nil {
		return nil
	}
	return &engine.Writer{DB: c.writer.DB, Private: func(table string) bool {
		return !indirect && !exposed[strings.ToLower(table)] && c.protected(table)
	}}
}

// relied returns which tables' keys and columns the model relies on: those that it reads. A view may read any table but the
// protected ones.
func (c *sqliteCache) relied(exposed map[string]bool, indirect bool) func(table string) bool {
	return func(table string) bool {
		return exposed[strings.ToLower(table)] || indirect && (c.protected == nil || !c.protected(table))
	}
}

// views reports whether a table of the model is a view or a virtual table, and whether such a definition may change its rows
// although nobody writes.
func (c *sqliteCache) views(ctx context.Context, exposed map[string]bool) (indirect, impure bool, err error) {
	err = engine.Ask(ctx, c.lite, 2, func(cells []engine.Cell) bool {
		indirect = indirect || exposed[strings.ToLower(string(cells[0].Bytes))]
		impure = impure || holds(string(cells[1].Bytes), "now", "current_", "random", "date", "time", "julianday", "unixepoch", "changes", "last_insert_rowid")
		return true
	}, `SELECT name, lower(sql) FROM sqlite_schema WHERE type = 'view' OR sql LIKE 'create virtual%'`)
	return indirect, impure, err
}

// isPostgreSQL matches how PostgreSQL and its usual packages call themselves. Others that speak its protocol have
// snapshots that tell something else, or nothing: CockroachDB, YugabyteDB ("PostgreSQL 15.2-YB-…"), Greenplum
// ("PostgreSQL 12.12 (Greenplum Database …)"), Redshift.
const isPostgreSQL = `^PostgreSQL (1[5-9]|[2-9]\d)(\.\d+)*( \((Debian|Ubuntu|Homebrew)[^)]*\))? on `

// askPostgreSQL has the name of the server, and 1 where an extension or a build keeps rows elsewhere, such as Citus and
// Aurora. Statistics that begin after each crash and cost nothing to ask exist since version 15.
const askPostgreSQL = `SELECT version(), CASE WHEN EXISTS (SELECT 1 FROM pg_proc
	WHERE proname IN ('citus_version', 'aurora_version', 'yb_servers', 'gp_execution_segment')) THEN 1 ELSE 0 END::bigint`

// rememberPostgreSQL gives a reader the cache where the server tells the states of its data apart. That it does not is no
// fault: answers are the same, and take longer.
func rememberPostgreSQL(ctx context.Context, db engine.DB, r *cursor.Reader, m *sqltext.Mapping, bytes int) {
	if !stamps(ctx, db, r.Gen) {
		return
	}
	r.Marks, r.Stamps = seekcache.New(bytes), true
	r.Seekable = func(set *edm.EntitySet) bool { return m.Tables[set].Unique }
	for _, t := range m.Tables {
		if t.Changes != nil && !answers(ctx, db, r.Gen.CounterStamp(t)) {
			t.Changes = nil
		}
	}
}

// answers reports whether a statement for a stamp can be carried out. One that this user may not ask cannot.
func answers(ctx context.Context, db engine.DB, query string) bool {
	return engine.Ask(ctx, db, 1, func([]engine.Cell) bool { return false }, query) == nil
}

// stamps reports whether a server is PostgreSQL, and lets this user ask for stamps. One that is a standby now may be a
// primary later, and has a stamp then.
func stamps(ctx context.Context, db engine.DB, gen *sqltext.Generator) bool {
	known := false
	err := engine.Ask(ctx, db, 2, func(cells []engine.Cell) bool {
		known, _ = regexp.Match(isPostgreSQL, cells[0].Bytes) // the pattern is right
		known = known && cells[1].Int == 0
		return false
	}, askPostgreSQL)
	if err != nil || !known {
		return false
	}
	return answers(ctx, db, gen.Stamp())
}
