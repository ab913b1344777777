// Package header reads the request headers that decide how an OData answer
// looks: Accept and $format, Prefer, OData-MaxVersion, Accept-Encoding and
// If-None-Match. Everything here is a pure function of header text.
//
// What the answers mean for a request is decided in package odata; the page
// size that a preference leads to is computed in package plan.
//
// Start reading in accept.go for formats, in prefer.go for preferences.
package header
