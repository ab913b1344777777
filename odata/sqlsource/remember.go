package sqlsource

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vestibule-dev/vestibule/odata/edm"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/bookmark"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/introspect"
	"github.com/vestibule-dev/vestibule/odata/sqlsource/sqltext"
)

// memory bounds what is remembered about the rows of queries.
const memory = 16 << 20

// remember prepares reading, and for SQLite what is kept while the data stays the same.
func (s *Source) remember(ctx context.Context, db Database, tables []*introspect.Table, m *sqltext.Mapping) error {
	s.reader = &cursor.Reader{DB: s.db, Gen: s.gen}
	lite, ok := s.db.(*engine.SQLite)
	if !ok || db.Forget {
		return nil
	}
	writer, err := s.writer(ctx, db, m)
	if err != nil {
		return err
	}
	if err := lite.NameVersions(writer); err != nil {
		return err
	}
	total := map[*edm.EntitySet]bool{}
	for set, stored := range m.Tables {
		total[set] = totalOrder(find(tables, stored.Name), set, stored)
	}
	s.reader.Marks = bookmark.New(memory)
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

// writer says which tables the host writes without anybody seeing it through the model. As soon as something that is no
// plain table is part of the model there are none: a view may show anything.
func (s *Source) writer(ctx context.Context, db Database, m *sqltext.Mapping) (*engine.Writer, error) {
	if db.Writer == nil {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, t := range m.Tables {
		seen[strings.ToLower(t.Name[len(t.Name)-1])] = true
	}
	for _, l := range m.Links {
		if len(l.Via) > 0 {
			seen[strings.ToLower(l.Via[len(l.Via)-1])] = true
		}
	}
	indirect, err := s.indirect(ctx, seen)
	if err != nil {
		return nil, err
	}
	return &engine.Writer{DB: db.Writer.DB, Private: func(table string) bool {
		table = strings.ToLower(table)
		return !indirect && !seen[table] && (strings.HasPrefix(table, "vestibule_") || table == "users" || table == "password_reset_tokens")
	}}, nil
}

// indirect tells whether one of the tables is a view or a virtual table.
func (s *Source) indirect(ctx context.Context, tables map[string]bool) (found bool, err error) {
	tx, err := s.db.Begin(ctx, false)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	cur, err := tx.Query(`SELECT name FROM sqlite_schema WHERE type = 'view' OR sql LIKE 'create virtual%'`, nil)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cur.Close()) }()
	cells := make([]engine.Cell, 1)
	for {
		ok, err := cur.Next()
		if err != nil || !ok {
			return found, err
		}
		if err := cur.Row(cells); err != nil {
			return false, err
		}
		found = found || tables[strings.ToLower(string(cells[0].Bytes))]
	}
}
