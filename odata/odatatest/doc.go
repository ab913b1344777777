// Package odatatest is the conformance suite of package odata: requests over
// HTTP against a small set of nasty data, and the answers that every source has
// to give, byte for byte, whatever database it reads from.
//
// The expected answers are written by hand from the data in data.go and from
// the standard; nothing of the service computes them. To test a source, fill
// its database with Tables (Fill does that for SQL databases; Memory makes
// structs of them for package memory), and call Run. Its tests also send random
// requests to all engines and compare the answers, see differential_test.go.
// Subpackage dbtest starts database servers. Start reading at Run, then data.go.
package odatatest
