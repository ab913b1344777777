package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql" // driver "mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
)

// Statements of the handlers by hand for the two servers; $1 is the only parameter.
func byHandQueries() map[string]string {
	from := `SELECT ` + columns + ` FROM products `
	return map[string]string{
		"page":     from + `ORDER BY id LIMIT 201`,
		"filtered": from + `WHERE category_id = $1 AND price > 10 ORDER BY price, id LIMIT 201`,
		"all":      from + `ORDER BY id LIMIT $1`,
		"bykey":    from + `ORDER BY id LIMIT 201 OFFSET $1`,
		"byprice":  from + `ORDER BY price, id LIMIT 201 OFFSET $1`,
		"selected": `SELECT id, name, price FROM products ORDER BY id LIMIT 201`,
		"grouped":  groupedQuery,
	}
}

// scanned is what both drivers fill a product from.
type scanned interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}

// A product is a row, each column in the Go type that one would choose for it.
type product struct {
	id, category, stock int64
	sku, name, price    string
	description         *string
	rating              *float64
	discontinued        bool
	created             time.Time
}

func (p *product) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), p.id, 10)
	b = strconv.AppendQuote(append(b, `,"sku":`...), p.sku)
	b = strconv.AppendQuote(append(b, `,"name":`...), p.name)
	b = append(b, `,"description":`...)
	if p.description == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendQuote(b, *p.description)
	}
	b = strconv.AppendInt(append(b, `,"category_id":`...), p.category, 10)
	b = append(append(b, `,"price":`...), p.price...)
	b = strconv.AppendInt(append(b, `,"stock":`...), p.stock, 10)
	b = append(b, `,"rating":`...)
	if p.rating == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendFloat(b, *p.rating, 'g', -1, 64)
	}
	b = strconv.AppendBool(append(b, `,"discontinued":`...), p.discontinued)
	b = p.created.UTC().AppendFormat(append(b, `,"created_at":"`...), time.RFC3339)
	return append(b, '"', '}')
}

// three is what $select asks for.
func (p *product) appendThree(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), p.id, 10)
	b = strconv.AppendQuote(append(b, `,"name":`...), p.name)
	return append(append(append(b, `,"price":`...), p.price...), '}')
}

// write answers with rows as an OData collection does, up to limit of them.
func write(w http.ResponseWriter, rows scanned, limit int, few bool) error {
	var p product
	into := []any{&p.id, &p.sku, &p.name, &p.description, &p.category, &p.price, &p.stock, &p.rating, &p.discontinued, &p.created}
	encode := p.appendJSON
	if few {
		into, encode = []any{&p.id, &p.name, &p.price}, p.appendThree
	}
	w.Header().Set("Content-Type", "application/json")
	b := append(make([]byte, 0, 64<<10), `{"value":[`...)
	for n := 0; n < limit && rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if n > 0 {
			b = append(b, ',')
		}
		if b = encode(b); len(b) > 60<<10 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(append(b, `]}`...))
	if err != nil {
		return err
	}
	return rows.Err()
}

// writeGroups answers with the rows of groupedQuery.
func writeGroups(w http.ResponseWriter, rows scanned) error {
	w.Header().Set("Content-Type", "application/json")
	b := append(make([]byte, 0, 64<<10), `{"value":[`...)
	for n := 0; rows.Next(); n++ {
		var category, count int64
		var total string
		if err := rows.Scan(&category, &total, &count); err != nil {
			return err
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"category_id":%d,"total":%s,"n":%d}`, category, total, count)
	}
	if _, err := w.Write(append(b, `]}`...)); err != nil {
		return err
	}
	return rows.Err()
}

// byHand serves the queries through run.
func byHand(run func(ctx context.Context, name string, args []any, use func(scanned) error) error, count func(context.Context) error, writes writesByHand, rules *grpc.ClientConn) http.Handler {
	mux := http.NewServeMux()
	writeHandlers(mux, writes, rules)
	for name := range byHandQueries() {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
			var args []any
			limit := 200
			if n, err := strconv.Atoi(r.FormValue("n")); err == nil {
				args = []any{n}
			}
			if name == "all" {
				limit = 1 << 62
			}
			if r.FormValue("count") != "" {
				if err := count(r.Context()); err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
			}
			use := func(rows scanned) error { return write(w, rows, limit, name == "selected") }
			if name == "grouped" {
				use = func(rows scanned) error { return writeGroups(w, rows) }
			}
			if err := run(r.Context(), name, args, use); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	return mux
}

// postgresByHand reads through pgx itself, with its pool and its cache of statements. A numeric comes as text, as the
// types of Go have none for it, and as a conversion to a float would cost more.
func postgresByHand(ctx context.Context, dsn string, rules *grpc.ClientConn) (http.Handler, error) {
	pool, err := pgxpool.New(ctx, dsn+"&max_parallel_workers_per_gather=0")
	if err != nil {
		return nil, err
	}
	queries := byHandQueries()
	for name, q := range queries {
		queries[name] = strings.Replace(q, "price,", "price::text,", 1)
		if name == "selected" {
			queries[name] = strings.Replace(q, "price ", "price::text ", 1)
		}
		if name == "grouped" {
			queries[name] = strings.Replace(q, "SUM(price)", "SUM(price)::text", 1)
		}
	}
	run := func(ctx context.Context, name string, args []any, use func(scanned) error) error {
		rows, err := pool.Query(ctx, queries[name], args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return use(rows)
	}
	count := func(ctx context.Context) error {
		rows, err := pool.Query(ctx, `SELECT COUNT(*) FROM products`)
		if err != nil {
			return err
		}
		_, err = pgx.CollectOneRow(rows, pgx.RowTo[int64])
		return err
	}
	return byHand(run, count, pgxWrites{pool}, rules), nil
}

// mariadbByHand reads through prepared statements of database/sql, which is what the driver is made for.
func mariadbByHand(ctx context.Context, dsn string, rules *grpc.ClientConn) (http.Handler, error) {
	db, err := sql.Open("mysql", dsn+"&parseTime=true")
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(16)
	statements := map[string]*sql.Stmt{}
	for name, q := range byHandQueries() {
		if statements[name], err = db.PrepareContext(ctx, strings.ReplaceAll(q, "$1", "?")); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", name, err)
		}
	}
	count, err := db.PrepareContext(ctx, `SELECT COUNT(*) FROM products`)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, name string, args []any, use func(scanned) error) error {
		rows, err := statements[name].QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read only
		return use(rows)
	}
	writes, err := newSQLWrites(ctx, db, db, false)
	if err != nil {
		return nil, err
	}
	return byHand(run, func(ctx context.Context) error {
		var n int64
		return count.QueryRowContext(ctx).Scan(&n)
	}, writes, rules), nil
}
