package introspect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
	"github.com/vestibule-dev/vestibule/v2/odata/scalar"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

func (r *reader) sqlite() ([]*Table, error) {
	var all named
	err := r.each(4, func(c row) {
		t := &Table{Name: c.text(0), View: c.text(1) == "view", strict: c.yes(2)}
		t.rowid = !t.View && !c.yes(3)
		if t.rowid && !t.strict {
			t.RowID = "rowid"
		}
		all.add(t)
	}, `SELECT name, type, strict, wr FROM pragma_table_list
		WHERE schema = 'main' AND type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	if err := r.sqliteVirtual(&all); err != nil {
		return nil, err
	}
	collations := false
	err = r.each(1, func(row) { collations = true }, `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%collate%' LIMIT 1`)
	if err != nil {
		return nil, fmt.Errorf("read collations: %w", err)
	}
	columns := func(t *Table) error { return r.sqliteColumns(t, collations) }
	for _, read := range []func(*Table) error{columns, r.sqliteIndexes, r.sqliteForeign, r.sqliteRules} {
		for _, t := range all.list {
			if t.Broken != nil {
				continue
			}
			if err := t.passOver(read(t)); err != nil {
				return nil, err
			}
		}
	}
	if err := r.sqliteStatements(&all); err != nil {
		return nil, err
	}
	folded := map[string]*Table{}
	for _, t := range all.list {
		folded[strings.ToLower(t.Name)] = t
	}
	for _, t := range all.list {
		for i := range t.Foreign {
			resolveSQLite(folded, &t.Foreign[i])
		}
		if t.Broken != nil {
			continue
		}
		if err := t.passOver(r.sqliteLayouts(t)); err != nil {
			return nil, err
		}
	}
	return all.list, r.sqliteFTS(&all)
}

// passOver keeps what the database says of a table that it cannot read, such as a view over a table that was dropped, or a
// table with functions of the application that made it. It returns every other error.
func (t *Table) passOver(err error) error {
	if err == nil || sqlite3.PrimaryCode(err) != sqlite3.CodeError {
		return err
	}
	t.Broken = err
	return nil
}

// sqliteVirtual adds the virtual tables whose module is missing. Others are no tables to expose.
func (r *reader) sqliteVirtual(all *named) error {
	var virtual []*Table
	err := r.each(1, func(c row) { virtual = append(virtual, &Table{Name: c.text(0)}) },
		`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual' ORDER BY name`)
	if err != nil {
		return err
	}
	for _, t := range virtual {
		if err := t.passOver(r.each(1, func(row) {}, "SELECT 1 FROM "+quote(t.Name)+" LIMIT 0")); err != nil {
			return fmt.Errorf("virtual table %q: %w", t.Name, err)
		}
		if t.Broken != nil {
			all.add(t)
		}
	}
	return nil
}

// resolveSQLite finds the table by its real name, whose case may differ, and the key it means when no column is named.
func resolveSQLite(folded map[string]*Table, f *ForeignKey) {
	t := folded[strings.ToLower(f.Table)]
	if t == nil {
		return
	}
	f.Table = t.Name
	if len(f.Referenced) == 0 {
		f.Referenced = t.Key
	}
	for i, name := range f.Referenced {
		for _, c := range t.Columns {
			if strings.EqualFold(c.Name, name) {
				f.Referenced[i] = c.Name
			}
		}
	}
}

// sqliteColumns reads the columns of a table. SQLite has no query for a column's collation, which views keep: where some table
// has one, each column that may hold texts counts as one.
func (r *reader) sqliteColumns(t *Table, collations bool) error {
	keys := map[int]string{}
	err := r.each(6, func(c row) {
		typ, length, scale := splitType(c.text(1))
		col := Column{
			Name: c.text(0), Type: typ, Length: length, Precision: length, Scale: scale,
			Nullable: !c.yes(2), Generated: c.number(4) > 1, Default: c[5].Kind != engine.Null && !strings.EqualFold(c.text(5), "null"),
			Standard: c.text(5), Loose: looseness(t, typ), Certain: t.strict && slices.Contains([]string{"int", "integer", "real", "text", "blob"}, typ),
		}
		if collations && col.Loose != sqltext.LooseNumeric && col.Loose != sqltext.LooseReal {
			col.Collation = "nondeterministic"
		}
		if pk := c.number(3); pk > 0 {
			keys[pk] = col.Name
		}
		t.Columns = append(t.Columns, col)
	}, `SELECT name, type, "notnull", pk, hidden, dflt_value FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid`, t.Name)
	for i := 1; i <= len(keys); i++ {
		t.Key = append(t.Key, keys[i])
	}
	if err != nil { // such as a view over a table that was dropped
		return fmt.Errorf("columns of %q: %w", t.Name, err)
	}
	return nil
}

// looseness is how SQLite stores what a column is given, by the affinity of its declared type.
// https://www.sqlite.org/datatype3.html#determination_of_column_affinity
func looseness(t *Table, declared string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(declared, part) })
	}
	switch {
	case t.View || declared == "":
		return sqltext.LooseAny
	case has("int"):
		return sqltext.LooseNumeric
	case has("char", "clob", "text"):
		return sqltext.LooseText
	case has("blob"):
		return sqltext.LooseAny
	case has("real", "floa", "doub"):
		return sqltext.LooseReal
	}
	return sqltext.LooseNumeric
}

