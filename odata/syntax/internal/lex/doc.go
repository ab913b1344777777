// Package lex is the lower half of package syntax: the way between raw and decoded
// positions (source.go), a cursor over the decoded text with names, lists, limits
// and error positions (lex.go), and the literals of OData URLs (literal.go and the
// files of their kinds). It knows neither expressions nor query options.
package lex
