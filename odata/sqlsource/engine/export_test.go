package engine

import "zombiezen.com/go/sqlite"

// PagesWithin is how many KiB of the file the first, the second and any other connection keep.
func PagesWithin(limit int64) [3]int {
	p := pagesWithin(limit)
	return [...]int{p.of(0), p.of(1), p.of(2)}
}

// HasHandle tells whether a cursor of SQLite reads cells below the driver.
func HasHandle(c Cursor) bool {
	lite, ok := c.(*sqliteCursor)
	return ok && lite.handle != 0
}

// ForgetHandle makes a cursor of SQLite read cells by the driver.
func ForgetHandle(c Cursor) {
	if lite, ok := c.(*sqliteCursor); ok {
		lite.handle = 0
	}
}

// Kept is how many statements, and handles of statements, the connection of a transaction of SQLite keeps.
func Kept(tx Tx) (statements, handles int) {
	c := tx.(*sqliteTx).conn
	return len(c.cached), len(c.known)
}

// HasSums tells whether a transaction of SQLite computes ves_sum below the driver, and has none left that did not end.
func HasSums(tx Tx) bool {
	s := tx.(*sqliteTx).conn.sums
	return s != nil && len(s.list) == len(s.free)
}

// ForgetSums makes a transaction of SQLite compute ves_sum by the driver.
func ForgetSums(tx Tx) error {
	return registerByDriver(tx.(*sqliteTx).conn, "ves_sum", func() sqlite.AggregateFunction { return &decimalSum{} })
}
