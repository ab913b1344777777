// Package frontend serves the compiled front-end app: its page with the bootstrap
// data in it, and its files.
//
// What lives elsewhere: the app itself is package ui, or a directory of the
// host's; when its page is shown is decided in package host.
package frontend
