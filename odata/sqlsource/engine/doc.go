// Package engine runs read-only statements: it opens read transactions, binds parameters, and hands out cells without
// interpreting them. There are two engines behind one small interface: SQLite below database/sql (its own connections,
// cached statements), and everything that database/sql drives.
//
// What the statements say is decided in package sqltext, what cells mean in package sqlsource. Start reading at DB.
package engine
