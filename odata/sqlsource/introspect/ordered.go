package introspect

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// postgresOrdered reads the indexes that have rows in an order: B-trees with the default operators of their columns. A
// column of text must have the order of code points by name, or that of its column.
func (r *reader) postgresOrdered(all *named) error {
	return r.of(all, 4, func(t *Table, c row) {
		ix := sqltext.Index{Included: strings.FieldsFunc(c.text(3), func(r rune) bool { return string(r) == sep })}
		for _, column := range strings.Split(c.text(2), sep) {
			flags, name := column[:3], column[3:]
			ix.Columns = append(ix.Columns, sqltext.IndexColumn{Name: name, Desc: flags[0] == '1', NullsFirst: flags[1] == '1', CodePoints: flags[2] == '1'})
		}
		t.Ordered = append(t.Ordered, ix)
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, k.key, k.included
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am am ON am.oid = x.relam
			CROSS JOIN LATERAL (
				SELECT string_agg((i.indoption[k.n - 1] & 1)::text || ((i.indoption[k.n - 1] >> 1) & 1)::text
						|| CASE WHEN co.collname = 'C' AND a.attcollation <> i.indcollation[k.n - 1] THEN '1' ELSE '0' END
						|| a.attname, chr(31) ORDER BY k.n) FILTER (WHERE k.n <= i.indnkeyatts) AS key,
					coalesce(string_agg(a.attname, chr(31) ORDER BY k.n) FILTER (WHERE k.n > i.indnkeyatts), '') AS included,
					bool_and(k.n > i.indnkeyatts OR oc.opcdefault AND (a.attcollation = i.indcollation[k.n - 1]
						OR co.collname = 'C' AND co.collnamespace = 'pg_catalog'::regnamespace)) AS plain
				FROM unnest(i.indkey::int[]) WITH ORDINALITY k(num, n)
					JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num
					LEFT JOIN pg_opclass oc ON oc.oid = i.indclass[k.n - 1] AND k.n <= i.indnkeyatts
					LEFT JOIN pg_collation co ON co.oid = i.indcollation[k.n - 1] AND k.n <= i.indnkeyatts) k
		WHERE am.amname = 'btree' AND i.indisvalid AND i.indisready AND i.indpred IS NULL AND i.indexprs IS NULL AND k.plain
			AND NOT (c.relkind = 'r' AND c.relhassubclass) AND n.nspname NOT IN ('pg_catalog', 'information_schema')
		ORDER BY c.oid, i.indexrelid`)
}

// postgresOrdinary finds the tables whose rows change only by transactions of this server.
func (r *reader) postgresOrdinary(all *named) error {
	return r.of(all, 4, func(t *Table, c row) {
		t.Ordinary = true
		if schema := c.text(2); schema != "" {
			t.Changes = &sqltext.Changes{Schema: schema, Function: c[3].Int}
		}
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, coalesce(f.nspname, ''), coalesce(f.oid, 0)::bigint
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am am ON am.oid = c.relam
			LEFT JOIN LATERAL (SELECT s.nspname, p.oid FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace s ON s.oid = p.pronamespace
				JOIN pg_class l ON l.relnamespace = s.oid
				WHERE t.tgrelid = c.oid AND p.proname = '`+sqltext.ChangesTrigger+`' AND l.relname = '`+sqltext.ChangesTable+`' ORDER BY p.oid LIMIT 1) f ON true
		WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND am.amname = 'heap'
			AND NOT c.relrowsecurity AND NOT c.relhassubclass AND NOT c.relispartition AND NOT c.relhasrules
			AND n.nspname NOT IN ('pg_catalog', 'information_schema')`)
}

// mysqlOrdered reads the indexes that have rows in an order. Behind its own columns an index of InnoDB has those of the
// primary key; one over the beginning of a column, or one that is not a B-tree, has no order.
func (r *reader) mysqlOrdered(all *named) error {
	last, whole := "", true
	err := r.each(5, func(c row) {
		t := all.get("", c.text(0))
		if t == nil {
			return
		}
		if id := c.text(0) + sep + c.text(1); id != last {
			last, whole = id, true
			t.Ordered = append(t.Ordered, sqltext.Index{})
		}
		ix := &t.Ordered[len(t.Ordered)-1]
		whole = whole && c.yes(4)
		if !whole {
			ix.Columns = nil
			return
		}
		desc := c.text(3) == "D"
		ix.Columns = append(ix.Columns, sqltext.IndexColumn{Name: c.text(2), Desc: desc, NullsFirst: !desc})
	}, `SELECT s.table_name, s.index_name, coalesce(s.column_name, ''), coalesce(s.collation, ''),
			s.index_type = 'BTREE' AND s.sub_part IS NULL AND s.collation IS NOT NULL AND s.column_name IS NOT NULL
		FROM information_schema.statistics s JOIN information_schema.tables t
			ON t.table_schema = s.table_schema AND t.table_name = s.table_name
		WHERE s.table_schema = DATABASE() AND t.engine = 'InnoDB' ORDER BY s.table_name, s.index_name, s.seq_in_index`)
	for _, t := range all.list {
		t.Ordered = slices.DeleteFunc(t.Ordered, func(ix sqltext.Index) bool { return len(ix.Columns) == 0 })
		for i := range t.Ordered {
			follow(&t.Ordered[i], t.Key)
		}
	}
	return err
}

// follow adds the columns of a key that are not there yet.
func follow(ix *sqltext.Index, key []string) {
	for _, name := range key {
		if !slices.ContainsFunc(ix.Columns, func(c sqltext.IndexColumn) bool { return c.Name == name }) {
			ix.Columns = append(ix.Columns, sqltext.IndexColumn{Name: name, NullsFirst: true})
		}
	}
}
