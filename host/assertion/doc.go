// Package assertion signs what the host tells applications about who makes a
// request: JSON Web Tokens (RFC 7519) under ES256 (RFC 7518 3.4), with keys that
// all hosts share, and publishes the public halves (RFC 7517).
//
// What an assertion says is put together in host/web; the keys are kept by
// host/store. Start reading at ring.go.
package assertion
