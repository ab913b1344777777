package introspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// sqliteParts finds FTS5 tables of trigrams, and proves that they miss no row. Such a table is a copy, and SQLite itself
// does not know that it belongs to another one: a row that is not in it would be a wrong answer. So it is relied on only
// where the table has the three triggers of the documentation of FTS5, word by word, and nothing else that could write
// to it while they run, and where each row that there is has been indexed.
func (r *reader) sqliteParts(all *named) error {
	if err := r.sqliteRowids(all); err != nil {
		return err
	}
	var found []*ftsTable
	err := r.each(2, func(c row) {
		if f := parseFTS(c.text(0), c.text(1)); f != nil && f.trigrams {
			found = append(found, f)
		}
	}, `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'create virtual table%' ORDER BY name`)
	if err != nil {
		return err
	}
	for _, f := range found {
		at := slices.IndexFunc(all.list, func(t *Table) bool { return !t.View && t.Broken == nil && strings.EqualFold(t.Name, f.content) })
		if at < 0 {
			continue
		}
		t := all.list[at]
		p := &sqltext.Parts{Name: f.name, Columns: f.columns, AnyCase: !f.caseSensitive}
		if p.Refused, err = r.refuse(all, t, f, p); err != nil {
			return fmt.Errorf("full-text table %q: %w", f.name, err)
		}
		if t.Parts == nil || t.Parts.Refused != "" {
			t.Parts = p
		}
	}
	return nil
}

// refuse is why a table of trigrams cannot be relied on; empty where it can.
func (r *reader) refuse(all *named, t *Table, f *ftsTable, p *sqltext.Parts) (string, error) {
	if f.other != "" {
		return "its option or column " + f.other + " is none of content, content_rowid, tokenize = 'trigram' and the columns of " + t.Name, nil
	}
	key, err := r.sqliteRowid(t)
	if err != nil {
		return "", err
	}
	if key == "" || f.rowid != "" && !strings.EqualFold(f.rowid, key) {
		return "its content_rowid is not an INTEGER PRIMARY KEY of " + t.Name, nil
	}
	p.Key = key
	for _, ask := range []func() (string, error){
		func() (string, error) { return r.sameColumns(t, f) },
		func() (string, error) { return r.refuseTriggers(t, f, key) },
		func() (string, error) { return r.refuseActions(all, t) },
		func() (string, error) { return r.refuseRows(t, f, key) },
	} {
		if why, err := ask(); why != "" || err != nil {
			return why, err
		}
	}
	return "", r.each(1, func(c row) { p.Schema = int64(c.number(0)) }, `SELECT schema_version FROM pragma_schema_version`)
}

// sqliteRowid is the column that is another name of the rowid; empty where there is none.
func (r *reader) sqliteRowid(t *Table) (string, error) {
	if len(t.Key) != 1 || t.Column(t.Key[0]) == nil || t.Column(t.Key[0]).Type != "integer" {
		return "", nil
	}
	other := 0
	err := r.each(1, func(c row) { other += c.number(0) }, `SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?
		UNION ALL SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'`, t.Name, t.Name)
	if other > 0 {
		return "", err
	}
	return t.Key[0], err
}

// sqliteRowids finds the tables that could have a table of trigrams.
func (r *reader) sqliteRowids(all *named) (err error) {
	for _, t := range all.list {
		if t.View || t.Broken != nil {
			continue
		}
		if t.Rowid, err = r.sqliteRowid(t); err != nil {
			return err
		}
	}
	return r.each(1, func(c row) {
		for _, t := range all.list {
			if strings.EqualFold(t.Name, c.text(0)) {
				t.Rowid = ""
			}
		}
	}, `SELECT DISTINCT tbl_name FROM sqlite_schema WHERE type = 'trigger'`)
}

