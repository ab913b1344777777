package prepared_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/vestibule-dev/vestibule/v2/host/store/internal/prepared"
	_ "modernc.org/sqlite"
)

// A transaction on the only connection runs new statements as they are, and
// finds them prepared the next time.
func TestStatementsOfOneConnection(t *testing.T) {
	pool, err := sqlx.Open("sqlite", filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	pool.MustExec("CREATE TABLE t (n INTEGER)")
	s := prepared.New(pool)
	t.Cleanup(func() { s.Close(); _ = pool.Close() })
	const insert, count, wrong = "INSERT INTO t VALUES (?)", "SELECT COUNT(*) FROM t", "SELECT nothing FROM nowhere"
	for round := range 3 {
		s.Prepare(t.Context())
		tx := pool.MustBegin()
		for range 2 {
			if _, err := s.On(nil, tx).ExecContext(t.Context(), insert, 1); err != nil {
				t.Fatal(err)
			}
		}
		var n int
		if err := s.On(nil, tx).QueryRowxContext(t.Context(), count).Scan(&n); err != nil || n != 2*round+2 {
			t.Fatal(n, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.On(pool, nil).ExecContext(t.Context(), wrong); err == nil {
			t.Error("a wrong statement ran")
		}
		if kept := s.Find(insert) != nil && s.Find(count) != nil; kept != (round > 0) {
			t.Errorf("round %d: kept is %t", round, kept)
		}
		if s.Find(wrong) != nil {
			t.Error("a wrong statement is kept")
		}
	}
}

func TestNoStatements(t *testing.T) {
	var s *prepared.Statements
	s.Prepare(t.Context())
	if s.Find("SELECT 1") != nil {
		t.Error("nil keeps a statement")
	}
	s.Close()
}

// Many requests look for new statements at the same time, and each is kept once.
// The race detector finds a lock that is missing.
func TestStatementsInParallel(t *testing.T) {
	pool, err := sqlx.Open("sqlite", filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	s := prepared.New(pool)
	t.Cleanup(func() { s.Close(); _ = pool.Close() })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 100 {
				s.Find(fmt.Sprintf("SELECT %d", i))
				s.Prepare(t.Context())
			}
		})
	}
	all.Wait()
	s.Prepare(t.Context())
	for i := range 100 {
		if s.Find(fmt.Sprintf("SELECT %d", i)) == nil {
			t.Fatalf("statement %d is not kept", i)
		}
	}
}
