package sqlsource

import (
	"context"
	"errors"
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
	cells := make([]engine.Cell, 2)
	if err := firstRow(ctx, db, sqltext.Statement{SQL: askPostgreSQL}, cells); err != nil || cells[1].Int != 0 {
		return false
	}
	if ok, err := regexp.Match(isPostgreSQL, cells[0].Bytes); err != nil || !ok {
		return false
	}
	return firstRow(ctx, db, gen.Stamp(), cells[:1]) == nil
}

// firstRow reads the first row of a statement.
func firstRow(ctx context.Context, db engine.DB, s sqltext.Statement, cells []engine.Cell) (err error) {
	tx, err := db.Begin(ctx, engine.Need{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	cur, err := tx.Query(s.SQL, s.Args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	ok, err := cur.Next()
	if err == nil && ok {
		err = cur.Row(cells)
		for i := range cells {
			cells[i].Bytes = append([]byte{}, cells[i].Bytes...) // the cursor's, so far
		}
	}
	return err
}
