// Package planner binds a parsed request to a model: it resolves the resource path, binds the query options in the
// order of the protocol, and makes the plan.Plan that a source reads and the service writes.
//
// A Planner is made once for a model; Planner.Build makes a Plan for a request. All guards and row policies are
// enforced here and nowhere else: builder.enter is the one gate through which every set is reached, by key, navigation,
// $expand, or an expression.
//
// Expressions are the business of package bind below plan; the structures of a plan and the paging rules are in package
// plan. Start reading at Planner.Build, then path.go and answer.go.
package planner
