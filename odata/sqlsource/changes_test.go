package sqlsource_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

const changing = "CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(20), gone VARCHAR(20));\nINSERT INTO things VALUES (1, 'one', 'x')"

// alter runs a statement beside the source, as somebody else would.
func alter(t *testing.T, db sqlsource.Database, statement string) {
	t.Helper()
	handle := db.DB
	if handle == nil {
		other, err := sql.Open("sqlite", db.DSN)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }()
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return
	}
	if _, err := handle.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// A column of another type, or connections that somebody killed, cost nobody an answer.
func TestRepeatedBeforeTheFirstByte(t *testing.T) {
	t.Parallel()
	types := map[string]string{
		"postgres": "ALTER TABLE things ALTER COLUMN name TYPE text", "mysql": "ALTER TABLE things MODIFY name TEXT",
	}
	for dialect, change := range types {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, changing)
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
			const want = "[1,one,x]"
			busy := make([]*sql.Conn, 5) // so that the pool has several connections
			for i := range busy {
				conn, err := db.DB.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				busy[i] = conn
			}
			for _, conn := range busy {
				if err := conn.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				if got := s.get("things"); got != want {
					t.Fatalf("before: %s", got)
				}
			}
			alter(t, db, change)
			if got := s.get("things"); got != want {
				t.Errorf("after %s: %s", change, got)
			}
			for range 3 {
				kill(t, db, dialect)
				if got := s.get("things?$count=true"); got != want+"#1" {
					t.Errorf("after its connections were killed: %s", got)
				}
			}
		})
	}
}

// kill ends all connections but the one that it uses.
func kill(t *testing.T, db sqlsource.Database, dialect string) {
	t.Helper()
	conn, err := db.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if dialect == "postgres" {
		if _, err := conn.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, id := range others(t, conn) {
		if _, err := conn.ExecContext(t.Context(), "KILL "+id); err != nil && !strings.Contains(err.Error(), "Unknown thread") { // it has just ended by itself
			t.Fatal(err)
		}
	}
}

// others are the connections of MariaDB to the database of conn, without it.
func others(t *testing.T, conn *sql.Conn) []string {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// A column that is dropped under a running service is a 503, which names it to the
// operator, and Ready says so until it is back.
func TestDroppedColumn(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, changing)
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
			alter(t, db, "ALTER TABLE things DROP COLUMN gone")
			p, err := s.plan("things", 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Ready(t.Context()); err != nil {
				t.Fatalf("before anybody asked: %v", err)
			}
			_, err = s.Open(t.Context(), p)
			var fault *plan.Error
			if !errors.As(err, &fault) || fault.Kind != plan.Unavailable || strings.Contains(fault.Message, "gone") || !strings.Contains(fault.Cause.Error(), "gone") {
				t.Fatalf("got %v", err)
			}
			if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "was changed") {
				t.Errorf("not told: %v", err)
			}
			if got := s.get("things?$select=id,name"); got != "[1,one]" {
				t.Errorf("what is there: %s", got)
			}
			alter(t, db, "ALTER TABLE things ADD COLUMN gone VARCHAR(20)")
			if err := s.Ready(t.Context()); err != nil {
				t.Errorf("the column is back: %v", err)
			}
			if got := s.get("things"); got != "[1,one,null]" {
				t.Errorf("the column is back: %s", got)
			}
		})
	}
}
