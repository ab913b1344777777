package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"zombiezen.com/go/sqlite"
)

// BenchmarkSteps steps through the rows of the filtered page in the data of `make bench`, by SQLite's C interface and no
// more: what remains of a page without JSON and HTTP.
func BenchmarkSteps(b *testing.B) {
	const file = "../../.cache/bench/bench-1000000.db"
	if _, err := os.Stat(file); err != nil {
		b.Skip("there is no data: run `make bench` first")
	}
	for _, mapped := range []int{0, 1 << 28} {
		for name, category := range map[string]func() int64{
			"any":  func() int64 { return rand.Int64N(500) + 1 },
			"same": func() int64 { return 7 },
		} {
			b.Run(fmt.Sprintf("%s category/mapped=%d", name, mapped), func(b *testing.B) { steps(b, file, mapped, category) })
		}
	}
}

func steps(b *testing.B, file string, mapped int, category func() int64) {
	c, err := sqlite.OpenConn("file:"+file, sqlite.OpenReadWrite, sqlite.OpenURI)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for _, pragma := range []string{"query_only = 1", "cache_size = -131072", fmt.Sprintf("mmap_size = %d", mapped)} { // as the host has them, but for the last
		stmt, _, err := c.PrepareTransient("PRAGMA " + pragma)
		if err == nil {
			_, err = stmt.Step()
		}
		if err != nil || stmt.Finalize() != nil {
			b.Fatal(err)
		}
	}
	page, err := c.Prepare(`SELECT ` + columns + ` FROM products WHERE category_id = ? AND price > ? ORDER BY price, id LIMIT 201`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		page.BindInt64(1, category())
		page.BindInt64(2, 10)
		rows := 0
		for more, err := page.Step(); more; more, err = page.Step() {
			if err != nil {
				b.Fatal(err)
			}
			rows++
		}
		if err := page.Reset(); err != nil || rows != 201 {
			b.Fatal(rows, err)
		}
	}
}
