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

func main() {
	rows := flag.Int("rows", 1_000_000, "how many products there are")
	dir := flag.String("dir", ".cache/bench", "where the database is kept between runs")
	rounds := flag.Int("rounds", 7, "how often the contestants take turns")
	role := flag.String("role", "", "what a contestant's process serves: vestibule, baseline or static")
	only := flag.String("only", "", "measure only what has this in its name")
	flag.Parse()
	if err := run(*role, *dir, *only, *rows, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// errShort says that a row of the table fell short of its target.
var errShort = errors.New("some rows fell short of their targets")

func run(role, dir, only string, rows, rounds int) error {
	ctx := context.Background()
	file, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("bench-%d.db", rows)))
	if err != nil {
		return err
	}
	if role != "" {
		return serve(ctx, role, file)
	}
	if err := makeData(ctx, file, rows); err != nil {
		return fmt.Errorf("make data: %w", err)
	}
	b, err := start(file, rows, rounds)
	if err != nil {
		return err
	}
	defer b.stop()
	within := 0
	tests := slices.DeleteFunc(b.tests(), func(t test) bool { return !strings.Contains(t.name, only) })
	for _, test := range tests {
		ratio, err := test.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", test.name, err)
		}
		word := "SHORT"
		if ok := ratio <= test.target; ok != test.atLeast || ratio == test.target {
			word = "ok"
			within++
		}
		fmt.Printf("%-46s ratio %6.3f target %6.3f %s\n", test.name, ratio, test.target, word)
	}
	fmt.Printf("%d of %d within target\n", within, len(tests))
	if within < len(tests) {
		return errShort
	}
	return nil
}
