package introspect

import "github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"

// postgresFinds reads the indexes that find parts of texts: those of pg_trgm over a whole column and all rows, in the
// collation of the column or in that of code points. From PostgreSQL 18 on pg_trgm makes letters small by the rules of the
// database's locale, which may look at the letters around; before, and in locales of libc, each letter stands alone.
func (r *reader) postgresFinds(all *named) error {
	return r.of(all, 7, func(t *Table, c row) {
		col := t.Column(c.text(2))
		if c.yes(4) {
			if col.Prefix == "" {
				col.Prefix = sqltext.PrefixPattern
			}
			return
		}
		col.Trigram = &sqltext.Trigram{Name: c.text(3), CodePoints: c.yes(5), Letters: c.yes(6)}
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, a.attname, x.relname,
			am.amname = 'btree', a.attcollation <> i.indcollation[k.n - 1],
			(SELECT coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') = 'c' AND d.datctype NOT IN ('C', 'POSIX')
				FROM pg_database d WHERE d.datname = current_database())
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am am ON am.oid = x.relam
			CROSS JOIN LATERAL unnest(i.indkey::int[]) WITH ORDINALITY k(num, n)
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num
			JOIN pg_opclass oc ON oc.oid = i.indclass[k.n - 1]
			JOIN pg_collation co ON co.oid = i.indcollation[k.n - 1]
		WHERE i.indisvalid AND i.indisready AND i.indpred IS NULL AND k.n <= i.indnkeyatts
			AND (oc.opcname IN ('gin_trgm_ops', 'gist_trgm_ops') AND am.amname IN ('gin', 'gist')
				OR oc.opcname IN ('text_pattern_ops', 'varchar_pattern_ops') AND am.amname = 'btree')
			AND (k.n = 1 OR am.amname = 'gin')
			AND (a.attcollation = i.indcollation[k.n - 1]
				OR co.collname = 'C' AND co.collnamespace = 'pg_catalog'::regnamespace AND am.amname <> 'btree')
			AND co.collisdeterministic
			AND format_type(a.atttypid, NULL) IN ('text', 'character varying')
			AND n.nspname NOT IN ('pg_catalog', 'information_schema')
		ORDER BY c.oid, i.indexrelid DESC`)
}

// prefixes finds the columns whose beginnings an index in the order of code points has in one place.
func (t *Table) prefixes() {
	for _, ix := range t.Ordered {
		if c := t.Column(ix.Columns[0].Name); ix.Columns[0].CodePoints && c != nil {
			c.Prefix = sqltext.PrefixCodePoints
		}
	}
}
