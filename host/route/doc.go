// Package route serves what a route of the configuration leads to: a file, the
// files below a directory, or an application behind a proxy, which is told who is
// signed in.
//
// What lives elsewhere: who may pass is decided by the guards in package host, and
// the front-end app's hashed files are served by host/frontend.
package route
