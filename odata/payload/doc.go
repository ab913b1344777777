// Package payload writes the rows of a plan as OData JSON (OData-JSON 4.0 and
// 4.01): collections, entities, properties, references, with the control
// information that the client asked for, context URLs and links.
//
// Everything is appended to one buffer that goes to a Sink in blocks of 64 KiB,
// so that memory does not grow with the number of rows. Reflection is not used,
// and a cell allocates nothing.
//
// It also reads the bodies of requests that write against the model, with the place of each fault: BodyReader in body.go.
//
// The plan says what is read and which fields are written; package odata decides
// on status, headers and compression. Start reading at Encoder in
// encoder.go, then in node.go.
package payload
