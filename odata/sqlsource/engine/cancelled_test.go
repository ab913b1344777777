package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// TestCancelledStatements cancels statements at random moments. None outlives its context, and none hands its interrupt on
// to the next user of its connection.
func TestCancelledStatements(t *testing.T) {
	db := openEmpty(t, 4)
	const endless = "WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
	run := func(ctx context.Context, query string, args ...any) error {
		tx, err := db.Begin(ctx, engine.Need{})
		if err != nil {
			return err
		}
		cur, err := tx.Query(query, args)
		if err == nil {
			_, err = cur.Next()
		}
		return errors.Join(err, tx.Close())
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 40 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(3000))*time.Microsecond)
				if err := run(ctx, endless, int64(1)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("an endless statement ended with %v", err)
				}
				cancel()
				if err := run(t.Context(), "SELECT ?", "a text"); err != nil {
					t.Errorf("the next statement: %v", err)
				}
			}
		})
	}
	all.Wait()
}
