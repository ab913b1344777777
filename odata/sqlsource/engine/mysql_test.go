package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/host/store/mysql"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// A connection that a host has opened, and that is closed when its context ends, is used again exactly where its statements
// were waited for.
func TestStatementsEndWithTheirContext(t *testing.T) {
	pool, err := mysql.Open(t.Context(), dbtest.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	pool.SetMaxConnections(1)
	db, err := engine.NewMySQL(t.Context(), pool.Reader().DB)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, query string, rows int) (first int64, err error) {
		tx, err := db.Begin(ctx, engine.Need{})
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, tx.Close()) }()
		cur, err := tx.Query(query, nil)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, cur.Close()) }()
		cells := make([]engine.Cell, 1)
		for range rows {
			if ok, err := cur.Next(); err != nil || !ok {
				return 0, err
			}
			if err := cur.Row(cells); err != nil {
				return 0, err
			}
			first = cells[0].Int
		}
		return first, nil
	}
	id := func() int64 {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		n, err := ask(ctx, "SELECT CONNECTION_ID()", 1)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		return n
	}
	before := id()
	for name, query := range map[string]string{
		"before a row": "SELECT SLEEP(60)", "between rows": `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
			SELECT i FROM n UNION ALL SELECT SLEEP(60)`,
	} {
		if again := id(); again != before {
			t.Errorf("%s: a connection that was waited for is %d and then %d", name, before, again)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := ask(ctx, query, 1000); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		now := id()
		if now == before {
			t.Errorf("%s: a connection whose context has ended is used again", name)
		}
		before = now
	}
}
