package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the driver of the baseline and of the data
)

const schema = `
CREATE TABLE products (
	id INTEGER PRIMARY KEY, sku VARCHAR(20) NOT NULL, name VARCHAR(100) NOT NULL, description TEXT,
	category_id INTEGER NOT NULL, price DECIMAL(10,2) NOT NULL, stock INTEGER NOT NULL, rating DOUBLE,
	discontinued BOOLEAN NOT NULL, created_at DATETIME NOT NULL);
CREATE TABLE reviews (
	id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products(id), stars INTEGER NOT NULL, text TEXT NOT NULL);`

const indexes = `
CREATE INDEX products_category ON products(category_id, price, id);
CREATE INDEX products_price ON products(price, id);
CREATE INDEX reviews_product ON reviews(product_id, id);
ANALYZE;`

// reviewed is how many products have reviews, three each.
const reviewed = 20_000

// makeData makes the database once; it is the same for everybody.
func makeData(ctx context.Context, file string, rows int) error {
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	fmt.Printf("making %d products, once\n", rows)
	tmp := file + ".new"
	_ = os.Remove(tmp)
	db, err := sqlx.Open("sqlite", tmp+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = fill(ctx, db, rows)
	return errors.Join(err, db.Close(), rename(err, tmp, file))
}

func rename(failed error, from, to string) error {
	if failed != nil {
		return nil
	}
	return os.Rename(from, to)
}

func fill(ctx context.Context, db *sqlx.DB, rows int) error {
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	product, err := tx.PreparexContext(ctx, `INSERT INTO products VALUES (?,?,?,?,?,?,?,?,?,?)`)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2)) // must be the same everywhere
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for id := 1; id <= rows; id++ {
		_, err := product.ExecContext(ctx, id, fmt.Sprintf("SKU-%08d", id), fmt.Sprintf("Product number %d", id),
			"A plain description of some length, as shops have them.", random.IntN(500)+1,
			fmt.Sprintf("%d.%02d", random.IntN(1000), random.IntN(100)), random.IntN(1000), float64(random.IntN(50))/10,
			random.IntN(10) == 0, day.Add(time.Duration(id)*time.Minute).Format("2006-01-02 15:04:05"))
		if err != nil {
			return err
		}
	}
	review, err := tx.PreparexContext(ctx, `INSERT INTO reviews VALUES (?,?,?,?)`)
	if err != nil {
		return err
	}
	for id := range min(rows, reviewed) * 3 {
		if _, err := review.ExecContext(ctx, id+1, id/3+1, id%5+1, "It does what it says."); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, indexes)
	return err
}
