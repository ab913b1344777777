package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are what the command line says.
type settings struct {
	db, dsn, dir, role, only, rival string
	upstream, tls, public, program  string
	rows, rounds, people, disk      int
	edge, large, keep, wide         bool
	memory                          string
}

func main() {
	var s settings
	flag.StringVar(&s.db, "db", "sqlite,postgres,mariadb", "which databases to measure, one after the other")
	flag.IntVar(&s.rows, "rows", 1_000_000, "how many products there are")
	flag.StringVar(&s.dir, "dir", ".cache/bench", "where the SQLite database is kept between runs")
	flag.IntVar(&s.rounds, "rounds", 7, "how often the contestants take turns")
	flag.StringVar(&s.only, "only", "", "measure only what has this in its name")
	flag.StringVar(&s.rival, "rival", "", "a program that serves the same data, to be shown beside; see the package comment")
	flag.IntVar(&s.people, "people", 0, "instead of pages, measure sign-in with so many people who are signed in; `make -C internal people` says a million")
	flag.BoolVar(&s.edge, "edge", false, "instead of pages, measure requests to an application behind the host, beside Caddy and nginx")
	flag.BoolVar(&s.large, "large", false, "instead of pages of a million rows, measure those of -rows in PostgreSQL, in -dir; `make bench-large` says 100 million")
	flag.IntVar(&s.disk, "disk", 30, "how many GB -large may take on disk")
	flag.StringVar(&s.program, "program", "", "the vestibule that -large and -wide measure; empty: the one of this directory, which is built")
	flag.BoolVar(&s.keep, "keep", false, "keep the table of -large, to be measured again")
	flag.BoolVar(&s.wide, "wide", false, "instead of pages, measure check and serve with a thousand tables")
	flag.StringVar(&s.memory, "memory", "", "instead of pages, measure the memory of the demo's host with these settings of server.memory, such as null,160MiB")
	flag.StringVar(&s.upstream, "upstream", "", "for the processes that this one starts: the application")
	flag.StringVar(&s.tls, "tls", "", "for the processes that this one starts: the directory of the certificate")
	flag.StringVar(&s.public, "public", "", "for the processes that this one starts: the public URL")
	flag.StringVar(&s.role, "role", "", "for the processes that this one starts: what to serve")
	flag.StringVar(&s.dsn, "dsn", "", "for the processes that this one starts: the data")
	flag.Parse()
	ctx := context.Background()
	err := error(nil)
	if s.role != "" {
		err = s.serve(ctx)
	} else {
		err = run(ctx, s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// errShort says that a row of the table fell short of its target.
var errShort = errors.New("some rows fell short of their targets")

func run(ctx context.Context, s settings) error {
	all, within := 0, 0
	if s.large {
		return s.largely(ctx)
	}
	if s.people > 0 {
		for _, db := range strings.Split(s.db, ",") {
			if err := s.peopled(ctx, db); err != nil {
				return fmt.Errorf("%s: %w", db, err)
			}
		}
		return nil
	}
	if s.memory != "" {
		return s.memories(ctx)
	}
	table := s.table
	switch {
	case s.edge:
		table = s.edged
	case s.wide:
		table = s.widened
	}
	for _, db := range strings.Split(s.db, ",") {
		n, ok, err := table(ctx, db)
		if err != nil {
			return fmt.Errorf("%s: %w", db, err)
		}
		all, within = all+n, within+ok
	}
	fmt.Printf("%d of %d within target\n", within, all)
	if within < all {
		return errShort
	}
	return nil
}

// data makes the data and returns where it is.
func (s settings) data(ctx context.Context, db string) (dsn string, err error) {
	switch db {
	case "sqlite":
		if dsn, err = filepath.Abs(filepath.Join(s.dir, fmt.Sprintf("bench-%d.db", s.rows))); err != nil {
			return "", err
		}
		return dsn, makeData(ctx, dsn, s.rows)
	case "postgres":
		return postgresData(ctx, s.rows)
	case "mariadb":
		return mariadbData(ctx, s.rows)
	}
	return "", errors.New("there are sqlite, postgres and mariadb")
}

// table measures all rows for a database, and returns how many have a target, and how many are within it.
func (s settings) table(ctx context.Context, db string) (all, within int, err error) {
	dsn, err := s.data(ctx, db)
	if err == nil {
		err = writable(ctx, db, dsn)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("make data: %w", err)
	}
	b, err := start(db, dsn, s)
	if err != nil {
		return 0, 0, err
	}
	defer b.stop()
	fmt.Printf("%s, %d rows; µs of processor time per request: ours + its database | the other's + its database\n", db, s.rows)
	return s.print(b.tests())
}

// print measures rows and prints them.
func (s settings) print(tests []test) (all, within int, err error) {
	tests = slices.DeleteFunc(tests, func(t test) bool { return !strings.Contains(t.name, s.only) })
	for _, test := range tests {
		got, err := test.measure()
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", test.name, err)
		}
		target, word := "", ""
		if test.target > 0 {
			all++
			target, word = fmt.Sprintf("%6.3f", test.target), "SHORT"
			if got.ratio <= test.target {
				word = "ok"
				within++
			}
		}
		fmt.Printf("%-52s %8.3f %8s %-6s %s\n", test.name, got.ratio, target, word, got.detail)
	}
	return all, within, nil
}