// sameColumns holds that SQLite has read the columns of an FTS5 table as this package has, and that they are texts of
// the table.
func (r *reader) sameColumns(t *Table, f *ftsTable) (string, error) {
	var columns []string
	err := r.each(1, func(c row) { columns = append(columns, c.text(0)) }, `SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid`, f.name)
	if err != nil || !slices.Equal(columns, f.columns) {
		return "its columns cannot be read from its statement", err
	}
	for i, name := range f.columns {
		at := slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
		if at < 0 || !isTextual(t.Columns[at].Type) {
			return "its column " + name + " is no column of texts of " + t.Name, nil
		}
		f.columns[i] = t.Columns[at].Name
	}
	return "", nil
}

// isTextual tells whether SQLite keeps values of a declared type as texts.
func isTextual(declared string) bool {
	return !strings.Contains(declared, "int") &&
		(strings.Contains(declared, "char") || strings.Contains(declared, "clob") || strings.Contains(declared, "text"))
}

// refuseTriggers wants the three triggers and no others: one that writes to the row again would run in between.
func (r *reader) refuseTriggers(t *Table, f *ftsTable, key string) (string, error) {
	want, byRowid := f.triggers(t.Name, key), f.triggers(t.Name, "rowid")
	if t.Column("rowid") != nil {
		byRowid = make([]string, len(want))
	}
	others := ""
	err := r.each(2, func(c row) {
		text := triggerText(c.text(1))
		at := max(slices.Index(want, text), slices.Index(byRowid, text))
		if at < 0 || text == "" {
			others = c.text(0)
			return
		}
		want, byRowid = slices.Delete(want, at, at+1), slices.Delete(byRowid, at, at+1)
	}, `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE ORDER BY name`, t.Name)
	switch {
	case err != nil:
		return "", err
	case len(want) > 0 && others != "":
		return "the triggers of " + t.Name + ", such as " + others + ", are not the three of the documentation of FTS5", nil
	case len(want) > 0:
		return t.Name + " lacks triggers that keep it in step", nil
	case others != "":
		return t.Name + " has the trigger " + others + " beside those that keep it in step", nil
	}
	return "", nil
}

// refuseActions wants that nothing writes to a row between its change and the triggers: foreign keys with actions come
// before these, and could lead back by triggers of other tables.
func (r *reader) refuseActions(all *named, t *Table) (string, error) {
	type action struct{ from, to string }
	var actions []action
	why := ""
	for _, other := range all.list {
		err := r.each(3, func(c row) {
			if !strings.EqualFold(c.text(0), other.Name) || c.text(1) == "NO ACTION" || c.text(1) == "RESTRICT" {
				actions = append(actions, action{strings.ToLower(c.text(0)), strings.ToLower(other.Name)})
			} else if strings.EqualFold(other.Name, t.Name) {
				why = t.Name + " refers to itself with ON UPDATE " + c.text(1)
			}
		}, `SELECT "table", on_update, on_delete FROM pragma_foreign_key_list(?)
			WHERE on_update NOT IN ('NO ACTION', 'RESTRICT') OR on_delete NOT IN ('NO ACTION', 'RESTRICT')`, other.Name)
		if err != nil {
			return "", err
		}
	}
	reached := []string{strings.ToLower(t.Name)}
	for i := 0; i < len(reached); i++ {
		for _, a := range actions {
			if a.from == reached[i] && !slices.Contains(reached, a.to) {
				reached = append(reached, a.to)
			}
		}
	}
	for _, name := range reached[1:] {
		err := r.each(1, func(c row) { why = "a foreign key leads from " + t.Name + " to the trigger " + c.text(0) },
			`SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE`, name)
		if err != nil {
			return "", err
		}
	}
	return why, nil
}

// refuseRows wants that each row has been indexed once.
func (r *reader) refuseRows(t *Table, f *ftsTable, key string) (string, error) {
	missing := false
	err := r.each(1, func(row) { missing = true }, "SELECT 1 FROM "+quote(t.Name)+" WHERE "+quote(key)+" NOT IN (SELECT id FROM "+quote(f.name+"_docsize")+") LIMIT 1")
	if missing {
		return "rows of " + t.Name + " are not in it: INSERT INTO " + quote(f.name) + " (" + quote(f.name) + ") VALUES ('rebuild')", err
	}
	return "", err
}
