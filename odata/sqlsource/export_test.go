package sqlsource

// IsPostgreSQL matches the names of servers whose snapshots are relied on.
const IsPostgreSQL = isPostgreSQL
