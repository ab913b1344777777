// Package introspect reads what tables and views a database has: columns with their declared types, keys, unique
// constraints, foreign keys, comments, and, where the database does not enforce types, how values are stored. It
// tells of indexes in the types of package sqltext, which asks them.
//
// What of it is exposed, and under which names, is decided in package sqlsource. Start reading at Read.
package introspect
