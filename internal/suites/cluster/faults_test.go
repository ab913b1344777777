package cluster

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// A fault is what befalls a site under load.
type fault struct {
	name string
	// of names the driver of the one database that this is for; empty for all.
	of string
	// moves tells that another server must take over.
	moves bool
	// recovers tells that all is well again when begin returns, or should be soon.
	recovers bool
	// begin makes it so. What it returns is called when the row has been measured.
	begin func(t *testing.T, w *site) (end func())
	// judge holds a row against the figures.
	judge func(r *row) []string
}

func faults() []fault {
	return []fault{
		{name: "none", begin: func(*testing.T, *site) func() { time.Sleep(5 * time.Second); return nothing }, judge: noneFailed},
		{name: "switch over", moves: true, begin: atPrimary(func(t *testing.T, s server) {
			if err := s.switchOver(); err != nil {
				t.Error("switch over:", err)
			}
		}), judge: nothingRepeatableFailed},
		{name: "primary killed", moves: true, begin: atPrimary(func(_ *testing.T, s server) { s.kill() }), judge: nobodyWaits},
		{name: "primary frozen", moves: true, begin: atPrimary(func(_ *testing.T, s server) { s.freeze() }), judge: nobodyWaits},
		{name: "primary cut off", moves: true, begin: atPrimary(func(_ *testing.T, s server) { s.cut() }), judge: nobodyWaits},
		{name: "disk of the primary full for 8 s", of: "postgres", recovers: true, begin: fillDisk, judge: nobodyWaits},
		{name: "no connection free for 5 s", recovers: true, begin: exhaust, judge: nothingRepeatableFailed},
		{name: "a host killed", begin: killHost, judge: onlyWhatWasUnderWay},
		{name: "rolling restart of the hosts", begin: roll, judge: noneFailed},
	}
}

func nothing() {}

// atPrimary does something to the server that takes writes, and heals it at the end.
func atPrimary(do func(*testing.T, server)) func(*testing.T, *site) func() {
	return func(t *testing.T, w *site) func() {
		s := w.primary()
		go do(t, s)
		return func() { s.heal(t) }
	}
}

func fillDisk(t *testing.T, w *site) func() {
	s := w.primary()
	if err := s.fill(); err != nil {
		t.Error("fill the disk:", err)
	}
	time.Sleep(8 * time.Second)
	s.heal(t)
	return nothing
}

func exhaust(t *testing.T, w *site) func() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Logf("%d connections taken", w.exhaust(ctx, t))
	time.Sleep(5 * time.Second)
	cancel()
	return nothing
}

func killHost(t *testing.T, w *site) func() {
	h := w.hosts[1]
	if err := h.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = h.cmd.Wait()
	time.Sleep(8 * time.Second) // until both balancers have noticed
	return func() { h.serve(t) }
}

func roll(t *testing.T, w *site) func() {
	for _, h := range w.hosts {
		h.restart(t)
		time.Sleep(6 * time.Second) // until both balancers use it again
	}
	return nothing
}

// The figures.

func noneFailed(r *row) []string { return r.short(r.failed == 0, "%d requests failed", r.failed) }

func nothingRepeatableFailed(r *row) []string {
	return r.short(r.repeatable == 0 || r.gap >= wait, "%d requests failed that could have been repeated", r.repeatable)
}

func nobodyWaits(r *row) []string {
	return append(r.short(r.slowest <= wait+time.Second, "a request took %v", r.slowest),
		r.short(r.ready <= 3*time.Second, "the hosts were ready after %v", r.ready)...)
}

func onlyWhatWasUnderWay(r *row) []string {
	return r.short(r.failed <= r.under, "%d requests failed, and %d were under way", r.failed, r.under)
}

func (r *row) short(ok bool, format string, args ...any) []string {
	if ok {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}
