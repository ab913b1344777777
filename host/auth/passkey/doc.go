// Package passkey runs the ceremonies of WebAuthn Level 3 over go-webauthn: the options that a browser is given, and the
// verification of its answers. Start with [Site].
//
// What lives elsewhere: host/auth has the endpoints, the transactions and the throttles, and host/store implements
// [Store]. passkeytest is an authenticator for tests.
package passkey
