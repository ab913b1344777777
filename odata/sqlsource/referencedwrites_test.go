package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// A change that would be a duplicate, and of a column that other rows refer to, is a duplicate on every database.
func TestDuplicateBeforeReferenced(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := databaseWith(t, dialect, "", `CREATE TABLE codes (id INTEGER PRIMARY KEY, code INTEGER NOT NULL UNIQUE);
				INSERT INTO codes VALUES (1, 10), (2, 20);
				CREATE TABLE uses (id INTEGER PRIMARY KEY, code INTEGER, FOREIGN KEY (code) REFERENCES codes (code));
				INSERT INTO uses VALUES (1, 10)`)
			s := open(t, db, sqlsource.Config{Guard: edm.GuardNone, EntitySets: []sqlsource.EntitySet{
				{Name: "Codes", Table: "codes", Write: &sqlsource.Write{Create: true, Update: true, Delete: true}},
			}})
			w := writer{t, s, tenant(1)}
			for _, step := range []struct{ change, want string }{
				{"PATCH Codes(1) code=20", "duplicate code"},
				{"PATCH Codes(1) code=30", "referenced"},
				{"DELETE Codes(1)", "referenced"},
				{"PATCH Codes(2) code=10", "duplicate code"},
				{"PATCH Codes(2) code=30", "2,30"},
			} {
				if got := w.write(step.change, "*"); got != step.want {
					t.Errorf("%s: got %s, want %s", step.change, got, step.want)
				}
			}
		})
	}
}
