package sqlsource_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/plan"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// TestRetypedBelow changes the type of a column under a running service. Whatever the database makes of it, an error or
// odd values, requests that meet it are 503, the cause names the column, and Ready says so until it is back.
func TestRetypedBelow(t *testing.T) {
	t.Parallel()
	const rebuild = "CREATE TABLE other (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n TYPE, firm INTEGER NOT NULL);\nINSERT INTO other SELECT id, name, VALUE, firm FROM things;\n" +
		"DROP TABLE things;\nALTER TABLE other RENAME TO things"
	retype := func(typ, value string) string {
		return strings.NewReplacer("TYPE", typ, "VALUE", value).Replace(rebuild)
	}
	const script = "CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n INTEGER, firm INTEGER NOT NULL);\nINSERT INTO things VALUES (1, 'one', 7, 8)"
	for _, tt := range []struct {
		dialect, change, back, target, column string
	}{
		{"postgres", "ALTER TABLE things ALTER COLUMN n TYPE text USING 'x' || n", "ALTER TABLE things ALTER COLUMN n TYPE integer USING 7", "things?$filter=n eq 7", "things.n was integer and is text"},
		{"postgres", "ALTER TABLE things ALTER COLUMN n TYPE text USING 'x' || n", "ALTER TABLE things ALTER COLUMN n TYPE integer USING 7", "things", "things.n was integer and is text"},
		{"postgres", "ALTER TABLE things ALTER COLUMN name TYPE bytea USING name::bytea", "ALTER TABLE things ALTER COLUMN name TYPE varchar(20) USING 'one'", "things?$filter=contains(name,'n')", "things.name was character varying and is bytea"},
		{"mysql", "ALTER TABLE things MODIFY n VARCHAR(20);\nUPDATE things SET n = 'x7'", "UPDATE things SET n = '7';\nALTER TABLE things MODIFY n INTEGER", "things", "things.n was int and is varchar"},
		{"mysql", "ALTER TABLE things MODIFY firm VARCHAR(20) NOT NULL;\nUPDATE things SET firm = 'x8'", "UPDATE things SET firm = '8';\nALTER TABLE things MODIFY firm INTEGER NOT NULL", "things(1)/firm", "things.firm was int and is varchar"},
		{"sqlite", retype("TEXT", "'x7'"), retype("INTEGER", "7"), "things", "things.n was integer and is text"},
	} {
		t.Run(tt.dialect+" "+tt.target+" "+tt.column, func(t *testing.T) {
			t.Parallel()
			db := database(t, tt.dialect, script)
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, Discover: []string{"things"}})
			const want = "[1,one,7,8]"
			if got := s.get("things"); got != want {
				t.Fatalf("before: %s", got)
			}
			for _, statement := range strings.Split(tt.change, ";\n") {
				alter(t, db, statement)
			}
			p, err := s.plan(tt.target, 0)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.Open(t.Context(), p)
			if err == nil {
				for rows.Next() { // the fault may be in a value
				}
				err = errors.Join(rows.Err(), rows.Close())
			}
			var fault *plan.Error
			if !errors.As(err, &fault) || fault.Kind != plan.Unavailable || strings.Contains(fault.Message, tt.column) || !strings.Contains(fault.Cause.Error(), tt.column) {
				t.Fatalf("got %v", err)
			}
			if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "was changed") || !strings.Contains(err.Error(), tt.column) {
				t.Errorf("not told: %v", err)
			}
			for _, statement := range strings.Split(tt.back, ";\n") {
				alter(t, db, statement)
			}
			for range 100 { // the look at the tables is good for a second
				if err = s.Ready(t.Context()); err == nil {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			if err != nil {
				t.Errorf("it is back: %v", err)
			}
			if got := s.get("things"); !strings.HasPrefix(got, "[1,one,7,") {
				t.Errorf("it is back: %s", got)
			}
		})
	}
}
