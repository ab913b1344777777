package sqlsource

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
)

// kept is a table that a framework keeps for itself. columns tell it from a table of an application that has the same name.
type kept struct {
	table     string
	framework string
	columns   []string
}

// frameworkTables are the tables of caches, queues, migrations and permissions. A name that ends in "*" means all names that
// begin so. Sessions and credentials are in reserved.SessionTable.
func frameworkTables() []kept {
	return []kept{
		{"cache", "Laravel", []string{"key", "value", "expiration"}},
		{"cache_locks", "Laravel", []string{"key", "owner", "expiration"}},
		{"jobs", "Laravel", []string{"queue", "payload", "attempts"}},
		{"job_batches", "Laravel", []string{"pending_jobs", "failed_job_ids"}},
		{"failed_jobs", "Laravel", []string{"queue", "payload", "exception"}},
		{"migrations", "Laravel", []string{"migration", "batch"}},
		{"telescope_*", "Laravel", nil},
		{"ar_internal_metadata", "Rails", nil},
		{"solid_queue_*", "Rails", nil},
		{"solid_cache_*", "Rails", nil},
		{"solid_cable_*", "Rails", nil},
		{"schema_migrations", "Rails or a migration tool", []string{"version"}},
		{"django_migrations", "Django", nil},
		{"django_content_type", "Django", nil},
		{"django_admin_log", "Django", nil},
		{"django_site", "Django", nil},
		{"auth_permission", "Django", []string{"codename"}},
		{"auth_group", "Django", []string{"name"}},
		{"auth_group_permissions", "Django", []string{"permission_id"}},
		{"auth_user_groups", "Django", []string{"group_id"}},
		{"auth_user_user_permissions", "Django", []string{"permission_id"}},
		{"flyway_schema_history", "Flyway", nil},
		{"schema_version", "Flyway", []string{"installed_rank"}},
		{"databasechangelog", "Liquibase", nil},
		{"databasechangeloglock", "Liquibase", nil},
		{"alembic_version", "Alembic", nil},
		{"goose_db_version", "goose", nil},
		{"_prisma_migrations", "Prisma", nil},
		{"__efmigrationshistory", "Entity Framework", nil},
		{"__efmigrationslock", "Entity Framework", nil},
		{"knex_migrations", "Knex", nil},
		{"knex_migrations_lock", "Knex", nil},
		{"sequelizemeta", "Sequelize", nil},
		{"doctrine_migration_versions", "Doctrine", nil},
		{"migration_versions", "Doctrine", []string{"version"}},
		{"phinxlog", "Phinx", nil},
		{"migrations", "TypeORM", []string{"timestamp", "name"}},
		{"typeorm_metadata", "TypeORM", nil},
		{"_sqlx_migrations", "SQLx", nil},
		{"__diesel_schema_migrations", "Diesel", nil},
		{"__drizzle_migrations", "Drizzle", nil},
		{"atlas_schema_revisions", "Atlas", nil},
		{"spatial_ref_sys", "PostGIS", nil},
		{"geometry_columns", "PostGIS", []string{"coord_dimension"}},
		{"geography_columns", "PostGIS", []string{"coord_dimension"}},
		{"pg_stat_statements", "PostgreSQL", nil},
		{"pg_stat_statements_info", "PostgreSQL", nil},
	}
}

// frameworkOf returns the framework that keeps a table for itself; empty for none.
func frameworkOf(t *introspect.Table) string {
	name := strings.ToLower(t.Name)
	for _, k := range frameworkTables() {
		start, many := strings.CutSuffix(k.table, "*")
		if name != k.table && (!many || !strings.HasPrefix(name, start)) {
			continue
		}
		lacks := func(column string) bool {
			return !slices.ContainsFunc(t.Columns, func(c introspect.Column) bool { return strings.EqualFold(c.Name, column) })
		}
		if !slices.ContainsFunc(k.columns, lacks) {
			return k.framework
		}
	}
	return ""
}
