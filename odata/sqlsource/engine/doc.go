// Package engine runs read-only statements: it opens read transactions, binds parameters, and hands out cells.
// Three engines implement one small interface, all of them below database/sql. SQLite is read through package sqlite3,
// PostgreSQL through pgx, whose rows are in their binary form, and MariaDB or MySQL through the rows of their driver. The
// last two borrow connections of a pool of database/sql, whose bounds, probes and limits hold for them.
//
// Package sqltext writes the statements; package cursor gives cells their meaning. errors.go is the one place that knows
// the error codes of the databases. Start reading at DB.
package engine
