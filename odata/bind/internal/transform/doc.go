// Package transform binds the transformations of $apply, step by step, against a Shape: the query so far, and what its rows look
// like. A step that groups, or that looks at several rows, makes a plan.Derived around it, whose rows have a type made for them.
//
// It knows the algebra of OData Data Aggregation 3 and nothing of names, types and limits inside of expressions: package bind
// gives it those as Expressions, and binds the options that act on the result. Start reading at Builder.Apply, then shape.go,
// groupby.go, and concat.go for what has several parts.
package transform
