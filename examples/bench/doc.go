// Bench measures the query endpoint against two yardsticks in one run: a
// hand-written handler over database/sql for the same pages, and static bytes of
// the same size. `make bench` runs it.
//
// Each contestant is a process of its own, so that the processor time of a
// request can be read without that of the client. The contestants take turns,
// and a row of the result is the median of the ratios of the rounds: a busy
// machine slows all of them alike.
package main
