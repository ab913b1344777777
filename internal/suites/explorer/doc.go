// Package explorer holds the explorer of the query service to its word over odd data: what a group counts, its link shows,
// and what is typed finds the rows that it means.
//
// It has no program of its own. TestGroupsShowWhatTheyCount fills the same odd tables on SQLite, PostgreSQL and MariaDB, serves them, and lets
// the modules of ui/src/explorer run in Node (ui/test/groups.ts). For random cases it compares their answers with rows that an oracle
// selects by SQL or by the values that were stored. Start reading at groups_test.go, then typed_test.go and oracle_test.go.
package explorer
