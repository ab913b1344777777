// Package frontend serves the compiled front-end app: its page with the bootstrap
// data in it, and its files. [App] is the app as it was compiled; [Screens] answers
// the requests for it, and knows who asks. [Helper] is the library for UI5 applications.
//
// What lives elsewhere: the app itself is package ui, or a directory of the
// host's; host/auth decides where a signed-in user goes.
package frontend
