package neighbours

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of the data
	_ "modernc.org/sqlite"             // likewise
)

const (
	products = 1_000_000
	people   = 300 // each of whom knows all the others
)

// makeDatabase makes the data of the attacks and returns the data source name of the host.
func makeDatabase(t *testing.T, driver, dir string) string {
	t.Helper()
	dsn, via, from := filepath.Join(dir, "app.db"), "sqlite", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) SELECT "
	random := "abs(random())"
	if driver == "postgres" {
		dsn, via, from, random = dbtest.Postgres(t), "pgx", "WITH n AS (SELECT generate_series(1, %d) AS i) SELECT ", "(random()*1000000)::int"
	}
	db, err := sqlx.Open(via, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{
		`CREATE TABLE products (id INTEGER PRIMARY KEY, sku VARCHAR(20) NOT NULL, name VARCHAR(100) NOT NULL, description TEXT,
			category_id INTEGER NOT NULL, price DECIMAL(10,2) NOT NULL, stock INTEGER NOT NULL, rating INTEGER)`,
		"INSERT INTO products " + fmt.Sprintf(from, products) + `i, 'SKU-' || i, 'Product number ' || i,
			'A plain description of some length, as shops have them.', ` + random + ` % 500 + 1, (` + random + ` % 100000) / 100.0, ` +
			random + ` % 1000, ` + random + ` % 50 FROM n`,
		`CREATE INDEX products_price ON products(price, id)`,
		`CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL)`,
		"INSERT INTO people " + fmt.Sprintf(from, people) + "i, 'Person ' || i FROM n",
		`CREATE TABLE knows (a INTEGER NOT NULL REFERENCES people(id), b INTEGER NOT NULL REFERENCES people(id), PRIMARY KEY (a, b))`,
		`INSERT INTO knows SELECT x.id, y.id FROM people x, people y WHERE x.id <> y.id`,
		`ANALYZE`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if driver == "postgres" {
		vacuum(t, db)
	}
	return dsn
}

// vacuum waits until the visibility map is complete, as autovacuum makes it within a minute.
func vacuum(t *testing.T, db *sqlx.DB) {
	t.Helper()
	for range 60 {
		var missing int
		if _, err := db.ExecContext(t.Context(), `VACUUM products`); err != nil {
			t.Fatal(err)
		}
		if err := db.GetContext(t.Context(), &missing, `SELECT relpages - relallvisible FROM pg_class WHERE relname = 'products'`); err != nil {
			t.Fatal(err)
		}
		if missing == 0 {
			return
		}
		t.Logf("%d pages of the table are not vacuumed yet", missing)
		time.Sleep(time.Second)
	}
	t.Fatal("the table was not vacuumed within a minute")
}
