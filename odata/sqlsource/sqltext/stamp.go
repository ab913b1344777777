package sqltext

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
)

// A stamp names the state of the data that a statement sees, so that what one page tells of the rows behind it can serve
// for the next page: that one reads only if its own stamp is the same, in the statement that reads, and has no rows
// otherwise.
//
// On PostgreSQL it is the snapshot: the transactions that count as committed. Between two equal ones nothing was committed,
// in any table. Numbers of transactions that a crash or a failover undid are given out once more, so the stamp names the
// life of the server as well: its system identifier, its timeline, when it was started, and when its statistics began,
// which is after each crash. A standby has snapshots that do not tell its states apart, and no stamp.
const postgresStamp = `(SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_snapshot()::text` + postgresLife + ` END)`

const postgresLife = ` || '/' || (SELECT system_identifier FROM pg_control_system())` +
	` || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)` +
	` || '/' || extract(epoch FROM pg_postmaster_start_time())` +
	` || '/' || extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time())`

func (postgres) stamp() string { return postgresStamp }

// position returns the SQL that turns $1, a sort value as the driver read it, back into the column's type; empty for the
// types whose values that changes.
func (postgres) position(c *Column) string {
	if c == nil {
		return ""
	}
	switch c.Type {
	case "smallint", "integer", "bigint":
		return "$1::bigint"
	case "real", "double precision":
		return "$1::double precision"
	case "boolean":
		return "($1::bigint <> 0)"
	case "text", "character varying":
		return "$1::text"
	case "numeric", "uuid", "date", "timestamp with time zone", "timestamp without time zone", "time without time zone":
		return "$1::" + c.Type
	}
	return ""
}

// Stamp is the statement for the stamp of this moment, on PostgreSQL.
func (g *Generator) Stamp() string { return "SELECT " + g.d.stamp() }

// steady tells whether a stamp is all that the rows of a query depend on besides the request.
func (g *Generator) steady(q *plan.Query) bool {
	_, ok := g.decides(q)
	return ok && g.d.stamp() != "" && g.m.Tables[q.Range.Set].Ordinary
}

// soughtBy tells whether rows can be sought by what they are ordered by: columns whose values come back as they are.
func (g *Generator) soughtBy(order []plan.Order) bool {
	for _, o := range order {
		ref, ok := o.Expr.(*plan.Ref)
		if !ok || g.d.position(g.columnOf(ref)) == "" {
			return false
		}
		raw := g.raw(ref)
		if key := strings.TrimSuffix(g.pageKey(ref).sql, codePoints); key != raw.sql && key != bounded(raw, raw, g.columnOf(ref), ref.T).sql {
			return false
		}
	}
	return len(order) > 0
}

// required are the columns of an order that are taken to have no nulls, but for those of the key.
func (g *Generator) required(r *plan.Range, order []plan.Order) (columns []*Column) {
	t := g.m.Tables[r.Set]
	isKey := func(c *Column) bool {
		return slices.ContainsFunc(r.Set.Type.Key, func(k *edm.Property) bool { return t.Columns[k] == c })
	}
	for _, o := range order {
		if ref, ok := o.Expr.(*plan.Ref); ok && !g.absent(ref) && !isKey(g.columnOf(ref)) {
			columns = append(columns, g.columnOf(ref))
		}
	}
	return columns
}

// whileRequired is a stamp that is null as soon as a column of the order may be null: a condition that seeks behind a place
// would leave out the rows where it is. It is null, too, for a column that only its domain keeps from being null.
func (g *Generator) whileRequired(q *plan.Query, stamp string) string {
	columns := g.required(q.Range, q.Order)
	if len(columns) == 0 {
		return stamp
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = constant(c.Name)
	}
	return "(SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = " + constant(g.table(g.m.Tables[q.Range.Set].Name)) +
		"::regclass AND attname IN (" + strings.Join(names, ", ") + ") AND NOT attnotnull) THEN " + stamp + " END)"
}

// constant is a text in a statement, whatever standard_conforming_strings says.
func constant(s string) string {
	return "E'" + strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(s) + "'"
}

// Stamped is like Rows, with the stamp of the state that it sees as one column more.
func (p *Page) Stamped(read, skip int64, after []any) Statement {
	list := join(", ", p.list, text(p.stamp))
	if p.deep > 0 && skip >= p.deep && after == nil {
		return p.deferred(list, frag{}, read, skip)
	}
	return p.statement(list, frag{}, read, skip, after)
}

// Guarded is like Rows, and has none where the state that it sees has another stamp. Last, where it is known, is how many
// rows there are behind skip: from beyond the middle on the page is looked for from the end.
func (p *Page) Guarded(stamp string, read, skip int64, after []any, last int64) Statement {
	switch {
	case p.deep == 0 || skip < p.deep || after != nil:
		return p.statement(p.list, p.guard(stamp), read, skip, after)
	case last > 0: // see FromEnd
		read = min(read, last)
		return p.backwards(p.list, p.guard(stamp), read, last-read)
	}
	return p.deferred(p.list, p.guard(stamp), read, skip)
}

// FromEnd tells whether Guarded looks for a page from the end, of which the index tells the rows in either direction.
func (p *Page) FromEnd(skip, last int64) bool {
	return p.span == nil && p.deep > 0 && skip >= p.deep && last > 0 && last < skip
}

// Still is the statement that has one row, of the number 1, where the state that it sees has this stamp.
func (p *Page) Still(stamp string) Statement {
	return p.g.finish(fill("SELECT 1 WHERE 1 = 1$1", p.guard(stamp)))
}

func (p *Page) guard(stamp string) frag {
	return fill(" AND "+p.stamp+" = $1::text", param(stamp))
}

// StampedCount counts all rows of the page's node, with the stamp of the state that it sees as a second column.
func (p *Page) StampedCount() Statement {
	f := p.g.from(shares(p.query, p.query.Filter))
	return p.g.finish(fill("SELECT COUNT(*), "+p.stamp+" $1", f))
}
