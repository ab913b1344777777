// Package target checks where a browser may be sent: the intended URL, and the
// target of a redirect intent.
//
// What lives elsewhere: keeping and using them is host/auth.
package target
