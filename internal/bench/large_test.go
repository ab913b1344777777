package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// What would take more disk than the bound is refused before anything is made.
func TestLargeRefusesWhatTakesMoreThanTheBound(t *testing.T) {
	dir := t.TempDir()
	s := settings{large: true, rows: 100_000_000, disk: 20, dir: dir + "/made"}
	if err := s.largely(t.Context()); err == nil || !strings.Contains(err.Error(), "more than the 20 of -disk") {
		t.Errorf("100 million rows in 20 GB: %v", err)
	}
	s.disk = 30
	if err := s.fits(); err != nil {
		t.Errorf("100 million rows in 30 GB: %v", err)
	}
}

// A run that takes more than the bound ends while it loads.
func TestLargeEndsAtTheBound(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	l := &large{settings: settings{dir: t.TempDir(), disk: 0}}
	if err := os.WriteFile(l.dir+"/rows", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.watch(ctx, cancel)
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "before -disk") {
		t.Errorf("cause %v", err)
	}
}