// splitType takes "DECIMAL(10, 2)" apart.
func splitType(declared string) (name string, first, second int) {
	first, second = -1, -1
	name, params, ok := strings.Cut(strings.ToLower(strings.TrimSpace(declared)), "(")
	if ok {
		params, _, _ = strings.Cut(params, ")")
		a, b, two := strings.Cut(params, ",")
		if n, err := strconv.Atoi(strings.TrimSpace(a)); err == nil {
			first = n
		}
		if n, err := strconv.Atoi(strings.TrimSpace(b)); err == nil && two {
			second = n
		}
	}
	return strings.TrimSpace(name), first, second
}

func (r *reader) sqliteIndexes(t *Table) error {
	type index struct {
		name   string
		unique bool
		key    bool
	}
	var list []index
	alias := t.rowid && len(t.Key) == 1
	err := r.each(3, func(c row) {
		list = append(list, index{c.text(0), c.yes(1), c.text(2) == "pk"})
		alias = alias && c.text(2) != "pk"
	}, `SELECT name, "unique", origin FROM pragma_index_list(?) WHERE partial = 0 ORDER BY seq DESC`, t.Name)
	if err != nil {
		return err
	}
	// Without an index the key is the rowid. SQLite stores nulls in any other, but in strict tables and those without a rowid.
	if !slices.ContainsFunc(list, func(ix index) bool { return ix.key }) || t.RowID == "" {
		for _, name := range t.Key {
			t.Column(name).Nullable = false
		}
	}
	t.numbered()
	if alias { // of the rowid, which is an integer
		t.Column(t.Key[0]).Certain, t.Column(t.Key[0]).Counted = true, true
	}
	for _, ix := range list {
		var columns []string
		expression := false
		err := r.each(1, func(c row) {
			columns = append(columns, c.text(0))
			expression = expression || c.text(0) == ""
		}, `SELECT name FROM pragma_index_info(?) ORDER BY seqno`, ix.name)
		if err != nil {
			return err
		}
		if expression || len(columns) == 0 {
			continue
		}
		t.Indexes = append(t.Indexes, columns)
		if ix.unique {
			t.unique(columns)
		}
	}
	return nil
}

// numbered keeps RowID where a part of the key may be null, under a name that is no column's.
func (t *Table) numbered() {
	nullable := slices.ContainsFunc(t.Key, func(name string) bool { return t.Column(name).Nullable })
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if nullable && t.RowID != "" && !slices.ContainsFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) }) {
			t.RowID = name
			return
		}
	}
	t.RowID = ""
}

// unique adds the columns of a unique index, unless they are those of the key, or not all of them columns.
func (t *Table) unique(columns []string) {
	is := func(what func(*Column) bool) bool {
		return slices.ContainsFunc(columns, func(name string) bool { return what(t.Column(name)) })
	}
	switch {
	case sameColumns(columns, t.Key), is(func(c *Column) bool { return c == nil }):
	case is(func(c *Column) bool { return c.Nullable }):
		t.UniqueOrNull = append(t.UniqueOrNull, columns)
	default:
		t.Unique = append(t.Unique, columns)
	}
}

