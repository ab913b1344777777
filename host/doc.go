// Package host is the embeddable server: sign-in, named routes, plugins and the
// OData endpoint behind one http.Handler.
//
// [New] takes [Options] and gives a [Host]. Mount registers everything on a
// gorilla/mux router of the caller's; Run listens by itself; Reload replaces
// what may change while serving. [Admin] is what the commands do to users,
// sessions, counters and plugins, host running or not.
//
// It only assembles: the sign-in flows are host/auth; addresses, guards, files and
// proxies are host/web; reading config.hcl is host/config, the command is
// host/cmd/vestibule. A program that embeds this package links neither the
// configuration nor the front end. Start reading at host.go, and at routes.go for
// the one table of routes.
package host
