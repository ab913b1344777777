// Package sqltext writes the SQL of a plan: one Generator for all databases, and for each a dialect for how the
// database spells a function, compares values, and takes parameters.
//
// Two rules hold throughout. Every value is a parameter; every identifier comes from the Mapping, which was read from
// the database's own catalogue, and is quoted. And an expression means what OData says, not what the database does by
// itself: comparisons have two values, strings compare by code point, nulls come first when ascending.
//
// Expressions are put together from fragments, text with its arguments, in which a zero byte stands for a parameter;
// the dialect numbers them at the end. Start reading at Generator.Rows, then expr.go.
package sqltext
