package introspect

import (
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// inOrder puts the unique indexes behind that of the primary key into the order of the columns that they begin with.
func (t *Table) inOrder(unique []sqltext.Constraint) {
	place := func(c sqltext.Constraint) int {
		return slices.IndexFunc(t.Columns, func(column Column) bool { return column.Name == c.Columns[0] })
	}
	slices.SortStableFunc(unique, func(a, b sqltext.Constraint) int { return place(a) - place(b) })
}

// foreignRules makes the rules of the foreign keys, which every database lists in the same way.
func (t *Table) foreignRules() {
	for _, f := range t.Foreign {
		t.Rules.Foreign = append(t.Rules.Foreign, sqltext.Constraint{Name: f.Name, Columns: f.Columns})
		t.Rules.Own = t.Rules.Own || f.Table == t.Name && f.Schema == t.Schema
	}
}

func (r *reader) postgresRules(all *named) error {
	for _, t := range all.list {
		t.foreignRules()
	}
	err := r.of(all, 5, func(t *Table, c row) {
		rule := sqltext.Constraint{Name: c.text(3), Columns: strings.FieldsFunc(c.text(4), func(r rune) bool { return string(r) == sep })}
		switch c.text(2) {
		case "unique":
			t.Rules.Unique = append(t.Rules.Unique, rule)
		case "check":
			t.Rules.Checks = append(t.Rules.Checks, rule)
		}
	}, `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname, x.kind, x.name,
			coalesce((SELECT string_agg(a.attname, chr(31) ORDER BY k.n) FROM unnest(x.columns) WITH ORDINALITY k(num, n)
				JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num), '')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN (
			SELECT 'unique' AS kind, i.indrelid AS relation, ix.relname AS name, (i.indkey::int[])[0:i.indnkeyatts - 1] AS columns, NOT i.indisprimary AS later, i.indexrelid AS id
			FROM pg_index i JOIN pg_class ix ON ix.oid = i.indexrelid WHERE i.indisunique
			UNION ALL SELECT 'check', o.conrelid, o.conname, o.conkey::int[], true, o.oid FROM pg_constraint o WHERE o.contype = 'c') x ON x.relation = c.oid
		WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY c.oid, x.later, x.id`)
	if err != nil {
		return err
	}
	return r.of(all, 2, func(t *Table, _ row) { t.Rules.Triggers = true },
		`SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname END, c.relname
		FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_proc p ON p.oid = t.tgfoid
		WHERE NOT t.tgisinternal AND p.proname <> '`+sqltext.ChangesTrigger+`' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`)
}

func (r *reader) mysqlRules(all *named) error {
	for _, t := range all.list {
		t.foreignRules()
	}
	err := r.each(4, func(c row) {
		t := all.get("", c.text(0))
		if t == nil {
			return
		}
		n := len(t.Rules.Unique)
		if n == 0 || t.Rules.Unique[n-1].Name != c.text(1) {
			t.Rules.Unique = append(t.Rules.Unique, sqltext.Constraint{Name: c.text(1)})
			n++
		}
		t.Rules.Unique[n-1].Columns = append(t.Rules.Unique[n-1].Columns, c.text(2))
	}, `SELECT table_name, index_name, coalesce(column_name, ''), seq_in_index FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND non_unique = 0 ORDER BY table_name, index_name <> 'PRIMARY', index_name, seq_in_index`)
	if err != nil {
		return err
	}
	for _, t := range all.list {
		if u := t.Rules.Unique; len(u) > 0 && u[0].Name == "PRIMARY" {
			t.inOrder(u[1:])
		} else {
			t.inOrder(u)
		}
	}
	err = r.each(1, func(c row) {
		if t := all.get("", c.text(0)); t != nil {
			t.Rules.Triggers = true
		}
	}, `SELECT event_object_table FROM information_schema.triggers WHERE event_object_schema = DATABASE()`)
	if err != nil {
		return err
	}
	query, err := r.mysqlCheckQuery()
	if query == "" || err != nil {
		return err
	}
	return r.each(3, func(c row) {
		if t := all.get("", c.text(0)); t != nil {
			columns := t.mentioned(c.text(2))
			t.Rules.Checks = append(t.Rules.Checks, sqltext.Constraint{Name: c.text(1), Columns: columns})
			if slices.Contains(columns, c.text(1)) { // one of a column, which errors name in this way
				t.Rules.Checks = append(t.Rules.Checks, sqltext.Constraint{Name: t.Name + "." + c.text(1), Columns: columns})
			}
		}
	}, query)
}

// mysqlCheckQuery returns the query for check constraints; empty where the server has none. Only MariaDB lists their tables with them.
func (r *reader) mysqlCheckQuery() (query string, err error) {
	err = r.each(1, func(c row) {
		if query == "" {
			query = `SELECT t.table_name, c.constraint_name, c.check_clause FROM information_schema.check_constraints c JOIN information_schema.table_constraints t
				ON t.constraint_schema = c.constraint_schema AND t.constraint_name = c.constraint_name WHERE c.constraint_schema = DATABASE()`
		}
		if strings.EqualFold(c.text(0), "table_name") {
			query = `SELECT table_name, constraint_name, check_clause FROM information_schema.check_constraints WHERE constraint_schema = DATABASE()`
		}
	}, `SELECT column_name FROM information_schema.columns WHERE table_schema = 'information_schema' AND table_name = 'CHECK_CONSTRAINTS'`)
	return query, err
}

func (r *reader) sqliteRules(t *Table) error {
	if t.View {
		return nil
	}
	t.foreignRules()
	if len(t.Key) > 0 {
		t.Rules.Unique = append(t.Rules.Unique, sqltext.Constraint{Columns: t.Key})
	}
	var list []sqltext.Constraint
	err := r.each(2, func(c row) {
		if n := len(list); n == 0 || list[n-1].Name != c.text(0) {
			list = append(list, sqltext.Constraint{Name: c.text(0)})
		}
		list[len(list)-1].Columns = append(list[len(list)-1].Columns, c.text(1))
	}, `SELECT l.name, coalesce(i.name, '') FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i
		WHERE l."unique" AND l.origin <> 'pk' ORDER BY l.seq DESC, i.seqno`, t.Name)
	if err != nil {
		return err
	}
	t.inOrder(list)
	t.Rules.Unique = append(t.Rules.Unique, list...)
	return nil
}

// sqliteStatements finds the checks of tables, and whether they have triggers, in the statements of the schema.
func (r *reader) sqliteStatements(all *named) error {
	err := r.of(all, 3, func(t *Table, c row) { t.Rules.Checks = t.checks(c.text(2)) }, `SELECT '', name, sql FROM sqlite_schema WHERE type = 'table'`)
	if err != nil {
		return err
	}
	return r.of(all, 2, func(t *Table, _ row) { t.Rules.Triggers = true },
		`SELECT DISTINCT '', t.name FROM sqlite_schema t JOIN sqlite_schema x ON x.tbl_name = t.name COLLATE NOCASE WHERE x.type = 'trigger' AND t.type = 'table'`)
}

// token is a word, a quoted name or text, or a sign of SQL.
type token struct {
	text string
	// name reports whether the token can be a name; from and to are its place.
	name     bool
	from, to int
}

// tokens takes SQL apart. Comments and blanks are left out.
func tokens(sql string) []token {
	var out []token
	for i := 0; i < len(sql); {
		from := i
		switch c := sql[i]; {
		case c == '-' && strings.HasPrefix(sql[i:], "--"):
			i += len(line(sql[i:]))
			continue
		case c == '/' && strings.HasPrefix(sql[i:], "/*"):
			_, rest, _ := strings.Cut(sql[i+2:], "*/")
			i = len(sql) - len(rest)
			continue
		case strings.IndexByte("\"'`[", c) >= 0:
			i = quotedEnd(sql, i)
			out = append(out, token{unquote(sql[from:i]), c != '\'', from, i})
			continue
		case letter(c):
			for i < len(sql) && (letter(sql[i]) || sql[i] >= '0' && sql[i] <= '9' || sql[i] == '$') {
				i++
			}
			out = append(out, token{sql[from:i], true, from, i})
			continue
		case c > ' ':
			out = append(out, token{sql[from : i+1], false, from, i + 1})
		}
		i++
	}
	return out
}

func line(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

func letter(c byte) bool { return c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' }

// quotedEnd returns the place behind a name or text in quotes that begins at i; two quotes are one in it.
func quotedEnd(sql string, i int) int {
	end := sql[i]
	if end == '[' {
		end = ']'
	}
	for i++; i < len(sql); i++ {
		if sql[i] != end {
			continue
		}
		if i+1 < len(sql) && sql[i+1] == end && end != ']' {
			i++
			continue
		}
		return i + 1
	}
	return len(sql)
}

// mentioned returns the columns of the table that an expression names.
func (t *Table) mentioned(expression string) []string {
	var out []string
	for _, word := range tokens(expression) {
		for _, c := range t.Columns {
			if word.name && strings.EqualFold(c.Name, word.text) && !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// checks returns the check constraints in the statement that made a table of SQLite. One without a name has its expression as
// name, which is how SQLite names it in an error.
func (t *Table) checks(sql string) []sqltext.Constraint {
	var out []sqltext.Constraint
	words := tokens(sql)
	for i := range words {
		if !strings.EqualFold(words[i].text, "check") || i+1 == len(words) || words[i+1].text != "(" {
			continue
		}
		last, depth := i+1, 0
		for ; last < len(words); last++ {
			if words[last].text == "(" && !words[last].name {
				depth++
			} else if words[last].text == ")" && !words[last].name {
				depth--
			}
			if depth == 0 {
				break
			}
		}
		if last == len(words) {
			return out
		}
		expression := sql[words[i+1].to:words[last].from]
		rule := sqltext.Constraint{Name: strings.TrimSpace(expression), Columns: t.mentioned(expression)}
		if i >= 2 && strings.EqualFold(words[i-2].text, "constraint") {
			rule.Name = words[i-1].text
		}
		out = append(out, rule)
	}
	return out
}
