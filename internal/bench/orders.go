package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// ordered are the statements that make the tables of orders and their items, anew for each run. counted is the type of a number that
// the database counts.
func ordered(counted string) []string {
	return []string{
		"DROP TABLE IF EXISTS items", "DROP TABLE IF EXISTS orders",
		"CREATE TABLE orders (id " + counted + ", note VARCHAR(200), version INTEGER NOT NULL)",
		"CREATE TABLE items (id " + counted + ", order_id BIGINT NOT NULL REFERENCES orders(id), product_id INTEGER NOT NULL REFERENCES products(id), " +
			"price DECIMAL(10,2) NOT NULL, amount INTEGER NOT NULL)",
		"CREATE INDEX items_order ON items(order_id)",
	}
}

// order is an order with its items.
type order struct {
	ID      int64   `json:"id"`
	Note    *string `json:"note"`
	Version int64   `json:"version"`
	Items   []*item `json:"items"`
}

type item struct {
	ID      int64       `json:"id"`
	Order   int64       `json:"order_id"`
	Product int64       `json:"product_id"`
	Price   json.Number `json:"price"`
	Amount  int64       `json:"amount"`
}

func (i *item) into() []any {
	return []any{&i.ID, &i.Order, &i.Product, (*string)(&i.Price), &i.Amount}
}

// check looks at what the columns do not say clearly.
func (o *order) check() error {
	if len(o.Items) > 1000 || o.Note != nil && len(*o.Note) > 200 {
		return errFormed
	}
	for _, i := range o.Items {
		if i == nil || !isPrice(i.Price) || i.Amount != int64(int32(i.Amount)) || i.Product != int64(int32(i.Product)) {
			return errFormed
		}
	}
	return nil
}

// isPrice reports whether a column DECIMAL(10,2) keeps a number.
func isPrice(n json.Number) bool {
	whole, cents, _ := strings.Cut(string(n), ".")
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil && len(strings.TrimPrefix(whole, "-")) <= 8 && len(cents) <= 2 && !strings.ContainsAny(string(n), "eE")
}

// Statements of an order by hand. That of the items is made for as many as there are.
const (
	orderInsert = "INSERT INTO orders (note, version) VALUES ($1, 1) RETURNING id, version"
	itemsInsert = "INSERT INTO items (order_id, product_id, price, amount) VALUES "
	itemColumns = "id, order_id, product_id, price, amount"
)

// itemsOf returns the statement that adds the items, and its arguments. It has the parameters of PostgreSQL with numbered.
func (o *order) itemsOf(columns string, numbered bool) (string, []any) {
	b := append(make([]byte, 0, len(itemsInsert)+24*len(o.Items)+80), itemsInsert...)
	args := make([]any, 0, 4*len(o.Items))
	for n, i := range o.Items {
		for column, value := range []any{o.ID, i.Product, string(i.Price), i.Amount} {
			b = append(b, [...]string{"(", ", ", ", ", ", "}[column]...)
			if args = append(args, value); numbered {
				b = strconv.AppendInt(append(b, '$'), int64(len(args)), 10)
			} else {
				b = append(b, '?')
			}
		}
		if b = append(b, ')'); n < len(o.Items)-1 {
			b = append(b, ',')
		}
	}
	return string(append(append(b, " RETURNING "...), columns...)), args
}

// scan takes the items as the database has written them, in their order.
func (o *order) scan(rows scanned) error {
	for _, i := range o.Items {
		if !rows.Next() {
			return errors.Join(rows.Err(), errMoved)
		}
		if err := rows.Scan(i.into()...); err != nil {
			return err
		}
	}
	rows.Next() // what a constraint says comes last
	return rows.Err()
}

func (s *sqlTx) order(o *order) error {
	if err := s.tx.StmtContext(s.ctx, s.orders).QueryRowContext(s.ctx, o.Note).Scan(&o.ID, &o.Version); err != nil || len(o.Items) == 0 {
		return err
	}
	text, args := o.itemsOf(itemColumns, false)
	return scanAll(s.ctx, s.tx, o, text, args)
}

func scanAll(ctx context.Context, tx *sql.Tx, o *order, text string, args []any) error {
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	return errors.Join(o.scan(rows), rows.Close())
}

func (p pgxWriting) order(o *order) error {
	if err := p.tx.QueryRow(p.ctx, orderInsert, o.Note).Scan(&o.ID, &o.Version); err != nil || len(o.Items) == 0 {
		return err
	}
	text, args := o.itemsOf(strings.Replace(itemColumns, "price", "price::text", 1), true)
	rows, err := p.tx.Query(p.ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return o.scan(rows)
}

// orderHandler adds an order with all its items in one transaction.
func orderHandler(by writesByHand) func(w http.ResponseWriter, r *http.Request, body []byte) error {
	return func(w http.ResponseWriter, r *http.Request, body []byte) error {
		o := &order{}
		if json.Unmarshal(body, o) != nil || o.check() != nil {
			return errFormed
		}
		if err := by.in(r.Context(), func(tx writingTx) error { return tx.order(o) }); err != nil {
			return err
		}
		w.Header().Set("Location", "/orders/"+strconv.FormatInt(o.ID, 10))
		w.Header().Set("ETag", `W/"`+strconv.FormatInt(o.Version, 10)+`"`)
		return answer(w, http.StatusCreated, o)
	}
}

// orderWriting are requests for an order with a hundred items.
func orderWriting() writing {
	list := make([]string, 100)
	for i := range list {
		list[i] = `{"product_id":` + strconv.Itoa(i+1) + `,"price":12.34,"amount":2}`
	}
	body := `{"note":"a note","items":[` + strings.Join(list, ",") + `]}`
	return writing{"an order with a hundred items", 5, always("POST /odata/GuardedOrders\n\n" + body), always("POST /orders#Guarded\n\n" + body)}
}
