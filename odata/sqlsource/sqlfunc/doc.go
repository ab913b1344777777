// Package sqlfunc spells the functions and operators of expressions in SQL, as templates in which $1, $2, $3 stand for the
// arguments. It is where databases differ most, one file for each.
//
// Comparisons, conditions, identifiers and parameters are the business of package sqltext, and the forms that values have
// in expressions are described at its dialects.
package sqlfunc
