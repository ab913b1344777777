package introspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// Definitions returns the statements behind the views of a database, by schema and name as Table has them. MariaDB shows an
// empty one to users without the privilege SHOW VIEW.
func Definitions(ctx context.Context, db engine.DB, dialect string) (_ map[[2]string]string, err error) {
	query := map[string]string{
		"sqlite": `SELECT '', name, sql FROM sqlite_schema WHERE type = 'view'`,
		"postgres": `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, pg_get_viewdef(c.oid)
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm')
			AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_%'`,
		"mysql": `SELECT '', table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE()`,
	}[dialect]
	tx, err := db.Begin(ctx, engine.Need{})
	if err != nil {
		return nil, fmt.Errorf("read views: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	out := map[[2]string]string{}
	err = (&reader{tx: tx}).each(3, func(c row) { out[[2]string{c.text(0), c.text(1)}] = c.text(2) }, query)
	if err != nil {
		return nil, fmt.Errorf("read views: %w", err)
	}
	return out, nil
}
