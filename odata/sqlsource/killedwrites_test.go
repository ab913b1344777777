package sqlsource_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// A database is killed again and again while eight people write pairs of orders, each pair in a transaction: every pair that was
// acknowledged is there afterwards, none is there by half, and none that was refused.
func TestKilledDatabaseLosesNothing(t *testing.T) {
	for _, dialect := range []string{"postgres", "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			server := dbtest.NewKillable(t, dialect)
			driver := map[string]string{"postgres": "pgx", "mysql": "mysql"}[dialect]
			db, err := sqlx.Open(driver, server.DSN)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			fill(t, db.DB, ordersScript(dialect))
			patience := func(context.Context) time.Duration { return time.Minute }
			w := writer{t, open(t, sqlsource.Database{Dialect: dialect, DB: db, Wait: patience}, ordersConfig(nil)), tenant(1)}
			var all sync.WaitGroup
			var mu sync.Mutex
			var over atomic.Bool
			outcomes := map[string]string{}
			for person := range 8 {
				all.Go(func() {
					for n := 0; !over.Load(); n++ {
						pair := fmt.Sprintf("p%d-%d", person, n)
						outcome := w.pair(pair)
						mu.Lock()
						outcomes[pair] = outcome
						mu.Unlock()
					}
				})
			}
			for n := range 4 {
				time.Sleep(700 * time.Millisecond)
				kill := server.Kill
				if dialect == "postgres" && n%2 == 1 {
					kill = server.KillSession
				}
				if err := kill(); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(500 * time.Millisecond)
			over.Store(true)
			all.Wait()
			there := map[string]int{}
			var codes []string
			if err := db.Select(&codes, "SELECT code FROM orders WHERE code LIKE 'p%-%'"); err != nil {
				t.Fatal(err)
			}
			for _, code := range codes {
				there[strings.TrimRight(code, "ab")]++
			}
			counts := map[string]int{}
			for pair, outcome := range outcomes {
				counts[outcome]++
				switch n := there[pair]; {
				case n == 1:
					t.Errorf("%s (%s) is there by half", pair, outcome)
				case outcome == "done" && n == 0:
					t.Errorf("%s was acknowledged and is lost", pair)
				case outcome != "done" && outcome != "unknown" && n > 0:
					t.Errorf("%s was refused (%s) and is there", pair, outcome)
				}
			}
			t.Log(counts)
			if counts["done"] < 50 {
				t.Errorf("no more than %d pairs were written", counts["done"])
			}
		})
	}
}

// pair writes two orders in one transaction, and again where it was undone.
func (w writer) pair(name string) string {
	for range 1000 {
		tx, err := w.Begin(context.Background())
		for _, part := range []string{"a", "b"} {
			if err == nil {
				_, err = w.apply(tx, w.change("POST Orders code="+name+part, ""))
			}
		}
		if err == nil {
			err = tx.Commit()
		}
		if tx != nil {
			_ = tx.Close()
		}
		switch {
		case err == nil:
			return "done"
		case refusalOf(err) != "conflict":
			return refusalOf(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return "conflict"
}
