// Package bind types the expressions of a request against a model: it finds properties, functions and variables, brings
// operands to a common type, and says in plan.Expr what is meant.
//
// A Binder is made for one request; a Scope says what names mean at one place of it. Sets that an expression reaches
// are entered through Binder.Enter, so that guards and policies hold there. Resource paths, $select and $expand are
// the business of package planner. Start reading at Scope.Bind.
package bind
