// Package host is the embeddable server: sign-in, named routes, plugins and the
// OData endpoint behind one http.Handler.
//
// [New] takes [Options] and gives a [Host]. Mount registers everything on a
// gorilla/mux router of the caller's; Run listens by itself; Reload replaces
// what may change while serving. [Admin] is what the commands do to users,
// sessions, counters and plugins, host running or not.
//
// What lives elsewhere: the sign-in flows are host/auth, reading config.hcl is
// host/config, the command is host/cmd/vestibule. A program that embeds this
// package links neither the configuration nor the front end. Start reading at
// host.go.
package host
