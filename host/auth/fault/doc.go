// Package fault is the one error type of the sign-in endpoints, its codes, and
// the one place that maps them to HTTP.
//
// A code is public and has a text in the front end; a cause is for the log. What
// lives elsewhere: which situation is which fault is decided in host/auth and
// host. The query endpoint speaks OData's error format instead.
package fault
