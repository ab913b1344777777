// Package engine runs read-only statements: it opens read transactions, binds parameters, and hands out cells without
// interpreting them. There are two engines behind one small interface: SQLite below database/sql (its own connections,
// cached statements), and everything that database/sql drives.
//
// Package sqltext writes the statements; package cursor gives cells their meaning. errors.go is the one place that knows
// the error codes of the databases. Start reading at DB.
//
// SQLite is driven by zombiezen.com/go/sqlite and not by the C-level API of modernc.org/sqlite, which would save about
// another third of a page's time: the wrapper owns the memory that passes between the two, resets and finalizes
// statements in the right order, and interrupts them, all of which would otherwise be pointer arithmetic of ours.
package engine
