package sqlsource

import (
	"context"
	"regexp"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// isPostgreSQL matches how PostgreSQL and its usual packages call themselves. Others that speak its protocol have
// snapshots that tell something else, or nothing: CockroachDB, YugabyteDB ("PostgreSQL 15.2-YB-…"), Greenplum
// ("PostgreSQL 12.12 (Greenplum Database …)"), Redshift.
const isPostgreSQL = `^PostgreSQL (1[5-9]|[2-9]\d)(\.\d+)*( \((Debian|Ubuntu|Homebrew)[^)]*\))? on `

// askPostgreSQL has the name of the server, and 1 where an extension or a build keeps rows elsewhere, such as Citus and
// Aurora. Statistics that begin after each crash and cost nothing to ask came with version 15.
const askPostgreSQL = `SELECT version(), CASE WHEN EXISTS (SELECT 1 FROM pg_proc
	WHERE proname IN ('citus_version', 'aurora_version', 'yb_servers', 'gp_execution_segment')) THEN 1 ELSE 0 END::bigint`

// rememberPostgreSQL gives a reader the cache where the server tells the states of its data apart. That it does not is no
// fault: answers are the same, and take longer.
func rememberPostgreSQL(ctx context.Context, db engine.DB, r *cursor.Reader, m *sqltext.Mapping) {
	if !stamps(ctx, db, r.Gen) {
		return
	}
	r.Marks, r.Stamps = seekcache.New(cacheBytes), true
	r.Seekable = func(set *edm.EntitySet) bool { return m.Tables[set].Unique }
}

// stamps tells whether a server is PostgreSQL, and lets this user ask for stamps. One that is a standby now may be a
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
	return engine.Ask(ctx, db, 1, func([]engine.Cell) bool { return false }, gen.Stamp()) == nil
}
