// Package static serves files of the application: one, or those below a
// directory.
//
// What lives elsewhere: who may see them is decided by the guards in package
// host, and the front-end app's hashed files are served by host/frontend.
package static
