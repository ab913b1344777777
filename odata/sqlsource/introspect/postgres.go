package introspect

import (
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// sep parts the names of a list inside of one text.
const sep = "\x1f"

func (r *reader) postgres() ([]*Table, error) {
	var all named
	err := r.each(4, func(c row) {
		all.add(&Table{Schema: c.text(0), Name: c.text(1), View: c.yes(2), Comment: c.text(3)})
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname,
			c.relkind IN ('v', 'm'), coalesce(obj_description(c.oid, 'pg_class'), '')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
			AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_%'
		ORDER BY n.nspname <> current_schema(), n.nspname, c.relname`)
	if err != nil {
		return nil, err
	}
	for _, read := range []func(*named) error{r.postgresColumns, r.postgresKeys, r.postgresForeign, r.postgresIndexes, r.postgresOrdered, r.postgresFinds, r.postgresOrdinary, r.postgresRules} {
		if err := read(&all); err != nil {
			return nil, err
		}
	}
	for _, t := range all.list {
		t.prefixes()
	}
	return all.list, nil
}

// postgresColumns resolves domains to the type below them.
func (r *reader) postgresColumns(all *named) error {
	return r.of(all, 17, func(t *Table, c row) {
		typ, mod := c.text(3), c.number(4)
		col := Column{
			Name: c.text(2), Type: typ, Length: -1, Precision: -1, Scale: -1,
			Nullable: !c.yes(5), Generated: c.yes(6), Comment: c.text(7), Collation: c.text(8),
			Counted: c.yes(11), Default: c.yes(12), Cast: c.text(13), Declared: c.text(14),
		}
		if standard := c.text(16); !strings.Contains(standard, "nextval") {
			col.Standard = standard
		}
		switch col.Cast { // without a length these have one character
		case "character":
			col.Cast = "bpchar"
		case "bit":
			col.Cast = "bit varying"
		}
		switch {
		case c.text(9) == "e":
			col.Type, col.Members = "enum", strings.Split(c.text(15), sep)
		case typ == "numeric" && mod > 4:
			col.Precision, col.Scale = (mod-4)>>16&0xffff, (mod-4)&0x7ff^1024-1024 // 11 bits with a sign
		case strings.HasSuffix(typ, "[]"): // whose parameters are those of the elements
		case mod >= 0 && (strings.HasPrefix(typ, "time") || typ == "interval") && mod&0xffff <= 6:
			col.Precision = mod & 0xffff // that of an interval without one is 65535
		case mod > 4 && (strings.HasPrefix(typ, "character") || typ == "bpchar"):
			col.Length = mod - 4
		}
		t.Columns = append(t.Columns, col)
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, a.attname,
			format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL),
			CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END::bigint,
			a.attnotnull OR t.typnotnull, a.attgenerated <> '' OR a.attidentity = 'a',
			coalesce(col_description(c.oid, a.attnum), ''),
			coalesce(CASE WHEN NOT co.collisdeterministic THEN 'nondeterministic'
				WHEN co.collname = 'C' OR co.collname = 'default' AND (SELECT d.datcollate IN ('C', 'POSIX')
					AND coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') = 'c' FROM pg_database d WHERE d.datname = current_database()) THEN 'C'
				ELSE co.collname END, ''), t.typtype::text, a.attnum::bigint,
			a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false),
			a.atthasdef AND a.attgenerated = '' OR t.typdefault IS NOT NULL, format_type(t.oid, NULL), format_type(t.oid, a.atttypmod),
			coalesce((SELECT string_agg(e.enumlabel, chr(31) ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid), ''),
			CASE WHEN a.attgenerated = '' THEN coalesce(pg_get_expr(d.adbin, d.adrelid), t.typdefault, '') ELSE '' END
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation co ON co.oid = a.attcollation
			LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
			AND n.nspname NOT IN ('pg_catalog', 'information_schema')
		ORDER BY c.oid, a.attnum`)
}

func (r *reader) postgresKeys(all *named) error {
	return r.of(all, 4, func(t *Table, c row) {
		columns := strings.Split(c.text(3), sep)
		if c.yes(2) {
			t.Key = columns
		} else {
			t.unique(columns)
		}
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, i.indisprimary,
			(SELECT string_agg(a.attname, chr(31) ORDER BY k.n) FROM unnest(i.indkey::int[]) WITH ORDINALITY k(num, n)
				JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num)
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
			AND n.nspname NOT IN ('pg_catalog', 'information_schema')
			AND i.indnkeyatts = i.indnatts
		ORDER BY c.oid, i.indisprimary DESC, i.indexrelid`)
}

func (r *reader) postgresForeign(all *named) error {
	return r.of(all, 9, func(t *Table, c row) {
		t.Foreign = append(t.Foreign, ForeignKey{
			Name: c.text(2), Columns: strings.Split(c.text(3), sep),
			Schema: c.text(4), Table: c.text(5), Referenced: strings.Split(c.text(6), sep),
			OnDelete: c.text(7), OnUpdate: c.text(8),
		})
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, f.conname,
			(SELECT string_agg(a.attname, chr(31) ORDER BY k.n) FROM unnest(f.conkey) WITH ORDINALITY k(num, n)
				JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.num),
			CASE WHEN fn.nspname = current_schema() THEN '' ELSE fn.nspname END, fc.relname,
			(SELECT string_agg(a.attname, chr(31) ORDER BY k.n) FROM unnest(f.confkey) WITH ORDINALITY k(num, n)
				JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.num),
			CASE f.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' ELSE '' END,
			CASE f.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' ELSE '' END
		FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_class fc ON fc.oid = f.confrelid JOIN pg_namespace fn ON fn.oid = fc.relnamespace
		WHERE f.contype = 'f' AND NOT c.relispartition
		ORDER BY c.oid, f.conname`)
}

// postgresIndexes reads the leading columns of every index.
func (r *reader) postgresIndexes(all *named) error {
	return r.of(all, 3, func(t *Table, c row) {
		if columns := c.text(2); columns != "" {
			t.Indexes = append(t.Indexes, strings.Split(columns, sep))
		}
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname,
			coalesce((SELECT string_agg(a.attname, chr(31) ORDER BY k.n) FROM unnest(i.indkey::int[]) WITH ORDINALITY k(num, n)
				JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num), '')
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE i.indpred IS NULL AND i.indexprs IS NULL AND n.nspname NOT IN ('pg_catalog', 'information_schema')
		ORDER BY c.oid, i.indexrelid`)
}

// caseCollation finds a collation whose upper and lower map each letter to one letter. ICU maps "ß" to "SS", and C maps
// only ASCII; where the default is neither, it is empty.
func (r *reader) caseCollation() (string, error) {
	name := ""
	err := r.each(1, func(c row) { name = c.text(0) }, `SELECT c.collname FROM pg_collation c, pg_database d
		WHERE d.datname = current_database() AND pg_encoding_to_char(d.encoding) = 'UTF8'
			AND (coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') = 'i' OR d.datctype IN ('C', 'POSIX'))
			AND c.collname IN ('pg_c_utf8', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'en_US.UTF-8') AND c.collprovider IN ('b', 'c')
		ORDER BY array_position(ARRAY['pg_c_utf8', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'en_US.UTF-8'], c.collname::text) DESC`)
	return name, err
}

// postgresFinds reads the indexes that find parts of texts: those of pg_trgm over a whole column and all rows, in the
// collation of the column or in that of code points. From PostgreSQL 18 on pg_trgm makes letters small by the rules of the
// database's locale, which may look at the letters around; before, and in locales of libc, each letter counts alone.
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
