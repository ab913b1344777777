// Package csdl writes a model as a $metadata document, in XML (OData-CSDLXML
// 4.0 and 4.01) and in JSON (OData-CSDLJSON 4.01), with Core and Capabilities
// annotations that tell a client what the service does and does not do, and as an
// OpenAPI 3.1 document after the committee's mapping.
//
// The model itself is package edm. annotations.go decides on the annotations, for
// both formats. Start reading there, then in xml.go; OpenAPI begins in openapi.go.
package csdl
