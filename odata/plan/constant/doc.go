// Package constant gives literals their values: it reads what a request spells, converts constants between types where
// that loses nothing, and writes times and durations in their canonical form. It is pure. Start reading at Of and
// Convert.
package constant
