package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A test is a row of the table.
type test struct {
	name    string
	target  float64
	atLeast bool // the ratio is to be at least the target, not at most
	measure func() (float64, error)
}

// Sizes of one turn of a contestant.
const turn, longTurn = 150, 600

func (b *bench) tests() []test {
	page := b.anew("/odata/Products")
	compare := func(one, other side) func() (float64, error) {
		return func() (float64, error) { return b.ratio(one, other) }
	}
	category := func(format string) func() string {
		return func() string { return fmt.Sprintf(format, rand.IntN(500)+1) } //nolint:gosec // any will do
	}
	open := side{b.vestibule, turn, page}
	return []test{
		// 0.40 would be the target without the wrapper around SQLite; package engine says why there is one.
		{"page of 200 rows / baseline", 0.55, false, compare(open, side{b.baseline, turn, always("/page")})},
		{"filtered and ordered page / baseline", 0.45, false, compare(
			side{b.vestibule, turn, category("/odata/Products?$filter=category_id%%20eq%%20%d%%20and%%20price%%20gt%%2010&$orderby=price")},
			side{b.baseline, turn, category("/filtered?category=%d")})},
		{"$count=true page / baseline that counts", 0.40, false, compare(
			side{b.vestibule, turn, b.anew("/odata/Products?$count=true")}, side{b.baseline, turn / 5, always("/counted")})},
		{"last pages by following links / page one", 2, false, b.depth},
		{"random deep $skip, warm / page one", 3, false, func() (float64, error) {
			if _, err := b.cost(b.vestibule, 3*turn, b.skip); err != nil {
				return 0, err
			}
			return b.ratio(side{b.vestibule, turn, b.skip}, open)
		}},
		{"unchanged page / static bytes", 2, false, compare(
			side{b.vestibule, longTurn, always("/odata/Products")}, side{b.static, longTurn, always("/")})},
		{"all rows in one answer, processor / baseline", 0.45, false, compare(
			side{b.vestibule, 1, always(fmt.Sprintf("/odata/Products?$top=%d", b.rows))},
			side{b.baseline, 1, always(fmt.Sprintf("/all?n=%d", b.rows))})},
		{"all rows in one answer, MiB more memory", 16, false, b.memory},
		{"all rows in one answer, ms to the first byte", 50, false, b.firstByte},
		{"$expand on a page / two queries by hand", 1.3, false, compare(
			side{b.vestibule, turn, b.anew("/odata/Products?$expand=reviews")}, side{b.baseline, turn, always("/expanded")})},
		{"guarded page / open page", 1.1, false, func() (float64, error) { // a small difference, so many short turns
			return b.ratioOf(6*b.rounds, side{b.vestibule, turn, b.anew("/odata/Guarded")}, open)
		}},
		{"throughput of 16 clients / 1 client", 1.6, true, b.clients},
	}
}

// depth compares the last pages of a walk with the first one.
func (b *bench) depth() (float64, error) {
	last, err := b.walk("/odata/Products?$orderby=price", 50)
	if err != nil {
		return 0, err
	}
	first, err := b.cost(b.vestibule, 50, b.anew("/odata/Products?$orderby=price"))
	return last / first, err
}

// memory returns by how many MiB a process that has served pages grows while it sends
// all rows. It is a fresh one: others have had their peak.
func (b *bench) memory() (float64, error) {
	c, err := startContestant("vestibule", b.file, b.rows)
	if err != nil {
		return 0, err
	}
	defer c.stop()
	if _, err := b.cost(c, turn, b.anew("/odata/Products")); err != nil {
		return 0, err
	}
	_, before, err := b.usage(c)
	if err != nil {
		return 0, err
	}
	var first time.Duration
	if _, err := b.get(c, fmt.Sprintf("/odata/Products?$top=%d", b.rows), &first); err != nil {
		return 0, err
	}
	_, peak, err := b.usage(c)
	return float64(peak-before) / 1024, err
}

func (b *bench) firstByte() (float64, error) {
	var first time.Duration
	_, err := b.get(b.vestibule, fmt.Sprintf("/odata/Products?$top=%d", b.rows), &first)
	return float64(first.Microseconds()) / 1000, err
}

func (b *bench) clients() (float64, error) {
	var ratios []float64
	for range b.rounds {
		one, err := b.throughput(1)
		if err != nil {
			return 0, err
		}
		many, err := b.throughput(16)
		if err != nil {
			return 0, err
		}
		ratios = append(ratios, many/one)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2], nil
}