func sameColumns(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (r *reader) sqliteForeign(t *Table) error {
	last := -1
	return r.each(6, func(c row) {
		if id := c.number(0); id != last {
			t.Foreign = append(t.Foreign, ForeignKey{Table: c.text(1), OnDelete: c.text(4), OnUpdate: c.text(5)})
			last = id
		}
		f := &t.Foreign[len(t.Foreign)-1]
		f.Columns = append(f.Columns, c.text(2))
		if to := c.text(3); to != "" {
			f.Referenced = append(f.Referenced, to)
		}
	}, `SELECT id, "table", "from", "to", on_delete, on_update FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq`, t.Name)
}

// sqliteFTS finds FTS5 tables of words whose content is one of the tables. A table of trigrams has no words.
func (r *reader) sqliteFTS(all *named) error {
	type ftsTable struct{ name, content string }
	var found []ftsTable
	options := regexp.MustCompile(`(?i)[(,]\s*(content|tokenize)\s*=\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|[^\s,)]+)`)
	err := r.each(2, func(c row) {
		f := ftsTable{name: c.text(0)}
		for _, option := range options.FindAllStringSubmatch(c.text(1), -1) {
			value := unquote(option[2])
			if strings.EqualFold(option[1], "content") {
				f.content = value
			} else if words := strings.Fields(value); len(words) > 0 && strings.EqualFold(unquote(words[0]), "trigram") {
				return
			}
		}
		if f.content != "" {
			found = append(found, f)
		}
	}, `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'create virtual table%using%fts5%(%'`)
	if err != nil {
		return err
	}
	for _, f := range found {
		ft := &sqltext.FullText{Table: f.name}
		err := r.each(1, func(c row) { ft.Columns = append(ft.Columns, c.text(0)) }, `SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid`, f.name)
		if err != nil {
			return err
		}
		for _, t := range all.list {
			if strings.EqualFold(t.Name, f.content) {
				t.Search = ft
			}
		}
	}
	return nil
}

// unquote takes the quotes of a name off.
func unquote(s string) string {
	if len(s) < 2 {
		return s
	}
	switch inner := s[1 : len(s)-1]; s[0] {
	case '"', '\'', '`':
		return strings.ReplaceAll(inner, s[:1]+s[:1], s[:1])
	case '[':
		return inner
	}
	return s
}

// samples is how many values of a column are looked at.
const samples = 200

// sqliteLayouts looks at stored values of the columns whose declared type leaves their form open.
func (r *reader) sqliteLayouts(t *Table) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Type == "" {
			if err := r.sqliteTypeOf(t, c); err != nil {
				return err
			}
		}
		classify := classifier(c.Type)
		if classify == nil {
			continue
		}
		query := "SELECT " + quote(c.Name) + " FROM " + quote(t.Name) + " WHERE " + quote(c.Name) + " IS NOT NULL LIMIT ?"
		err := r.each(1, func(v row) {
			layout := classify(v[0])
			if c.Stored != "" && c.Stored != layout {
				layout = scalar.LayoutMixed
			}
			c.Stored = layout
		}, query, int64(samples))
		if err != nil {
			return err
		}
		if c.Stored == "" {
			c.Stored = scalar.LayoutMixed
		}
	}
	return nil
}

// sqliteTypeOf finds the type of a column that has none, such as an expression in a view, by its values.
func (r *reader) sqliteTypeOf(t *Table, c *Column) error {
	query := "SELECT DISTINCT typeof(" + quote(c.Name) + ") FROM (SELECT " + quote(c.Name) + " FROM " + quote(t.Name) +
		" WHERE " + quote(c.Name) + " IS NOT NULL LIMIT ?)"
	var kinds []string
	err := r.each(1, func(v row) { kinds = append(kinds, v.text(0)) }, query, int64(samples))
	if len(kinds) == 1 {
		c.Type = kinds[0]
	}
	if len(kinds) == 2 && kinds[0] != "text" && kinds[1] != "text" && kinds[0] != "blob" && kinds[1] != "blob" {
		c.Type = "real"
	}
	return err
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func classifier(typ string) func(engine.Cell) string {
	switch {
	case strings.HasPrefix(typ, "datetime"), strings.HasPrefix(typ, "timestamp"):
		return instantLayout
	case typ == "date":
		return func(c engine.Cell) string { return shape(c, "dddd-dd-dd", scalar.LayoutText) }
	case typ == "uuid", typ == "guid", typ == "uniqueidentifier":
		return guidLayout
	}
	return nil
}

func instantLayout(c engine.Cell) string {
	if c.Kind == engine.Int {
		return scalar.LayoutUnix
	}
	for _, layout := range [][2]string{
		{"dddd-dd-dd dd:dd:dd", scalar.LayoutSpace}, {"dddd-dd-ddTdd:dd:dd", scalar.LayoutT}, {"dddd-dd-ddTdd:dd:ddZ", scalar.LayoutZ},
	} {
		if shape(c, layout[0], layout[1]) != scalar.LayoutMixed {
			return layout[1]
		}
	}
	return scalar.LayoutMixed
}

func guidLayout(c engine.Cell) string {
	switch {
	case c.Kind == engine.Blob && len(c.Bytes) == 16:
		return scalar.LayoutBlob
	case c.Kind == engine.Text && len(c.Bytes) == 36 && strings.ToLower(string(c.Bytes)) == string(c.Bytes):
		return scalar.LayoutText
	}
	return scalar.LayoutMixed
}

// shape gives the layout when the text looks like the pattern, in which d is a digit.
func shape(c engine.Cell, pattern, layout string) string {
	if c.Kind != engine.Text || len(c.Bytes) != len(pattern) {
		return scalar.LayoutMixed
	}
	for i, b := range c.Bytes {
		if pattern[i] == 'd' && (b < '0' || b > '9') || pattern[i] != 'd' && pattern[i] != b {
			return scalar.LayoutMixed
		}
	}
	return layout
}
