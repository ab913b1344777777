// Package engine runs statements: it opens transactions that read, and some that write, binds parameters, and hands out cells.
// Three engines implement one small interface, all of them below database/sql. SQLite is read through package sqlite3,
// PostgreSQL through pgx, whose rows are in their binary form, and MariaDB or MySQL through the rows of their driver. The
// last two borrow connections of a pool of database/sql, whose bounds, probes and limits hold for them.
//
// Package sqltext writes the statements; package cursor gives cells their meaning. errors.go and breach.go alone know
// the error codes of the databases. Start reading at DB.
package engine
