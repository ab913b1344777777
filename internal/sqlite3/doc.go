// Package sqlite3 drives SQLite through its C interface, as modernc.org/sqlite/lib translates it to Go. It holds
// connections without a mutex, their cached statements, the values of rows where SQLite holds them, and functions in Go.
//
// Only this package imports unsafe, which TestImportsFollowTheLayout in host/layout_test.go holds. database/sql is no
// alternative for pages: its driver opens connections with a mutex and converts each value.
//
// A connection, its statements and its values are for one goroutine at a time, except Interrupt.
//
// Start reading at Open and Stmt.Step.
package sqlite3
