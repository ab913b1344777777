// Package engine runs read-only statements: it opens read transactions, binds parameters, and hands out cells without
// interpreting them. There are three engines behind one small interface, all of them below database/sql: SQLite (its own
// connections, cached statements), PostgreSQL by pgx, whose rows come in their binary form, and MariaDB or MySQL by the rows
// of their driver. The last two borrow connections of a pool of database/sql, so that its bounds, probes and limits hold for
// them. What speaks PostgreSQL's protocol through another driver, or without descriptions of results, is read by
// database/sql itself.
//
// Package sqltext writes the statements; package cursor gives cells their meaning. errors.go is the one place that knows
// the error codes of the databases. Start reading at DB.
//
// SQLite is driven by zombiezen.com/go/sqlite and not by the C-level API of modernc.org/sqlite, which would save about
// another third of a page's time: the wrapper owns the memory that passes between the two, resets and finalizes
// statements in the right order, and interrupts them, all of which would otherwise be pointer arithmetic of ours.
package engine
