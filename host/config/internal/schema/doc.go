// Package schema is the table of all settings: a line for each key with its
// type, default, check and documentation. server.go, app.go and odata.go hold
// the lines in the order of the file.
//
// Everything that is said about a single setting is said here, and only here:
// its default, what is wrong with a value, the commented file of `vestibule
// init` ([Sample]) and the table of docs/configuration.md ([Reference]).
//
// What lives elsewhere: reading files, variables and flags by this table is
// package layer; rules over several settings are package config. Start reading
// at [Key].
package schema
