// Package proc runs one plugin process: it checks the program, starts it,
// brings up the connection, drains and bounds what it prints, and ends it with
// all that it started.
//
// What lives elsewhere: keeping a process running, replacing it, and handing
// calls to it is host/pluginproc. Start reading at [Launcher].
package proc
