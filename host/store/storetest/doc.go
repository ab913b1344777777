// Package storetest is the one suite of tests that the store must pass on every
// engine. Each rule is a small function named after it; [Run] runs them all, each
// on an empty database of its own, and [Bench] measures what figures are promised
// for.
//
// What lives elsewhere: how an engine makes an empty database is in the tests of
// the engine's package; what is of one engine only is tested there too. Start
// reading at suite.go.
package storetest
