package seed

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// The numbers of orders.status.
const (
	placed = iota
	paid
	shipped
	returned
	cancelled
)

// sales writes who bought what.
func sales(w *writer) error {
	if err := customers(w); err != nil {
		return err
	}
	prices, err := priceList(w)
	if err != nil {
		return err
	}
	return orders(w, prices)
}

func customers(w *writer) error {
	insert, err := w.into("customers", "id", "name", "company", "email", "phone", "shipping_street", "shipping_zip",
		"shipping_city", "shipping_country", "newsletter", "created_at")
	if err != nil {
		return err
	}
	r := random(4)
	first, last, cities, streets, firms := firstNames(), lastNames(), cities(), streets(), firms()
	for id := 1; id <= Customers; id++ {
		home := pick(r, cities)
		if err := insert(id, pick(r, first)+" "+pick(r, last), maybe(r, 0.8, pick(r, firms)+" e.V."),
			fmt.Sprintf("customer%d@example.com", id), maybe(r, 0.4, fmt.Sprintf("+49 171 555%05d", id)),
			fmt.Sprintf("%s %d", pick(r, streets), 1+r.IntN(120)), home.zip, home.name, home.country,
			r.IntN(3) == 0, between(r).Format(second)); err != nil {
			return err
		}
	}
	return nil
}

// priceList returns the prices of all products in cents, by id.
func priceList(w *writer) ([]int, error) {
	rows, err := w.tx.QueryContext(w.ctx, "SELECT CAST(ROUND(price * 100) AS INTEGER) FROM products ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	prices := []int{0} // ids begin at 1
	for rows.Next() {
		var cents int
		if err := rows.Scan(&cents); err != nil {
			return nil, err
		}
		prices = append(prices, cents)
	}
	return prices, rows.Err()
}

// orders writes the orders in the sequence of their time, so that ids and dates
// rise together.
func orders(w *writer, prices []int) error {
	order, err := w.into("orders", "id", "customer_id", "status", "ordered_at", "shipped_at", "total", "note")
	if err != nil {
		return err
	}
	item, err := w.into("order_items", "order_id", "line_no", "product_id", "quantity", "unit_price")
	if err != nil {
		return err
	}
	r := random(5)
	step := lastDay().Sub(opened()) / Orders
	for id := 1; id <= Orders; id++ {
		at := opened().Add(time.Duration(id)*step - time.Duration(r.Int64N(int64(step)))).Truncate(time.Second)
		total := 0
		for line := range 1 + min(r.IntN(4), r.IntN(5)) {
			product, quantity := 1+r.IntN(Products), 1+r.IntN(6)/3*r.IntN(3)
			total += prices[product] * quantity
			if err := item(id, line+1, product, quantity, euros(prices[product])); err != nil {
				return err
			}
		}
		status := statusOf(r, id)
		var sent any
		if status == shipped || status == returned {
			sent = at.Add(time.Duration(4+r.IntN(70)) * time.Hour).Format(second)
		}
		if err := order(id, 1+r.IntN(Customers), status, at.Format(second), sent, euros(total), maybe(r, 0.95, "Please ring twice.")); err != nil {
			return err
		}
	}
	return nil
}

// statusOf returns the state of an order: the newest are still under way.
func statusOf(r *rand.Rand, id int) int {
	if id > Orders-400 {
		return []int{placed, paid, paid, shipped}[r.IntN(4)]
	}
	switch n := r.IntN(100); {
	case n < 4:
		return returned
	case n < 7:
		return cancelled
	}
	return shipped
}
