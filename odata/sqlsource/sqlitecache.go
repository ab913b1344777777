package sqlsource

import (
	"context"
	"errors"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/cursor"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/seekcache"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/sqltext"
)

// cacheBytes bounds the cache of totals and page keys.
const cacheBytes = 16 << 20

// sqliteCache is what decides whether answers of a SQLite database can be cached, and until when.
type sqliteCache struct {
	lite *engine.SQLite
	// writer is Database.Writer, protected Config.Protected.
	writer    *sqlx.DB
	protected func(table string) bool
	mapping   *sqltext.Mapping
}

// use gives a reader the cache, unless a view of the model can change although nobody writes.
func (c *sqliteCache) use(ctx context.Context, r *cursor.Reader) error {
	exposed := c.exposed()
	first, err := c.first(ctx, exposed)
	if err != nil || first.impure {
		return err
	}
	trust := func(ask engine.Asker) (bool, error) {
		now, err := factsOf(ask, exposed)
		return now.serve(first), err
	}
	if err := c.lite.NameVersions(c.ownWriter(exposed, first.indirect), trust); err != nil {
		return err
	}
	r.Marks = seekcache.New(cacheBytes)
	r.Seekable = func(set *edm.EntitySet) bool { return c.mapping.Tables[set].Unique }
	return nil
}

// exposed are the names of all tables that the model reads, in lower case.
func (c *sqliteCache) exposed() map[string]bool {
	names := map[string]bool{}
	for _, t := range c.mapping.Tables {
		names[strings.ToLower(t.Name[len(t.Name)-1])] = true
	}
	for _, l := range c.mapping.Links {
		if len(l.Via) > 0 {
			names[strings.ToLower(l.Via[len(l.Via)-1])] = true
		}
	}
	return names
}

// ownWriter tells which tables the host may write without changing what the model shows: the protected ones. There
// are none as soon as a view or a virtual table is part of the model, which may show anything.
func (c *sqliteCache) ownWriter(exposed map[string]bool, indirect bool) *engine.Writer {
	if c.writer == nil || c.protected == nil {
		return nil
	}
	return &engine.Writer{DB: c.writer.DB, Private: func(table string) bool {
		return !indirect && !exposed[strings.ToLower(table)] && c.protected(table)
	}}
}

// impureWords are words in the definition of a view that let it change although nobody writes.
func impureWords() []string {
	return []string{"now", "current_", "random", "date", "time", "julianday", "unixepoch", "changes", "last_insert_rowid"}
}

// first are the facts of the file that the model was made of.
func (c *sqliteCache) first(ctx context.Context, exposed map[string]bool) (f facts, err error) {
	tx, err := c.lite.Begin(ctx, engine.Need{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	return factsOf(func(query string, row func([]string)) error {
		cur, err := tx.Query(query, nil)
		if err != nil {
			return err
		}
		return errors.Join(eachText(cur, row), cur.Close())
	}, exposed)
}

// eachText hands out rows of three texts.
func eachText(cur engine.Cursor, row func([]string)) error {
	cells, texts := make([]engine.Cell, 3), make([]string, 3)
	for {
		ok, err := cur.Next()
		if err != nil || !ok {
			return err
		}
		if err := cur.Row(cells); err != nil {
			return err
		}
		for i := range cells {
			texts[i] = string(cells[i].Bytes)
		}
		row(texts)
	}
}
