// Package plan binds a parsed request to a model: it finds the sets, properties and functions that the request names,
// checks types and rights, and says in plain structures what a source has to read and what an answer looks like.
//
// A Planner is made once for a model; Planner.Build makes a Plan for a request. A Plan is a tree of Nodes: one for the
// rows of the answer and one for every expanded navigation property. A Node holds a Query (what to read: range of
// entities, filter, search, order) and the Fields (what to write). All guards and row policies are enforced here and
// nowhere else: a policy becomes Range.Policy of every range that is reached, on whatever way, and a source must
// apply it; a guard that does not hold is an Error.
//
// The paging rules stand in one pure function, Paginate. The types that a source and its consumer share (Rows, Value)
// are here too, so that either side can be replaced.
//
// What is not here: the grammar (package syntax), SQL (package sqlsource), HTTP and next links (package odata). Start
// reading at Planner.Build, then Node and Expr.
package plan
