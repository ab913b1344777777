// Package mail sends the mails of the sign-in: the link to set a new password,
// and the notice that one was set.
//
// A request only adds a user and the purpose of the mail to the outbox, a table
// of the shared store. A [Worker] of any host leases the item, asks its
// [Resolve] function for the address and a link with a fresh token, renders the
// [Templates] of the item's language as text and HTML, and hands the [Message]
// to a [Sender]: SMTP, a directory of .eml files, or the log. A failed attempt
// is repeated after growing pauses; the last one logs what the operator has to
// repair. So a token exists only in the mail itself, and neither a log nor the
// database of mail ever holds one.
//
// What is not here: who gets mail and when (host/auth), the table behind
// [Outbox] (host/store), the tokens and links (package host). Start reading at
// worker.go; message.go and template.go are what a mail looks like.
package mail
