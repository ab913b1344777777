package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// usualPages is the memory of pages in bytes where it is not limited.
const usualPages = 256 << 20

// pages says how many KiB of the file connections keep. The first two keep more, because they do most of the work: whoever
// needs a connection gets the one that keeps most. A page of 4 KiB takes 8 KiB of memory, so 20 connections take 432 MiB at
// most. SQLite drops all pages of a connection when another connection has committed.
type pages struct{ first, second, other int }

// pagesWithin divides the memory of pages in bytes: the first connection takes all of it at most. All together may take
// more, unless internal/sqlite3.LimitHeap bounds them: SQLite drops the pages then that no connection has used for longest.
func pagesWithin(limit int64) pages {
	first := int(cmp.Or(limit, usualPages) / 2 >> 10)
	return pages{first, first / 8, min(4<<10, first/8)}
}

// of is how many a connection keeps.
func (p pages) of(rank int) int {
	switch rank {
	case 0:
		return p.first
	case 1:
		return p.second
	}
	return p.other
}

// manyRows is how many rows an answer has that goes over the connection that keeps least: it would drive out what other
// answers are read from again, and fill memory with what is read once.
const manyRows = 5000

func (p pages) set(c *sqlite3.Conn, rank int) error {
	return c.Exec(fmt.Sprintf("PRAGMA cache_size=%d", -max(p.of(rank), 1)))
}

// choose takes the free connection that keeps most, or the rank of one that is to be opened; for many rows the one that
// keeps least. The caller holds mu and has a slot, so there is one or the other.
func (db *SQLite) choose(need Need) (c *conn, rank int) {
	at, best := -1, -1
	better := func(rank int) bool {
		if need.Rows > manyRows {
			return best < 0 || db.pages.of(rank) < db.pages.of(best)
		}
		return best < 0 || db.pages.of(rank) > db.pages.of(best)
	}
	for i, c := range slices.Backward(db.idle) { // of equals the one that was used last
		if better(c.rank) {
			at, best = i, c.rank
		}
	}
	for rank, taken := range db.ranks {
		if !taken && better(rank) {
			at, best = -1, rank
		}
	}
	if at < 0 {
		db.ranks[best] = true
		return nil, best
	}
	c = db.idle[at]
	db.idle = slices.Delete(db.idle, at, at+1)
	return c, best
}
