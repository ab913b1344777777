// Package form reads the bodies of the sign-in endpoints, JSON or form-encoded,
// and refuses whatever two readers could understand in two ways.
//
// What lives elsewhere: which fields an endpoint has is decided in host/auth.
package form
