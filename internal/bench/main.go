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
	rows, rounds, people            int
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
	flag.StringVar(&s.role, "role", "", "for the processes that this one starts: what to serve")
	flag.StringVar(&s.dsn, "dsn", "", "for the processes that this one starts: the data")
	flag.Parse()
	ctx := context.Background()
	err := error(nil)
	if s.role != "" {
		err = serve(ctx, s.role, s.db, s.dsn)
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
	if s.people > 0 {
		for _, db := range strings.Split(s.db, ",") {
			if err := s.peopled(ctx, db); err != nil {
				return fmt.Errorf("%s: %w", db, err)
			}
		}
		return nil
	}
	for _, db := range strings.Split(s.db, ",") {
		dsn, err := s.data(ctx, db)
		if err == nil {
			err = writable(ctx, db, dsn)
		}
		if err != nil {
			return fmt.Errorf("make data for %s: %w", db, err)
		}
		n, ok, err := s.table(db, dsn)
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
func (s settings) table(db, dsn string) (all, within int, err error) {
	b, err := start(db, dsn, s)
	if err != nil {
		return 0, 0, err
	}
	defer b.stop()
	fmt.Printf("%s, %d rows; µs of processor time per request: ours + its database | the other's + its database\n", db, s.rows)
	tests := slices.DeleteFunc(b.tests(), func(t test) bool { return !strings.Contains(t.name, s.only) })
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
