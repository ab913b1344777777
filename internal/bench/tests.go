package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/vestibule-dev/vestibule/v2/odata/odatatest/dbtest"
)

// A test is a row of the table.
type test struct {
	name    string
	target  float64 // the ratio is to be at most this; 0 for what is only shown
	measure func() (measured, error)
}

// Sizes of one turn of a contestant.
const turn, longTurn = 150, 300

func (b *bench) tests() []test {
	compare := func(one, other side) func() (measured, error) {
		return func() (measured, error) { return b.ratio(one, other) }
	}
	open := side{b.vestibule, turn, b.anew("/odata/Products")}
	list := b.pages(open, compare)
	list = append(list, test{"$apply: sums of groups / SQL by hand", 1.1, func() (measured, error) {
		target := "/odata/Products?$apply=groupby((category_id),aggregate(price%20with%20sum%20as%20total,$count%20as%20n))&$top=1000"
		return b.ratioOf(b.rounds, side{b.vestibule, 3, b.anew(target)}, side{b.baseline, 3, always("/grouped")},
			func(s spent) float64 { return s.host + s.server })
	}})
	if b.other != nil {
		list = append(list, b.rivals()...)
	}
	list = append(list, b.finds()...)
	list = append(list, b.writes(compare)...)
	return append(
		list,
		test{"unchanged page / static bytes", b.at(1.5, 0, 0), compare(
			side{b.vestibule, longTurn, always("/odata/Products")}, side{b.static, longTurn, always("/")})},
		test{"all rows in one answer, MiB more memory", 16, b.memory},
		test{"all rows in one answer, ms to the first byte", 0, b.firstByte},
		test{"guarded page / open page", b.at(1.25, 1.5, 1.5), compare(side{b.vestibule, turn, b.anew("/odata/Guarded")}, open)},
		test{"page for 16 clients / 1 client", 1.1, b.clients},
		test{"guarded page / open page, 16 clients each", 1.25, b.guardedClients},
	)
}

// at is a target that each database has of its own.
func (b *bench) at(sqlite, postgres, mariadb float64) float64 {
	return map[string]float64{"sqlite": sqlite, "postgres": postgres, "mariadb": mariadb}[b.db]
}

// pages are the rows that are held against a handler by hand.
func (b *bench) pages(open side, compare func(one, other side) func() (measured, error)) []test {
	some := func(format string, n int) func() string {
		return func() string { return fmt.Sprintf(format, rand.IntN(n)+1) } // any will do
	}
	all := fmt.Sprintf("/all?n=%d", b.rows)
	filtered := some("/filtered?n=%d", 500)
	if b.db == "sqlite" {
		filtered = some("/filtered?category=%d", 500)
	}
	list := []test{
		{"page of 200 rows / by hand", b.at(0.42, 0.75, 0.80), compare(open, side{b.baseline, turn, always("/page")})},
		{"filtered and ordered page / by hand", b.at(0.80, 0.75, 0), compare(
			side{b.vestibule, turn, func() string {
				return b.anew(some("/odata/Products?$filter=category_id%%20eq%%20%d%%20and%%20price%%20gt%%2010&$orderby=price", 500)())()
			}},
			side{b.baseline, turn, filtered})},
		{"all rows in one answer / by hand", 0, compare(
			side{b.vestibule, 1, always(fmt.Sprintf("/odata/Products?$top=%d", b.rows))}, side{b.baseline, 1, always(all)})},
	}
	if b.db == "sqlite" {
		return append(
			list,
			test{"$count=true page / by hand that counts", 0.40, compare(
				side{b.vestibule, turn, b.anew("/odata/Products?$count=true")}, side{b.baseline, turn / 5, always("/counted")})},
			test{"$expand on a page / two queries by hand", 1.3, compare(
				side{b.vestibule, turn, b.anew("/odata/Products?$expand=reviews")}, side{b.baseline, turn, always("/expanded")})},
			test{"walk over all rows, last hundred / first hundred", 2, func() (measured, error) { return b.depth("$orderby=price") }},
			test{"random deep $skip, warm / page one", 3, func() (measured, error) {
				if _, err := b.cost(b.vestibule, 3*turn, b.skip); err != nil {
					return measured{}, err
				}
				return b.ratio(side{b.vestibule, turn, b.skip}, open)
			}},
		)
	}
	deep := func(order, byHand string) func() (measured, error) {
		skip := b.rows - 200
		return func() (measured, error) {
			return b.waiting(side{b.vestibule, 3, b.anew(fmt.Sprintf("/odata/Products?%s$skip=%d", order, skip))},
				side{b.baseline, 3, always(fmt.Sprintf("/%s?n=%d", byHand, skip))})
		}
	}
	list = append(
		list,
		test{"$select of three / by hand", 0, compare(
			side{b.vestibule, turn, b.anew("/odata/Products?$select=id,name,price")}, side{b.baseline, turn, always("/selected")})},
		test{"$count=true page / by hand that counts", 0, compare(
			side{b.vestibule, turn / 15, b.anew("/odata/Products?$count=true")}, side{b.baseline, turn / 15, always("/page?count=1")})},
		test{"last page by price until answered / OFFSET", b.at(0, 0.10, 0.25), deep("$orderby=price&", "byprice")},
		test{"last page by key until answered / OFFSET", b.at(0, 0.55, 0.60), deep("", "bykey")},
	)
	if b.db != "postgres" { // MariaDB has no places to remember: a walk takes many minutes
		return list
	}
	return append(
		list,
		test{"walk over all rows, last hundred / first hundred", 1.5, func() (measured, error) { return b.depth("$orderby=price") }},
		test{"walk beside ten commits a second by others, last hundred / first hundred", 3, b.depthBesideOthers},
		test{"the same, its changes counted", 3, b.countedDepth},
	)
}

