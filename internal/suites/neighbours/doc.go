// Package neighbours measures whether one client can stop the others: while attackers from one address do their worst, an
// innocent client from another signs in, reads pages, follows next links and asks /readyz.
//
// It has no program of its own. `make -C internal neighbours` runs its test against the real command with its defaults, on SQLite
// and PostgreSQL, over a million rows, and prints a table. Start reading at neighbours_test.go, then attacks_test.go.
package neighbours
