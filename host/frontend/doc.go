// Package frontend serves the compiled front-end app: its page with the bootstrap
// data in it, and its files. [App] is the app as it was compiled; [Screens] answers
// the requests for it, and knows who is there.
//
// What lives elsewhere: the app itself is package ui, or a directory of the
// host's; where somebody who is signed in goes is decided in host/auth.
package frontend
