package sqlsource

// IsPostgreSQL matches the names of servers whose snapshots are relied on.
const IsPostgreSQL = isPostgreSQL

// WithoutReturning makes a source write like one of MySQL, whose statements return no rows.
func (s *Source) WithoutReturning() { s.shape.mapping.NoReturning = true }
