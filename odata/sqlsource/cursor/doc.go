// Package cursor makes plan.Rows of a plan: it runs the statements that package sqltext writes, streams the rows, reads
// the children of expanded properties a chunk of parents at a time, and decodes cells.
//
// decode.go is the one place that knows what a cell means. Start reading at Open.
package cursor
