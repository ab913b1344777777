// Bench measures the query endpoint over a million rows on SQLite, PostgreSQL and
// MariaDB, which it starts itself, each against two yardsticks in one run: a
// handler that was written by hand on the native driver for the same pages, and
// static bytes of the same size. `make bench` runs it.
//
// Each contestant is a process of its own, so that the processor time of a
// request can be read without that of the client; that of the database's
// processes is shown beside it. The contestants take turns, and a row of the
// result is the median of the ratios of the rounds: a busy machine slows all of
// them alike.
//
// With -people it measures sign-in instead: what sign-in, guarded pages, the end of
// sessions and sweeps cost with a hundred people and with so many, through two hosts
// on one database, and how old the answers of a standby of PostgreSQL are. `make -C
// internal people` says a million.
//
// With -large it loads a table of -rows rows into PostgreSQL under -dir, plain and then partitioned by hash, and asks for it
// through the real program; then it asks through PgBouncer, and measures how long a remembered total lives. It goes on where
// the last run ended, and takes -disk GB at most. `make bench-large` says 100 million rows.
//
// With -edge it measures requests to an application behind the host instead, beside Caddy and nginx from Debian and a bare
// httputil.ReverseProxy: HTTP and TLS, three sizes, open and guarded, and what nginx's question whether to let a request
// pass costs the host.
//
// With -wide it measures what a thousand tables cost at the start: `vestibule init --from`, `check`, `serve` until it is
// ready, and the first $metadata, in processor time and memory of the process.
//
// With -memory it starts the demo's host with settings of server.memory instead, and shows what a crowd of clients makes of its
// memory, and what pages cost; `make -C internal memory` says which.
//
// A program given by -rival is started with -db (sqlite, postgres, mariadb) and
// -dsn for the same data. It must print the address of its service root as its
// first line, such as http://127.0.0.1:4711, serve the table products as
// Products, and end when its standard input does.
package main
