// Package odata serves a data model over HTTP as OData 4.0 and 4.01 allow it to
// be read: service document, metadata, entity sets, entities, navigation,
// properties, counts and batches. A Service is an http.Handler that needs
// nothing but a model, a source of rows, and a place in some router.
//
// A request goes one way: request.go finds out what was sent, package syntax
// reads the target, package plan binds it to the model and checks who may see
// what, the Source opens rows, package payload writes them, and response.go
// decides on headers and sends. Faults of every stage become an answer in
// errors.go. Batches (batch.go) send their parts the same way.
//
// What lives elsewhere: headers (package header), batch formats (package
// batch), $metadata (package csdl), the model (package edm), SQL (package
// sqlsource), sessions and configuration (the host). Start reading at
// Service.ServeHTTP.
package odata
