// Package mail sends the mails of the sign-in: the link to set a new password,
// and the notice that one was set.
//
// A request only adds a user and the purpose of the mail to the outbox, a table
// of the shared store. A [Worker] of any host leases the item (host/outbox), asks its
// [Resolve] function for the address and a link with a fresh token, renders the
// [Templates] of the item's language as text and HTML, and hands the [Message]
// to a [Sender]: SMTP, a directory of .eml files, or the log. So a token exists
// only in the mail itself, and neither a log nor the database of mail ever holds one.
// A mail of a plugin has its texts in the row, sealed; Resolve opens them.
//
// host/auth decides who gets mail and when, host/store has the table, and package host
// mints the tokens and links. Start reading at worker.go; message.go and template.go are
// what a mail looks like.
package mail
