package sqlite3

// Cached returns the number of statements that the connection keeps, and of those that nobody uses.
func (c *Conn) Cached() (all, idle int) { return len(c.cached), c.idle.Len() }
