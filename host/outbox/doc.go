// Package outbox delivers the rows of the outbox: mails to people, and events to
// listeners.
//
// A transaction writes a row with the change that the row is about. A [Worker] of any host
// leases the row and hands it to its [Deliverer]. A failed attempt is repeated after a
// growing pause, until the Deliverer gives the row up. Every row is delivered at least
// once, and events in order for each user and listener.
//
// host/store has the table behind [Store], host/mail delivers mails, and
// host/pluginproc/internal/events delivers events. Start reading at worker.go.
package outbox
