// Package bind resolves a parsed request against a model: the resource path, the query options in the order of the
// protocol, and the types of all expressions. The result is the plan.Plan that a source reads and package odata writes.
//
// A Binder is made once for a model; Binder.Plan makes a plan for one request. Guards and row policies are enforced
// here and nowhere else: binding.enter is the one gate through which every set is reached, by key, navigation, $expand,
// or in an expression.
//
// $apply is bound step by step against a shape: the query so far, and what its rows look like (apply.go, shape.go). A step
// that groups, or that looks at several rows, makes a plan.Derived around it, whose rows have a type made for them.
//
// The structures of a plan and the paging rules are in package plan, the functions and operators in package function,
// the grammar in package syntax. Start reading at Binder.Plan, then resource.go, options.go, and expr.go.
package bind
