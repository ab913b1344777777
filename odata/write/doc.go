// Package write holds the contract of writing: a [Change] is one row to be written, with the conditions that must hold before and
// after it, a [Transaction] makes changes, and a [Refusal] is the reason for which one was not made.
//
// What lives elsewhere: package bind makes changes of requests, package sqlsource and package memory apply them, and package odata
// answers. Entity tags are columns of a node of package plan. Start reading at Change.
package write
