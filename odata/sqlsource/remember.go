package sqlsource

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// memory bounds what is remembered about the rows of queries.
const memory = 16 << 20

// remember prepares reading, and for SQLite what is kept while the data stays the same.
func (s *Source) remember(ctx context.Context, db Database, protected func(string) bool, tables []*introspect.Table, m *sqltext.Mapping) error {
	s.reader = &cursor.Reader{DB: s.db, Gen: s.gen}
	lite, ok := s.db.(*engine.SQLite)
	if !ok || db.Forget {
		return nil
	}
	seen := used(m)
	indirect, restless, err := s.indirect(ctx, seen)
	if err != nil || restless {
		return err
	}
	if err := lite.NameVersions(writer(db, protected, seen, indirect)); err != nil {
		return err
	}
	total := map[*edm.EntitySet]bool{}
	for set, stored := range m.Tables {
		total[set] = totalOrder(find(tables, stored.Name), set, stored)
	}
	s.reader.Marks = seekcache.New(memory)
	s.reader.Seekable = func(set *edm.EntitySet) bool { return total[set] }
	return nil
}

// Version names the state of the data at this moment: while it stays the same, so do the answers to all plans that are
// neither Private nor Volatile. It is empty where the database cannot tell. It reads no table.
func (s *Source) Version(ctx context.Context) string {
	if lite, ok := s.db.(*engine.SQLite); ok {
		return lite.Version(ctx)
	}
	return ""
}

func find(tables []*introspect.Table, name []string) *introspect.Table {
	for _, t := range tables {
		if t.Name == name[len(name)-1] {
			return t
		}
	}
	return nil
}

// totalOrder tells whether the database itself sees to it that no two rows of a set have one key.
func totalOrder(t *introspect.Table, set *edm.EntitySet, stored *sqltext.Table) bool {
	if t == nil || t.View || len(set.Type.Key) == 0 {
		return false
	}
	var key []string
	for _, p := range set.Type.Key {
		key = append(key, stored.Columns[p].Name)
	}
	slices.Sort(key)
	for _, u := range append([][]string{t.Key}, t.Unique...) {
		u = slices.Clone(u)
		slices.Sort(u)
		if len(u) > 0 && slices.Equal(u, key) {
			return true
		}
	}
	return false
}

// used are the names of all tables that the model reads, in lower case.
func used(m *sqltext.Mapping) map[string]bool {
	seen := map[string]bool{}
	for _, t := range m.Tables {
		seen[strings.ToLower(t.Name[len(t.Name)-1])] = true
	}
	for _, l := range m.Links {
		if len(l.Via) > 0 {
			seen[strings.ToLower(l.Via[len(l.Via)-1])] = true
		}
	}
	return seen
}

// writer says which tables the host writes without anybody seeing it through the model: those that are protected. As soon as something that is no
// plain table is part of the model there are none: a view may show anything.
func writer(db Database, protected func(string) bool, seen map[string]bool, indirect bool) *engine.Writer {
	if db.Writer == nil || protected == nil {
		return nil
	}
	return &engine.Writer{DB: db.Writer.DB, Private: func(table string) bool {
		return !indirect && !seen[strings.ToLower(table)] && protected(table)
	}}
}

// clocks are words in the definition of a view that let it change by itself.
func clocks() []string {
	return []string{"now", "current_", "random", "date", "time", "julianday", "unixepoch", "changes", "last_insert_rowid"}
}

// indirect tells whether one of the tables is a view or a virtual table, and whether such a view may show something else
// though nobody wrote: then nothing can be remembered.
func (s *Source) indirect(ctx context.Context, tables map[string]bool) (found, restless bool, err error) {
	tx, err := s.db.Begin(ctx, engine.Need{})
	if err != nil {
		return false, false, err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	cur, err := tx.Query(`SELECT name, lower(sql) FROM sqlite_schema WHERE type = 'view' OR sql LIKE 'create virtual%'`, nil)
	if err != nil {
		return false, false, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	cells := make([]engine.Cell, 2)
	for {
		ok, err := cur.Next()
		if err != nil || !ok {
			return found, found && restless, err
		}
		if err := cur.Row(cells); err != nil {
			return false, false, err
		}
		found = found || tables[strings.ToLower(string(cells[0].Bytes))]
		for _, word := range clocks() {
			restless = restless || strings.Contains(string(cells[1].Bytes), word)
		}
	}
}
