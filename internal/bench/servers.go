package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

const serverSchema = `
CREATE TABLE products (
	id INTEGER PRIMARY KEY, sku VARCHAR(20) NOT NULL, name VARCHAR(100) NOT NULL, description TEXT,
	category_id INTEGER NOT NULL, price DECIMAL(10,2) NOT NULL, stock INTEGER NOT NULL, rating DOUBLE PRECISION,
	discontinued BOOLEAN NOT NULL, created_at TIMESTAMP(0) NOT NULL);
CREATE TABLE reviews (
	id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products(id), stars INTEGER NOT NULL, text TEXT NOT NULL);`

const serverIndexes = `
CREATE INDEX products_category ON products(category_id, price, id);
CREATE INDEX products_price ON products(price, id);
CREATE INDEX reviews_product ON reviews(product_id, id);
CREATE TABLE others (id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO others VALUES (1, 0);`

// postgresData starts PostgreSQL and fills it.
func postgresData(ctx context.Context, rows int) (dsn string, err error) {
	dsn, err = dbtest.Start("postgres", "-c", "shared_buffers=512MB")
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, serverSchema); err != nil {
		return "", err
	}
	for table, write := range texts(rows) {
		if _, err := conn.PgConn().CopyFrom(ctx, piped(write), "COPY "+table+" FROM STDIN"); err != nil {
			return "", err
		}
	}
	_, err = conn.Exec(ctx, serverIndexes)
	if err == nil {
		_, err = conn.Exec(ctx, "VACUUM ANALYZE")
	}
	return dsn, err
}

// mariadbData starts MariaDB and fills it.
func mariadbData(ctx context.Context, rows int) (dsn string, err error) {
	if dsn, err = dbtest.Start("mysql", "--innodb-buffer-pool-size=512M"); err != nil {
		return "", err
	}
	db, err := sql.Open("mysql", dsn+"&multiStatements=true")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, strings.Replace(serverSchema, "TIMESTAMP(0)", "DATETIME", 1)); err != nil {
		return "", err
	}
	for table, write := range texts(rows) {
		mysql.RegisterReaderHandler(table, func() io.Reader { return piped(write) })
		if _, err := db.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+table+"' INTO TABLE "+table); err != nil {
			return "", err
		}
	}
	_, err = db.ExecContext(ctx, serverIndexes+"ANALYZE TABLE products, reviews")
	return dsn, err
}

// piped is what write writes.
func piped(write func(io.Writer) error) io.Reader {
	r, w := io.Pipe()
	go func() {
		buffered := bufio.NewWriterSize(w, 1<<16)
		err := write(buffered)
		_ = w.CloseWithError(errors.Join(err, buffered.Flush()))
	}()
	return r
}

// texts are the tables as lines of text with tabs, which both servers read; the data is that of SQLite.
func texts(rows int) func(yield func(string, func(io.Writer) error) bool) {
	return func(yield func(string, func(io.Writer) error) bool) {
		_ = yield("products", func(w io.Writer) error { return productTexts(w, rows) }) &&
			yield("reviews", func(w io.Writer) error {
				for id := range min(rows, reviewed) * 3 {
					if _, err := fmt.Fprintf(w, "%d\t%d\t%d\tIt does what it says.\n", id+1, id/3+1, id%5+1); err != nil {
						return err
					}
				}
				return nil
			})
	}
}

func productTexts(w io.Writer, rows int) error {
	random := rand.New(rand.NewPCG(1, 2)) // must be the same everywhere
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for id := 1; id <= rows; id++ {
		category := random.IntN(500) + 1
		price := fmt.Sprintf("%d.%02d", random.IntN(1000), random.IntN(100))
		stock, rating, gone := random.IntN(1000), float64(random.IntN(50))/10, 0
		if random.IntN(10) == 0 {
			gone = 1
		}
		_, err := fmt.Fprintf(w, "%d\tSKU-%08d\tProduct number %d\tA plain description of some length, as shops have them.\t%d\t%s\t%d\t%g\t%d\t%s\n",
			id, id, id, category, price, stock, rating, gone, day.Add(time.Duration(id)*time.Minute).Format("2006-01-02 15:04:05"))
		if err != nil {
			return err
		}
	}
	return nil
}
