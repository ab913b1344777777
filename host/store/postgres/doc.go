// Package postgres opens a PostgreSQL database as a store.DB, with pgx.
//
// What is stored and how is package store. Start reading at [Open].
package postgres
