package sqlsource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestPartsBesideWriters holds that an answer found by an index of parts is of one state of the data, whatever others
// commit meanwhile: three rows have what is looked for or four, each time other ones, and as many as the total says.
func TestPartsBesideWriters(t *testing.T) {
	db := postgresWith(t, "", `CREATE EXTENSION pg_trgm;
		CREATE TABLE notes (id bigint PRIMARY KEY, name text, "a b" text);
		INSERT INTO notes SELECT n, 'plain ' || n, 'x' FROM generate_series(1, 300) n;
		CREATE INDEX ON notes USING gin (name gin_trgm_ops)`)
	db.DB.MustExec(`UPDATE notes SET name = 'a needle' WHERE id <= 3`)
	s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{{Name: "Notes", Table: "notes"}}})
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- moveNeedles(db, stop) }()
	for i := range 150 {
		got := s.get("Notes?$select=id&$count=true&$filter=contains(name,'needle')")
		if n := strings.Count(got, "["); n != 3 && n != 4 || !strings.HasSuffix(got, fmt.Sprint("#", n)) {
			t.Fatalf("answer %d: %s", i, got)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// moveNeedles moves what is looked for from row to row, one at a time, until it is stopped. Every other time a further row
// has it.
func moveNeedles(db sqlsource.Database, stop chan struct{}) error {
	for id := 1; ; id = id%297 + 1 {
		select {
		case <-stop:
			return nil
		default:
		}
		tx, err := db.DB.Beginx()
		if err != nil {
			return err
		}
		for _, change := range []string{
			fmt.Sprintf("UPDATE notes SET name = 'no more' WHERE id = %d", id),
			fmt.Sprintf("DELETE FROM notes WHERE id = %d", (id+2)%297+1),
			fmt.Sprintf("INSERT INTO notes (id, name) VALUES (%d, 'needle %d')", (id+2)%297+1, id),
			fmt.Sprintf("UPDATE notes SET name = '%s' WHERE id = 299", []string{"a needle", "none"}[id%2]),
		} {
			if _, err := tx.Exec(change); err != nil {
				_ = tx.Rollback()
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
}
