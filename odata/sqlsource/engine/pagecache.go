package engine

import (
	"fmt"
	"slices"

	"github.com/vestibule-dev/vestibule/v2/internal/sqlite3"
)

// mostPages is how many KiB of the file the first connection keeps where memory is not limited.
const mostPages = 128 << 10

// pages says how many KiB of the file connections keep. The first two keep more, because they do most of the work: whoever
// needs a connection gets the one that keeps most. A page of 4 KiB takes 8 KiB of memory, so 20 connections take 432 MiB at
// most. SQLite drops all pages of a connection when another connection has committed.
type pages struct{ first, second, other int }

// pagesWithin is for a process whose memory is to stay below a limit in bytes, GOMEMLIMIT: the first connection takes a
// quarter of it at most.
func pagesWithin(limit int64) pages {
	first := int(min(mostPages, limit/8>>10))
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
