// Package jsontext reads JSON (RFC 8259) token by token, in place and with positions: bodies of requests to write, and batches.
// encoding/json takes members that are there twice, names in any case, and what is no text.
//
// What lives elsewhere: package payload reads bodies against a model, package batch the requests of a batch. Start reading at
// Scanner.
package jsontext
