package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// The rules for writing hold on every database.
func TestDatabasesWrite(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, "")
			fresh := func(t testing.TB) odatatest.Subject {
				tables := odatatest.WriteTables()
				for i := range tables {
					db.DB.MustExec("DROP TABLE IF EXISTS " + tables[len(tables)-1-i].Name)
				}
				if err := odatatest.FillTables(db.DB, dialect, tables); err != nil {
					t.Fatal(err)
				}
				cfg := odatatest.WriteMapping()
				cfg.Protected = reserved.Table
				source, err := sqlsource.New(t.Context(), db, cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = source.Close() })
				db.DB.MustExec("DROP TABLE IF EXISTS vestibule_requests")
				if made, err := source.Migrate(t.Context()); err != nil || !made || !source.Repeats() {
					t.Fatal(made, err)
				}
				return odatatest.Subject{Model: source.Model(), Source: source}
			}
			odatatest.RunWrites(t, fresh)
			t.Run("links over a table in between", func(t *testing.T) { odatatest.RunLinks(t, fresh) })
			t.Run("upserts at once", func(t *testing.T) { odatatest.RunUpserts(t, fresh) })
		})
	}
}
