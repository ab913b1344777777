// Package password hashes and verifies passwords, judges new ones, and keeps the
// time of failures the same for all.
//
// What lives elsewhere: who a password belongs to and what a failure means is
// host/auth. Start reading at [Hasher].
package password
