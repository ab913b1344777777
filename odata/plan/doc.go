// Package plan is the contract between the rooms of an OData service: what a request means for a model, in plain
// structures (Plan, Node, Query, Expr), and how its rows are read (Rows, Value). Package bind makes plans, a source
// such as package sqlsource opens their rows, and package odata writes them. It knows no syntax, no SQL and no HTTP.
//
// A Plan is a tree of Nodes: one for the rows of the answer and one for every expanded navigation property. A Node
// holds a Query (what to read: range of entities, filter, search, order) and the Fields (what to write). Row policies
// are in Range.Policy of every range, and a source must apply them.
//
// The rows of a Range are those of a set, or a Derived: what transformations of $apply have computed from other queries.
//
// A Change is a row to be written, with the plans that read it before and after, and a Transaction makes it.
//
// The paging rules are in one pure function, Window.Page, and Nested decides where nested pages end. Start reading at Plan,
// then Node, Expr, and Rows.
package plan
