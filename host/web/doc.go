// Package web is the HTTP around the sign-in: the site with its addresses, what
// every answer gets ([Middleware]), who may pass ([Gate]), and what a route of the
// configuration leads to: a file, the files below a directory, or an application
// behind a proxy.
//
// What lives elsewhere: an auth.Authenticator tells who asks; the table of the
// routes is in package host; the front-end app's hashed files are served by
// host/frontend. Start reading at middleware.go.
package web
