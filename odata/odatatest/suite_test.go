package odatatest_test

import (
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // driver "sqlite", to fill the database

	"github.com/vestibule-dev/vestibule/v2/odata/memory"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest"
	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
	"github.com/vestibule-dev/vestibule/v2/odata/sqlsource"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	suite(t, "sqlite", "sqlite", filepath.Join(t.TempDir(), "suite.db"))
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	suite(t, "postgres", "pgx", dbtest.Postgres(t))
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	suite(t, "mysql", "mysql", dbtest.MySQL(t))
}

func TestMemory(t *testing.T) {
	t.Parallel()
	source, err := memory.New(odatatest.Memory())
	if err != nil {
		t.Fatal(err)
	}
	odatatest.Run(t, odatatest.Subject{Model: source.Model(), Source: source})
}

func suite(t *testing.T, dialect, driver, dsn string) {
	t.Helper()
	db, err := sqlx.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := odatatest.Fill(db, dialect); err != nil {
		t.Fatal(err)
	}
	source, err := sqlsource.New(t.Context(), sqlsource.Database{Dialect: dialect, DB: db, DSN: dsn, Deep: 1}, odatatest.Mapping())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close() })
	odatatest.Run(t, odatatest.Subject{Model: source.Model(), Source: source})
}