// rivals are the same pages held against another program.
func (b *bench) rivals() []test {
	var list []test
	for _, query := range []string{
		"", "$select=id,name,price", "$filter=category_id%20eq%207%20and%20price%20gt%2010&$orderby=price", "$count=true",
		fmt.Sprintf("$skip=%d", b.rows-200), fmt.Sprintf("$orderby=price&$skip=%d", b.rows-200),
	} {
		n := turn
		if query == "$count=true" || strings.Contains(query, "$skip=") {
			n = 5
		}
		list = append(list, test{"?" + query + " / rival", 0, func() (measured, error) {
			return b.ratio(side{b.vestibule, n, b.anew("/odata/Products?" + query)}, side{b.other, n, always("/Products?$top=200&" + query)})
		}})
	}
	return list
}

// depth compares the last pages of a walk with the first ones, in what they cost the host and its database.
func (b *bench) depth(order string) (measured, error) {
	first, last, err := b.walk("/odata/Products?"+order, 100)
	return measured{(last.host + last.server) / (first.host + first.server), middle([]spent{last}) + " | " + middle([]spent{first})}, err
}

// depthBesideOthers walks while somebody else commits what changes neither which rows there are nor their order.
func (b *bench) depthBesideOthers() (m measured, err error) {
	db, err := sql.Open("pgx", b.dsn)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		defer close(done)
		for tick := time.Tick(100 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
				if _, err := db.ExecContext(ctx, "UPDATE others SET n = n + 1"); err != nil && ctx.Err() == nil {
					done <- err
					return
				}
			}
		}
	}()
	m, err = b.depth("$orderby=price,id")
	end()
	return m, errors.Join(err, <-done)
}

// countedDepth is depthBesideOthers for a table whose changes triggers count.
func (b *bench) countedDepth() (m measured, err error) {
	ctx := context.Background()
	db, err := sql.Open("pgx", b.dsn)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := dbtest.CountChanges(ctx, db, "docs/operations/counted-changes.sql", "products"); err != nil {
		return m, err
	}
	defer func() {
		_, dropped := db.ExecContext(ctx, "DROP TABLE vestibule_changes; DROP FUNCTION vestibule_changed CASCADE; DROP PROCEDURE vestibule_count_changes")
		err = errors.Join(err, dropped)
	}()
	open := b.vestibule
	defer func() { b.vestibule = open }()
	if b.vestibule, err = b.startContestant("vestibule"); err != nil {
		return m, err
	}
	defer b.vestibule.stop()
	return b.depthBesideOthers()
}

// memory returns by how many MiB a process that has served pages grows while it sends
// all rows. It is a fresh one: others have had their peak.
func (b *bench) memory() (measured, error) {
	c, err := b.startContestant("vestibule")
	if err != nil {
		return measured{}, err
	}
	defer c.stop()
	if _, err := b.cost(c, turn, b.anew("/odata/Products")); err != nil {
		return measured{}, err
	}
	_, before, err := b.usage(c)
	if err != nil {
		return measured{}, err
	}
	var first time.Duration
	if _, err := b.get(c, fmt.Sprintf("/odata/Products?$top=%d", b.rows), &first); err != nil {
		return measured{}, err
	}
	_, peak, err := b.usage(c)
	return measured{float64(peak-before) / 1024, ""}, err
}

func (b *bench) firstByte() (measured, error) {
	var first time.Duration
	_, err := b.get(b.vestibule, fmt.Sprintf("/odata/Products?$top=%d", b.rows), &first)
	return measured{float64(first.Microseconds()) / 1000, ""}, err
}

// clients compares what a page costs the host for one client and for sixteen.
func (b *bench) clients() (measured, error) { return b.crowds(16, "Products", 1, "Products") }

// guardedClients compares what a guarded page costs the host and an open one, for sixteen clients.
func (b *bench) guardedClients() (measured, error) { return b.crowds(16, "Guarded", 16, "Products") }

// crowds compares what a page of set costs the host for so many clients with what a page of the set of costs it for others.
func (b *bench) crowds(clients int, set string, others int, of string) (measured, error) {
	var ratios []float64
	var all, held []spent
	for range b.rounds {
		against, err := b.crowd(others, 16*turn/others, of)
		if err != nil {
			return measured{}, err
		}
		s, err := b.crowd(clients, 16*turn/clients, set)
		if err != nil {
			return measured{}, err
		}
		ratios, all, held = append(ratios, s.host/against.host), append(all, s), append(held, against)
	}
	return measured{median(ratios), middle(all) + " | " + middle(held)}, nil
}
