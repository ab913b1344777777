// Package column reads and writes columns of tables that belong to the host
// application, of any type: the engines name and return the same types
// differently.
//
// What lives elsewhere: which columns there are, and the SQL, in host/store.
// Start reading at [Column].
package column
