// Package password hashes and verifies passwords, checks new ones against the
// policy, and makes failed sign-ins cost the same work for all.
//
// What lives elsewhere: who a password belongs to and what a failure means is
// host/auth. Start reading at [Hasher].
package password
