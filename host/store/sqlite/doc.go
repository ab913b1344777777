// Package sqlite opens a SQLite file as a store.DB, with the driver written in
// Go: one connection that writes, whose transactions take the lock at once, and
// a pool of connections that can only read. That is many times faster than
// several writers, which only make each other wait.
//
// What is stored and how is package store. Start reading at [Open].
package sqlite
