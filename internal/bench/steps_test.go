package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
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
	c, err := sqlite3.Open("file:" + file)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for _, pragma := range []string{"query_only = 1", "cache_size = -131072", fmt.Sprintf("mmap_size = %d", mapped)} { // as the host has them, but for the last
		if err := c.Exec("PRAGMA " + pragma); err != nil {
			b.Fatal(err)
		}
	}
	page, err := c.Prepare(`SELECT ` + columns + ` FROM products WHERE category_id = ? AND price > ? ORDER BY price, id LIMIT 201`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := errors.Join(page.Bind(1, category()), page.Bind(2, int64(10))); err != nil {
			b.Fatal(err)
		}
		rows := 0
		for more, err := page.Step(); more; more, err = page.Step() {
			if err != nil {
				b.Fatal(err)
			}
			rows++
		}
		page.Reset()
		if rows != 201 {
			b.Fatal(rows)
		}
	}
}
