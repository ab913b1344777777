// Package batch reads and writes the two formats of a $batch: multipart
// (OData-Protocol 11.7) and JSON (OData-JSON 19). Read gives the requests of a
// batch; a Writer writes their answers.
//
// Package odata answers the requests, and decides whether to go on after one that
// failed. Start reading in batch.go.
package batch
