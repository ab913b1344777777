// Package events tells listeners, which are plugins with that role, what has happened to
// a user: after the commit, at least once, and in order for each user and listener.
//
// An event is written to the outbox, the table that mail is queued in, by the transaction
// that makes it true, once for each listener. A [Worker] of any host leases it, asks for
// the person, and tells the listener. What fails is tried again after pauses that double
// from a second to a quarter of an hour, and given up after a day; meanwhile the later
// events of that user wait, and nobody else's.
//
// What is not here: which events there are (host/auth), the table behind [Outbox]
// (host/store), the call of a plugin (package pluginproc), subscribers in the same process
// (package host). Start reading at worker.go.
package events
