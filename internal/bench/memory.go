package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// crowded is how many clients ask the demo at once, and how long.
const (
	crowded     = 32
	crowdedTime = 15 * time.Second
)

// memories measures the demo's host with several settings of server.memory, side by side: its memory under a crowd, and what
// pages cost then.
func (s settings) memories(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	k, err := newKit(ctx, ".", dir)
	if err != nil {
		return err
	}
	settings := strings.Split(s.memory, ",")
	demos := make([]*demo, len(settings))
	for i, setting := range settings {
		if demos[i], err = k.start(setting); err != nil {
			return fmt.Errorf("server.memory=%s: %w", setting, err)
		}
		defer demos[i].end() //nolint:errcheck // it has been measured
		if err := k.crowd(ctx, setting, demos[i]); err != nil {
			return fmt.Errorf("server.memory=%s: %w", setting, err)
		}
	}
	return pages(settings, demos, s.rounds)
}

// crowd lets a crowd ask a host, and prints what that makes of its memory.
func (k *kit) crowd(ctx context.Context, setting string, d *demo) error {
	pid := d.cmd.Process.Pid
	ready := memoryOf(pid, "VmRSS")
	c := &crowd{base: d.base, login: "demo@example.com", password: k.password, clients: crowded}
	crowding, cancel := context.WithTimeout(ctx, crowdedTime)
	defer cancel()
	if err := c.run(crowding); err != nil {
		return err
	}
	fmt.Printf("%-8s MiB: %d when ready, %d at most, %d of plugins. %d clients in %s got", setting, ready, memoryOf(pid, "VmHWM"), d.plugins(), crowded, crowdedTime)
	for kind, name := range kinds {
		fmt.Printf(" %s %d,", name, c.answered[kind].Load())
	}
	fmt.Printf(" refused %d\n", c.refused.Load())
	return nil
}

// pages prints the processor time of each host for pages, in µs. In a round each host answers the same requests, and another
// one begins; what is shown is the median.
func pages(settings []string, demos []*demo, rounds int) error {
	for kind, name := range kinds[:4] {
		costs := make([][]int, len(demos))
		for round := range rounds {
			targets := make([]string, []int{20, 20, 2, 20}[kind])
			for i := range targets {
				targets[i] = target(kind)
			}
			for n := range demos {
				i := (round + n) % len(demos)
				cost, err := demos[i].cost(targets)
				if err != nil {
					return err
				}
				costs[i] = append(costs[i], cost)
			}
		}
		fmt.Printf("%-10s µs:", name)
		for i, setting := range settings {
			slices.Sort(costs[i])
			fmt.Printf(" %d with %s,", costs[i][rounds/2], setting)
		}
		fmt.Printf(" median of %d rounds\n", rounds)
	}
	return nil
}

// cost is the processor time of the host for a request, in µs.
func (d *demo) cost(targets []string) (int, error) {
	before, err := processorTime(d.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	for _, target := range targets {
		resp, err := http.Get(d.base + target)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return 0, err
		}
	}
	after, err := processorTime(d.cmd.Process.Pid)
	return (after - before) / len(targets), err
}
