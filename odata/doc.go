// Package odata serves a data model over HTTP as OData 4.0 and 4.01 have it:
// service document, metadata, entity sets, entities, navigation, properties,
// counts and batches. Rows of sets that allow it are created, changed and
// deleted. A Service is an http.Handler that needs nothing but a model, a
// Source of rows, and a place in some router.
//
// A request goes one way, through a file for each stage: request.go takes apart
// what was sent, plan.go has it parsed (package syntax) and bound to the model
// (package bind, which also checks guards), answer.go opens the rows and has
// them encoded (package payload), and response.go decides on status and headers
// and sends. pipeline.go is these stages in a row; cache.go keeps plans and
// answers beside them. Errors of every stage become a fault in fault.go, which
// report.go sends. batch.go puts the parts of a batch through the pipeline.
//
// A request that writes leaves the pipeline for writing, in write.go: its target
// and its body (package payload) become a write.Change (writebind.go, package
// bind), which a transaction of a Writable source applies (changes.go). The
// answer (writeanswer.go) waits for the commit; refusal.go says what a change
// that was not made is answered with. Before the transaction begins, asking.go
// and foresee.go make proposals of the changes for the rules of their sets, of
// all requests of a group at once (batchrules.go); verdict.go reads what rules
// say, and seen.go compares what is then changed with what they have seen.
//
// What lives elsewhere: headers (package header), batch formats (package
// batch), $metadata (package csdl), the model (package edm), SQL (package
// sqlsource), sessions and configuration (the host). Start reading at
// Service.ServeHTTP.
package odata
