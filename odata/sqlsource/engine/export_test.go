package engine

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
