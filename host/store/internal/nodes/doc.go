// Package nodes connects to the servers that a database may be on. It tries them
// side by side, the last good one first, and asks each one that is in use every
// second over a connection of its own: the connections of a server that does not
// answer are closed, so that nobody waits for what hangs. So are those that stay silent
// while a new one is answered.
//
// What a server is and how it is asked is told by host/store/postgres and mysql;
// what is repeated afterwards is decided in internal/repeat. Start reading at
// [Cluster].
package nodes
