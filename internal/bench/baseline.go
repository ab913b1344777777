package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strconv"

	"github.com/jmoiron/sqlx"
	"google.golang.org/grpc"
)

const columns = `id, sku, name, description, category_id, price, stock, rating, discontinued, created_at`

// groupedQuery is what $apply is held against, on all databases.
const groupedQuery = `SELECT category_id, SUM(price) AS total, COUNT(*) AS n FROM products GROUP BY category_id ORDER BY category_id`

// A yardstick is what a careful developer writes by hand for one page: prepared
// statements, a row scanned into []any, JSON appended to a buffer.
type yardstick struct {
	page, filtered, count, all, reviews, grouped *sql.Stmt
}

func baseline(file string, rules *grpc.ClientConn) (http.Handler, error) {
	db, err := sqlx.Open("sqlite", file+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)&_pragma=mmap_size(268435456)")
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(16)
	var y yardstick
	for _, s := range []struct {
		into  **sql.Stmt
		query string
	}{
		{&y.page, `SELECT ` + columns + ` FROM products ORDER BY id LIMIT 201`},
		{&y.filtered, `SELECT ` + columns + ` FROM products WHERE category_id = ? AND price > 10 ORDER BY price, id LIMIT 201`},
		{&y.count, `SELECT COUNT(*) FROM products`},
		{&y.all, `SELECT ` + columns + ` FROM products ORDER BY id LIMIT ?`},
		{&y.grouped, groupedQuery},
		{&y.reviews, `SELECT id, product_id, stars, text FROM reviews WHERE product_id BETWEEN ? AND ? ORDER BY product_id, id`},
	} {
		if *s.into, err = db.Prepare(s.query); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	writer, err := sqlx.Open("sqlite", file+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	writes, err := newSQLWrites(context.Background(), writer.DB, db.DB, true)
	if err != nil {
		return nil, err
	}
	writeHandlers(mux, writes, rules)
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { y.answer(w, 200, y.page) })
	mux.HandleFunc("/filtered", func(w http.ResponseWriter, r *http.Request) { y.answer(w, 200, y.filtered, r.FormValue("category")) })
	mux.HandleFunc("/counted", func(w http.ResponseWriter, _ *http.Request) {
		var n int
		if err := y.count.QueryRow().Scan(&n); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		y.answer(w, 200, y.page)
	})
	mux.HandleFunc("/all", func(w http.ResponseWriter, r *http.Request) { y.answer(w, 1<<62, y.all, r.FormValue("n")) })
	mux.HandleFunc("/expanded", y.expanded)
	mux.HandleFunc("/grouped", func(w http.ResponseWriter, _ *http.Request) { y.answer(w, 1<<62, y.grouped) })
	return mux, nil
}

// answer writes up to limit rows as an OData collection does.
func (y *yardstick) answer(w http.ResponseWriter, limit int, s *sql.Stmt, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	rows, err := s.Query(args...)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer rows.Close() //nolint:errcheck // read only
	b := append(make([]byte, 0, 64<<10), `{"value":[`...)
	if b, err = appendRows(b, w, rows, limit, nil); err != nil {
		return // what is missing shows as broken JSON
	}
	_, _ = w.Write(append(b, `]}`...))
}

// appendRows encodes rows; full buffers go to w. after, when not nil, adds to a
// row what belongs to the id in its first column.
func appendRows(b []byte, w http.ResponseWriter, rows *sql.Rows, limit int, after func([]byte, int64) []byte) ([]byte, error) {
	names, err := rows.Columns()
	if err != nil {
		return b, err
	}
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for n := 0; rows.Next(); n++ {
		if n == limit {
			break
		}
		if err := rows.Scan(targets...); err != nil {
			return b, err
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(append(append(append(b, '"'), name...), '"', ':'), values[i])
		}
		if after != nil {
			b = after(b, values[0].(int64))
		}
		b = append(b, '}')
		if w != nil && len(b) > 60<<10 {
			if _, err := w.Write(b); err != nil {
				return b, err
			}
			b = b[:0]
		}
	}
	return b, rows.Err()
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case bool:
		return strconv.AppendBool(b, v)
	case []byte:
		return strconv.AppendQuote(b, string(v))
	case string:
		return strconv.AppendQuote(b, v)
	}
	return strconv.AppendQuote(b, fmt.Sprint(v))
}

// expanded is a page of products with their reviews, by two queries.
func (y *yardstick) expanded(w http.ResponseWriter, _ *http.Request) {
	b, err := y.appendExpanded(append(make([]byte, 0, 128<<10), `{"value":[`...))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, `]}`...))
}

func (y *yardstick) appendExpanded(b []byte) ([]byte, error) {
	of, err := y.reviewsOf(1, 200)
	if err != nil {
		return b, err
	}
	rows, err := y.page.Query()
	if err != nil {
		return b, err
	}
	defer rows.Close() //nolint:errcheck // read only
	return appendRows(b, nil, rows, 200, func(b []byte, id int64) []byte {
		return append(append(append(b, `,"reviews":[`...), of[id]...), ']')
	})
}

// reviewsOf returns the encoded reviews of each product.
func (y *yardstick) reviewsOf(first, last int) (map[int64][]byte, error) {
	rows, err := y.reviews.Query(first, last)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read only
	of := map[int64][]byte{}
	values := [4]any{}
	for rows.Next() {
		if err := rows.Scan(&values[0], &values[1], &values[2], &values[3]); err != nil {
			return nil, err
		}
		product := values[1].(int64)
		b := of[product]
		if b != nil {
			b = append(b, ',')
		}
		for i, name := range []string{`{"id":`, `,"product_id":`, `,"stars":`, `,"text":`} {
			b = appendValue(append(b, name...), values[i])
		}
		of[product] = append(b, '}')
	}
	return of, rows.Err()
}
