package sqltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// On PostgreSQL each commit ends what is remembered, because PostgreSQL does not record which tables a transaction changed.
// Triggers of the operator record it: each transaction that changes a table adds a row to vestibule_changes. The stamp of a
// query that names this table alone then is the sum of these rows. A statement sees a change if and only if it sees the row
// of the transaction that made it, and the sum only grows: two equal sums mean that nothing changed in between.
//
// The sum is a stamp only while the triggers see every change. So the stamp also has the transactions that changed the
// triggers, the columns and the table in the catalogue last: ALTER TABLE rewrites rows without a trigger. The snapshot is the
// stamp while a trigger is missing or disabled, while the table has a parent or a child, since a statement that names a parent
// changes rows of its children without their statement triggers, and while policies of the database hide rows. The greatest
// transaction makes the stamp another one after somebody has emptied vestibule_changes.

// What the operator creates has these names; see docs/operations/counted-changes.sql.
const (
	ChangesTable   = "vestibule_changes"
	ChangesTrigger = "vestibule_changed"
)

// Values of pg_trigger.tgtype: a trigger after each statement that inserts, updates, deletes or truncates, and one after each
// row that is inserted, updated or deleted. Logical replication calls triggers for rows alone.
const (
	afterStatement = "60"
	afterRow       = "29"
)

// stampOf is the SQL of the stamp for the rows of a query.
func (g *Generator) stampOf(q *plan.Query) string {
	columns, ok := g.decides(q)
	if !ok || g.m.Tables[q.Range.Set].Changes == nil || slices.ContainsFunc(columns, g.redefinable) {
		return g.d.stamp()
	}
	return g.counterStamp(g.m.Tables[q.Range.Set])
}

// redefinable reports whether values of a column may change without their rows, as those of an enum whose members get other
// names.
func (g *Generator) redefinable(c *Column) bool { return g.d.position(c) == "" }

// CounterStamp is the statement for the stamp of a table whose changes are counted.
func (g *Generator) CounterStamp(t *Table) string {
	return g.finish(text("SELECT " + g.counterStamp(t))).SQL
}

func (g *Generator) counterStamp(t *Table) string {
	return strings.NewReplacer(
		"{table}", constant(g.table(t.Name))+"::regclass",
		"{changes}", g.table([]string{t.Changes.Schema, ChangesTable}),
		"{function}", strconv.FormatInt(t.Changes.Function, 10),
	).Replace(postgresCounter)
}

const postgresCounter = `(SELECT CASE WHEN NOT pg_is_in_recovery() THEN COALESCE(` +
	`(SELECT COALESCE(sum(n), 0)::text || ':' || COALESCE(max(xact)::text, '') FROM {changes} WHERE relation = {table}` +
	` HAVING NOT EXISTS (SELECT 1 FROM pg_inherits WHERE {table} IN (inhrelid, inhparent)))` +
	` || '/' || (SELECT oid::text || ':' || xmin::text FROM pg_class WHERE oid = {table} AND NOT relrowsecurity)` +
	` || '/' || (SELECT sum(xmin::text::bigint) FROM pg_attribute WHERE attrelid = {table})` +
	` || '/' || (SELECT sum(xmin::text::bigint) FROM pg_trigger WHERE tgrelid = {table} AND tgfoid = {function} AND tgqual IS NULL AND tgattr::text = ''` +
	` AND (tgtype = ` + afterStatement + ` AND tgenabled = 'A' OR tgtype = ` + afterRow + ` AND tgenabled = 'R') HAVING count(*) = 2)` +
	`, pg_current_snapshot()::text)` + postgresLife + ` END)`
