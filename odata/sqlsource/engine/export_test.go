package engine

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
