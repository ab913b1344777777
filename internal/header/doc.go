// Package header reads the request headers that decide how an OData answer
// looks: Accept and $format, Prefer, OData-MaxVersion, Accept-Encoding and
// If-None-Match. Everything here is a pure function of header text, and knows
// nothing of OData but these headers: whoever serves files asks it for Accept-Encoding
// and Range too.
//
// Package odata decides what they mean for a request; package plan computes the
// page size that a preference leads to.
//
// Start reading in accept.go for formats, in prefer.go for preferences.
package header
