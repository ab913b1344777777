// Package session keeps the sessions of host/auth on the server, over a small
// [auth.SessionRows]: the cookie carries a random id, the backend a row under its hash. A
// program that embeds the host keeps values of its own in the same session through
// gorilla/sessions.
//
// [Guests] keeps the little that is remembered of a guest in a signed cookie.
//
// It decides the cookie's policy, the idle and absolute limits, renewal, and
// when a row is written: never for a visit that has nothing to remember, and
// never again once it was deleted.
//
// What a session means for sign-in is decided in host/auth; host/store keeps the rows. Start reading at [Store].
package session
