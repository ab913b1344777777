// Package syntax reads a raw OData request target, everything below the service
// root, into an abstract syntax tree. It covers the grammar of OData 4.0 and 4.01
// as far as reads go, and tells what the standard has and this service has not
// (code "not_implemented") from what is plainly wrong.
//
// The package knows no model: whether Products(1) is an entity or a function
// call, whether Sub.Type is a cast, or a segment a key, is decided in
// odata/bind, as are types and names. It also knows no HTTP: negotiation, the
// choice between 4.0 and 4.01, and error bodies live in package odata.
//
// Percent-encoding is undone here and nowhere else, exactly once, after the
// target was split (OData-URL 2.2): at "/" in the path, at "&" and the first "="
// in the query. In the query "+" is a space and "%2B" a plus; ";" is data.
//
// Start reading at [Parse] in request.go; ast.go has the types it returns.
// Comments cite "OData-URL n" (OData 4.01 Part 2: URL Conventions) or "ABNF rule"
// (OData ABNF Construction Rules 4.01).
package syntax
