// Package frontend serves the compiled front-end app: its page with the bootstrap
// data in it, and its files. [App] is the app as it was compiled; [Screens] answers
// the requests for it, and knows who asks.
//
// What lives elsewhere: the app itself is package ui, or a directory of the
// host's; host/auth decides where a signed-in user goes.
package frontend
