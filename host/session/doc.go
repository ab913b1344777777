// Package session is a server-side store for gorilla/sessions over a small
// [Backend]: the cookie carries a random id, the backend a row under its hash.
//
// [Guests] keeps the little that is remembered of a guest in a signed cookie.
//
// It decides the cookie's policy, the idle and absolute limits, renewal, and
// when a row is written: never for a visit that has nothing to remember, and
// never again once it was deleted.
//
// What lives elsewhere: what a session means for sign-in is host/auth; the rows
// are kept by host/store. Start reading at [Store].
package session
