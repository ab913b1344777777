// Package bind resolves a parsed request against a model: the resource path, the query options in the order of the
// protocol, and the types of all expressions. The result is the plan.Plan that a source reads and package odata writes.
//
// A Binder is made once for a model; Binder.Plan makes a plan for one request. Guards and row policies are enforced
// here and nowhere else: binding.enter is the one gate through which every set is reached, by key, navigation, $expand,
// or in an expression.
//
// Requests that write are bound in two steps: Binder.Resource resolves what the path names (written.go), and its methods
// make a write.Change of values (change.go, changelink.go).
//
// The transformations of $apply are bound by internal/transform, for which this package binds the expressions in them and the
// options that act on their result (applied.go).
//
// The structures of a plan and the paging rules are in package plan, the functions and operators in package function,
// the grammar in package syntax. Start reading at Binder.Plan, then resource.go, options.go, and expr.go.
package bind
