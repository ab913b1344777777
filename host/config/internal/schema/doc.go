// Package schema derives the settings of a file from the struct that they are decoded
// into: the type of a field is the type of its key, and its tags hold the default, the
// check and the documentation ([Of]).
//
// Everything that is said about a single setting is in its tags, and only there. From
// them are what is wrong with a value, the commented file of `vestibule init`
// ([Sample]) and the table of docs/configuration.md ([Reference]).
//
// What lives elsewhere: the struct is config.Config; reading files, variables and flags
// is package layer; rules over several settings are package config. Start reading at
// [Of].
package schema
