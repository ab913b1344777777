// Package batch knows the two formats in which several requests travel as one:
// multipart (OData-Protocol 11.7) and JSON (OData-JSON 19). It takes a batch
// apart into Requests and puts their answers together again.
//
// It answers nothing itself: which URL is served, what a fault is and when to
// stop is decided in package odata. Start reading in batch.go.
package batch
