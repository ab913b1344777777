package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
)

// Tables with the names of all products, of which one has an index of the parts of texts.
const (
	partsTables = `
CREATE TABLE IF NOT EXISTS parts_read (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL);
CREATE TABLE IF NOT EXISTS parts_found (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL);
INSERT INTO parts_read SELECT id, name FROM products WHERE NOT EXISTS (SELECT 1 FROM parts_read);
INSERT INTO parts_found SELECT id, name FROM parts_read WHERE NOT EXISTS (SELECT 1 FROM parts_found);`
	partsPostgres = `
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX IF NOT EXISTS parts_found_name ON parts_found USING gin (name gin_trgm_ops);
CREATE INDEX IF NOT EXISTS parts_found_begin ON parts_found (name COLLATE "C");
ANALYZE parts_read, parts_found;`
)

// partsMade makes these tables once.
func (b *bench) partsMade(ctx context.Context) (err error) {
	if b.db != "postgres" {
		return errors.New("only PostgreSQL has an index of parts of texts")
	}
	db, err := sql.Open("pgx", b.dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, partsTables+partsPostgres)
	return err
}

// finds are rows that look for parts of texts in every row, and by an index.
func (b *bench) finds() []test {
	if b.db != "postgres" {
		return nil
	}
	var list []test
	for _, row := range []struct {
		name, query string
		target      float64
	}{
		{"a rare part", "$filter=contains(name,'%d')", 0.05},
		{"a rare part, and the total", "$count=true&$filter=contains(name,'%d')", 0.05},
		{"a frequent part", "$filter=contains(name,'number')&x=%d", 0},
		{"a frequent part, and the total", "$count=true&$filter=contains(name,'number')&x=%d", 0},
		{"a part that nobody has", "$filter=contains(name,'no%dway')", 0.05},
		{"a rare beginning", "$filter=startswith(name,'Product%%20number%%20%d')", 0.05},
	} {
		list = append(list, test{"contains, " + row.name + ": index / none", row.target, func() (measured, error) { return b.found(row.query) }})
	}
	return list
}

// found compares what is found by an index with what is found in every row, in what both cost the host and its database.
func (b *bench) found(query string) (m measured, err error) {
	if err := b.partsMade(context.Background()); err != nil {
		return m, err
	}
	c, err := b.startContestant("vestibule") // one that knows the tables
	if err != nil {
		return m, err
	}
	defer c.stop()
	path := func(set string) func() string {
		return func() string { return "/odata/" + set + "?" + fmt.Sprintf(query, 10_000+rand.IntN(90_000)) } // any will do
	}
	const few = 5
	return b.ratioOf(b.rounds, side{c, few, path("parts_found")}, side{c, few, path("parts_read")}, func(s spent) float64 { return s.host + s.server })
}
