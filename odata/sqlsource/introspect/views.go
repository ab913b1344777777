package introspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// Definitions returns the statements behind the views and functions of a database, by schema and name as Table has them. Those of
// functions of one name, and of a view with that name, are one text. MariaDB shows an empty one to users without the privilege SHOW VIEW.
func Definitions(ctx context.Context, db engine.DB, dialect string) (_ map[[2]string]string, err error) {
	query := map[string]string{
		"sqlite": `SELECT '', name, sql FROM sqlite_schema WHERE type = 'view'`,
		"postgres": `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, pg_get_viewdef(c.oid)
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm')
			AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_%'
			UNION ALL SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, p.proname, pg_get_functiondef(p.oid)
			FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.prokind IN ('f', 'w')
			AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_%'
			AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')`,
		"mysql": `SELECT '', table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE()
			UNION ALL SELECT '', routine_name, coalesce(routine_definition, '') FROM information_schema.routines
			WHERE routine_schema = DATABASE() AND routine_type = 'FUNCTION'`,
	}[dialect]
	tx, err := db.Begin(ctx, engine.Need{})
	if err != nil {
		return nil, fmt.Errorf("read views: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	out := map[[2]string]string{}
	err = (&reader{tx: tx}).each(3, func(c row) {
		at := [2]string{c.text(0), c.text(1)}
		if out[at] == "" {
			out[at] = c.text(2)
		} else {
			out[at] += "\n" + c.text(2)
		}
	}, query)
	if err != nil {
		return nil, fmt.Errorf("read views: %w", err)
	}
	return out, nil
}
