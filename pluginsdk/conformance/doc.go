// Package conformance checks that a plugin keeps the protocol, whatever language
// it is written in: it starts the program as a host would, holds its handshake,
// its connection, its answers and its end against docs/plugins-reference.md, and reports
// each check by name. It does not need the package testing, so that the command
// "vestibule plugin check" runs it too.
//
// It is a host of its own kind, small and without go-plugin, which makes it a
// second opinion on the protocol.
//
// What lives elsewhere: the same checks as a Go test are
// pluginsdk/plugintest.Conformance; a host's real supervision of plugins is
// host/pluginproc. Start reading at [Run].
package conformance
