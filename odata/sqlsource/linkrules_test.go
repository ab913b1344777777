package sqlsource_test

import (
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// The rules for links and deep inserts hold on every database.
func TestDatabasesLink(t *testing.T) {
	for _, dialect := range dialects() {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			db := database(t, dialect, "")
			odatatest.RunLinkRules(t, func(t testing.TB) odatatest.Subject {
				tables := odatatest.LinkTables()
				for i := range tables {
					db.DB.MustExec("DROP TABLE IF EXISTS " + tables[len(tables)-1-i].Name)
				}
				if err := odatatest.FillTables(db.DB, dialect, tables); err != nil {
					t.Fatal(err)
				}
				cfg := odatatest.LinkMapping()
				cfg.Protected = reserved.Table
				source, err := sqlsource.New(t.Context(), db, cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = source.Close() })
				return odatatest.Subject{Model: source.Model(), Source: source}
			})
		})
	}
}
