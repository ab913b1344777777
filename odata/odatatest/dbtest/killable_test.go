package dbtest_test

import (
	"database/sql"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A killed server answers again when Kill returns, with what was committed and without what was not.
func TestKilledServerAnswersAgain(t *testing.T) {
	for dialect, driver := range map[string]string{"postgres": "pgx", "mysql": "mysql"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			k := dbtest.NewKillable(t, dialect)
			db := open(t, driver, k.DSN)
			exec1(t, db, "CREATE TABLE things (id INT PRIMARY KEY)")
			for n := 1; n <= 3; n++ {
				exec1(t, db, "INSERT INTO things SELECT COUNT(*) + 1 FROM things")
				tx, err := db.Begin()
				if err == nil {
					_, err = tx.Exec("INSERT INTO things VALUES (100)")
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := k.Kill(); err != nil {
					t.Fatal(err)
				}
				if tx.Commit() == nil {
					t.Error("a transaction outlived its server")
				}
				again, err := sql.Open(driver, k.DSN)
				if err != nil {
					t.Fatal(err)
				}
				var count, greatest int
				if err := again.QueryRow("SELECT COUNT(*), MAX(id) FROM things").Scan(&count, &greatest); err != nil {
					t.Fatal(err)
				}
				if count != n || greatest != n {
					t.Errorf("after kill %d there are %d rows, the greatest is %d", n, count, greatest)
				}
				if err := again.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
