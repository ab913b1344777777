// Package form reads the bodies of the sign-in endpoints, JSON or form-encoded,
// and refuses bodies that two parsers could read differently.
//
// What lives elsewhere: which fields an endpoint has is decided in host/auth.
package form
