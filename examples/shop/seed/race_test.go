//go:build race

package seed_test

// slow tells that SQLite, which is translated from C, takes minutes under the
// race detector. Nothing in this package runs at the same time as anything else.
const slow = true
