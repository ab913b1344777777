// Package mail sends what the sign-in owes people by mail: the link to set a new
// password, and the notice that one was set.
//
// A request only notes in the outbox, a table of the shared store, that a user
// is owed a mail of some purpose. A [Worker] of any host leases the item, asks
// its [Resolve] function for the address and a link with a fresh token, renders
// the [Templates] of the item's language as text and HTML, and hands the
// [Message] to a [Sender]: SMTP, a directory of .eml files, or the log. What
// fails is repeated with growing pauses and given up in the end, with a log line
// that says what to repair. So a token exists only in the mail itself, and
// neither a log nor the database of mail ever holds one.
//
// What is not here: who gets mail and when (host/auth), the table behind
// [Outbox] (host/store), the tokens and links (package host). Start reading at
// worker.go; message.go and template.go are what a mail looks like.
package mail
