package seed

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// day is the format of DATE columns, second that of DATETIME ones.
const (
	day    = "2006-01-02"
	second = "2006-01-02 15:04:05"
)

// The shop opened on this day, and nothing in the data is younger than the last.
func opened() time.Time  { return time.Date(2020, 3, 2, 8, 0, 0, 0, time.UTC) }
func lastDay() time.Time { return time.Date(2026, 11, 15, 20, 0, 0, 0, time.UTC) }

// random returns a source of numbers that is the same at every run. What is made
// of them is integer arithmetic until the last division: compilers may round a
// float product and sum differently on another processor.
func random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(1843, stream)) }

// pick returns one of the words.
func pick[T any](r *rand.Rand, words []T) T { return words[r.IntN(len(words))] }

// maybe returns the value, or null in the given share of cases.
func maybe(r *rand.Rand, null float64, value any) any {
	if r.Float64() < null {
		return nil
	}
	return value
}

// between returns a moment of the shop's life, the second half more often.
func between(r *rand.Rand) time.Time {
	life := int64(lastDay().Sub(opened()))
	return opened().Add(time.Duration(max(r.Int64N(life), r.Int64N(life)))).Truncate(time.Second)
}

// catalog writes everything that is on offer.
func catalog(w *writer) error {
	insert, err := w.into("company", "id", "name", "motto", "founded_on")
	if err != nil {
		return err
	}
	if err := insert(1, "Fernweh", "Everything for the way there.", opened().Format(day)); err != nil {
		return err
	}
	kinds, err := categories(w)
	if err != nil {
		return err
	}
	if err := suppliers(w); err != nil {
		return err
	}
	if err := products(w, kinds); err != nil {
		return err
	}
	return related(w)
}

// shelf is a category that products are in.
type shelf struct {
	id int
	kind
}

// categories writes two levels of categories and returns the lower one.
func categories(w *writer) ([]shelf, error) {
	insert, err := w.into("categories", "id", "parent_id", "name", "slug")
	if err != nil {
		return nil, err
	}
	var shelves []shelf
	id := 0
	for _, d := range departments() {
		id++
		parent := id
		if err := insert(parent, nil, d.name, slug(d.name)); err != nil {
			return nil, err
		}
		for _, k := range d.kinds {
			id++
			shelves = append(shelves, shelf{id, k})
			if err := insert(id, parent, k.name, slug(k.name)); err != nil {
				return nil, err
			}
		}
	}
	return shelves, nil
}

func slug(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), " & ", "-"), " ", "-")
}

func suppliers(w *writer) error {
	insert, err := w.into("suppliers", "id", "name", "country", "phone")
	if err != nil {
		return err
	}
	r := random(1)
	for i := range Suppliers {
		form := []string{"GmbH", "AB"}[i/len(firms())]
		country := []string{"DE", "SE"}[i/len(firms())]
		name := firms()[i%len(firms())] + " " + form
		if err := insert(i+1, name, country, maybe(r, 0.2, fmt.Sprintf("+49 30 555%04d", i))); err != nil {
			return err
		}
	}
	return nil
}

// products writes the products, which take turns between the shelves, so that
// every page of them is a mixed one.
func products(w *writer, shelves []shelf) error {
	insert, err := w.into("products", "id", "sku", "name", "description", "category_id", "supplier_id", "price", "cost",
		"stock", "weight_kg", "color", "discontinued", "released_on", "created_at", "updated_at")
	if err != nil {
		return err
	}
	r := random(2)
	lines, variants, colors, praise, uses := lines(), variants(), colors(), praise(), uses()
	for i := range Products {
		s, round := shelves[i%len(shelves)], i/len(shelves)
		line, variant := lines[round%len(lines)], variants[(round+round/len(lines))%len(variants)]
		name := strings.TrimSpace(line + " " + s.noun + " " + variant)
		price := cents(r, s.price)
		created := between(r)
		var weight any
		if s.grams > 0 {
			weight = maybe(r, 0.05, float64(s.grams*(60+r.IntN(80))/1000)/100)
		}
		stock := max(0, r.IntN(260)-20)
		changed := created.Add(time.Duration(r.Int64N(int64(lastDay().Sub(created)) + 1)))
		if err := insert(i+1, fmt.Sprintf("FW-%05d", i+1), name,
			maybe(r, 0.05, pick(r, praise)+" "+pick(r, uses)),
			s.id, 1+r.IntN(Suppliers), euros(price), euros(price*(40+r.IntN(30))/100),
			stock, weight, maybe(r, 0.15, pick(r, colors)), r.IntN(100) < 4,
			created.AddDate(0, 0, 14).Format(day), created.Format(second),
			maybe(r, 0.3, changed.Format(second))); err != nil {
			return err
		}
	}
	return nil
}

// cents returns a price around the euros given, in cents, that ends in .95 or .50.
func cents(r *rand.Rand, around int) int {
	whole := max(1, around*(600+r.IntN(900))/1000)
	return whole*100 - []int{5, 50}[r.IntN(2)]
}

// euros turns cents into what a DECIMAL column of SQLite holds.
func euros(cents int) float64 { return float64(cents) / 100 }

// related says which products go together: each with up to three others.
func related(w *writer) error {
	insert, err := w.into("related_products", "product_id", "related_id")
	if err != nil {
		return err
	}
	r := random(3)
	for id := 1; id <= Products; id++ {
		seen := map[int]bool{id: true}
		for range r.IntN(4) {
			other := 1 + r.IntN(Products)
			if seen[other] {
				continue
			}
			seen[other] = true
			if err := insert(id, other); err != nil {
				return err
			}
		}
	}
	return nil
}
