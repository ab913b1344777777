// Package mysql opens a MariaDB or MySQL database as a store.DB. MariaDB is what
// is tested.
//
// What is stored and how is package store. Start reading at [Open].
package mysql
