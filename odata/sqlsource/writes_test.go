package sqlsource_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/host/reserved"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

// The rules for writing hold on every database: on MariaDB, too, where the driver counts changed rows instead of matched ones, and where
// statements return no rows, as on MySQL.
func TestDatabasesWrite(t *testing.T) {
	for _, subject := range append(dialects(), "mysql, changed rows", "mysql, no RETURNING") {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			dialect, special, _ := strings.Cut(subject, ", ")
			db := databaseWith(t, dialect, map[string]string{"changed rows": "&clientFoundRows=false"}[special], "")
			subject := func(tables []odatatest.Table, cfg sqlsource.Config) func(t testing.TB) odatatest.Subject {
				return func(t testing.TB) odatatest.Subject {
					for i := range tables {
						db.DB.MustExec("DROP TABLE IF EXISTS " + tables[len(tables)-1-i].Name)
					}
					if err := odatatest.FillTables(db.DB, dialect, tables); err != nil {
						t.Fatal(err)
					}
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
					if special == "no RETURNING" {
						source.WithoutReturning()
					}
					return odatatest.Subject{Model: source.Model(), Source: source}
				}
			}
			fresh := subject(odatatest.WriteTables(), odatatest.WriteMapping())
			odatatest.RunWrites(t, fresh)
			t.Run("under rules", func(t *testing.T) { odatatest.RunJudged(t, fresh) })
			t.Run("links over a table in between", func(t *testing.T) { odatatest.RunLinks(t, fresh) })
			t.Run("upserts at once", func(t *testing.T) { odatatest.RunUpserts(t, fresh) })
			drop := func(tables []odatatest.Table) {
				for _, table := range slices.Backward(tables) {
					db.DB.MustExec("DROP TABLE IF EXISTS " + table.Name)
				}
			}
			drop(odatatest.WriteTables())
			t.Run("links", func(t *testing.T) {
				odatatest.RunLinkRules(t, subject(odatatest.LinkTables(), odatatest.LinkMapping()))
				t.Run("under rules", func(t *testing.T) {
					odatatest.RunJudgedLinks(t, subject(odatatest.LinkTables(), odatatest.LinkMapping()))
				})
			})
			drop(odatatest.LinkTables())
			t.Run("order of faults", func(t *testing.T) {
				odatatest.RunWriteOrder(t, subject(odatatest.OrderTables(), odatatest.OrderMapping()))
			})
		})
	}
}
