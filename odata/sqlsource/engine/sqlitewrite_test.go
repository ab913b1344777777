package engine_test

import (
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource/engine"
)

// A transaction that keeps the lock of the file for too long is undone, whatever it does meanwhile, and the next one writes.
func TestNobodyKeepsTheLockOfTheFile(t *testing.T) {
	db := openEmpty(t, 2)
	write(t, db, "CREATE TABLE things (id INTEGER PRIMARY KEY)")
	db.Hold = 50 * time.Millisecond
	for name, during := range map[string]func(engine.WriteTx) error{
		"one statement": func(tx engine.WriteTx) error {
			_, err := tx.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO things SELECT i FROM n WHERE i < 0", nil)
			return err
		},
		"many statements": func(tx engine.WriteTx) (err error) {
			for err == nil {
				_, err = tx.Query("SELECT 1", nil)
			}
			return err
		},
		"nothing": func(tx engine.WriteTx) error {
			time.Sleep(100 * time.Millisecond)
			return tx.Commit()
		},
	} {
		tx, err := db.BeginWrite(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO things VALUES (1)", nil); err != nil {
			t.Fatal(err)
		}
		next := make(chan error, 1)
		go func() {
			tx, err := db.BeginWrite(t.Context())
			if err == nil {
				err = tx.Close()
			}
			next <- err
		}()
		if err := during(tx); !engine.IsTimeout(err) || engine.IsUncertain(err) || engine.IsUndone(err) {
			t.Errorf("%s: the transaction ended with %v", name, err)
		}
		if err := tx.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-next; err != nil {
			t.Errorf("%s: the next transaction: %v", name, err)
		}
		read := begin(t.Context(), t, db, engine.Need{Snapshot: true})
		if n := number(t, read, "SELECT count(*) FROM things"); n != 0 {
			t.Errorf("%s: %d rows are left of what was undone", name, n)
		}
		if err := read.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, db *engine.SQLite, statement string) {
	t.Helper()
	tx, err := db.BeginWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(statement, nil); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Close(); err != nil {
		t.Fatal(err)
	}
}
