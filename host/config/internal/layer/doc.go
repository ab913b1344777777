// Package layer reads one layer of the configuration at a time by the table of
// package schema: a file of HCL 2 ([Parser]), environment variables and flags
// ([Parser.Apply]). A layer is a tree of plain values as koanf merges it, the
// [Origins] of its values, and [Findings].
//
// What lives elsewhere: the settings themselves are package schema; merging the
// layers, defaults and rules over several settings are package config. Start
// reading at parser.go.
package layer
