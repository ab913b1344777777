package main

import (
	"fmt"
	"slices"
)

// measured is the result of a row: a ratio, and what it is of.
type measured struct {
	ratio  float64
	detail string
}

// A side is a contestant and what it is asked.
type side struct {
	c    *contestant
	n    int
	path func() string
}

// ratio lets two sides take turns and returns the median of the rounds' ratios of the processor time. Sides that are asked
// for many pages take six times as many turns: what else the machine does changes from one to the next, and a few decide by
// chance.
func (b *bench) ratio(one, other side) (measured, error) {
	rounds := b.rounds
	if one.n >= turn {
		rounds *= 6
	}
	return b.ratioOf(rounds, one, other, func(s spent) float64 { return s.host })
}

// waiting is like ratio, for the time until a request is answered.
func (b *bench) waiting(one, other side) (measured, error) {
	return b.ratioOf(b.rounds, one, other, func(s spent) float64 { return s.wall })
}

func (b *bench) ratioOf(rounds int, one, other side, by func(spent) float64) (measured, error) {
	var ratios []float64
	var ones, others []spent
	for round := range rounds + 1 {
		x, err := b.cost(one.c, one.n, one.path)
		if err != nil {
			return measured{}, err
		}
		y, err := b.cost(other.c, other.n, other.path)
		if err != nil {
			return measured{}, err
		}
		if round > 0 { // the first warms up
			ratios, ones, others = append(ratios, by(x)/by(y)), append(ones, x), append(others, y)
		}
	}
	return measured{median(ratios), middle(ones) + " | " + middle(others)}, nil
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// middle says the medians of what requests cost.
func middle(list []spent) string {
	var host, server, wall []float64
	for _, s := range list {
		host, server, wall = append(host, s.host), append(server, s.server), append(wall, s.wall)
	}
	return fmt.Sprintf("%.0f + %.0f (answered in %.0f)", median(host), median(server), median(wall))
}
