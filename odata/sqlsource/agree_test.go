package sqlsource_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// chance makes random expressions over Products. Depth bounds how deep they nest.
type chance struct{ *rand.Rand }

func (r chance) of(list ...string) string { return list[r.Intn(len(list))] }

func (r chance) condition(depth int) string {
	if depth == 0 {
		return r.of("active", "true", "false", "null", "tags/any()", "contains(name,'am')", "category ne null")
	}
	d := depth - 1
	compare := func(x, y string) string { return x + " " + r.of("eq", "ne", "gt", "ge", "lt", "le") + " " + y }
	switch r.Intn(12) {
	case 0:
		return "(" + r.condition(d) + " and " + r.condition(d) + ")"
	case 1:
		return "(" + r.condition(d) + " or " + r.condition(d) + ")"
	case 2:
		return "not (" + r.condition(d) + ")"
	case 3, 4:
		return compare(r.number(d), r.number(d))
	case 5, 6:
		return compare(r.text(d), r.text(d))
	case 7:
		return compare(r.instant(d), r.instant(d))
	case 8:
		return r.of("contains", "startswith", "endswith") + "(" + r.text(d) + "," + r.text(d) + ")"
	case 9:
		return r.of("tags", "Order_Details") + "/" + r.of("any", "all") + "(x:" + compare("x/"+r.of("id", "id"), "id") + ")"
	case 10:
		return "(" + r.condition(d) + ") " + r.of("eq", "ne") + " (" + r.condition(d) + ")"
	}
	return r.number(d) + " in (" + r.of("1", "2.5", "null") + "," + r.of("5", "10", "9.99") + ")"
}

func (r chance) number(depth int) string {
	if depth <= 0 {
		return r.of("id", "stock", "price", "weight", "1", "2", "-3", "0.5", "10.50", "1e2", "null", "category_id", "category/id")
	}
	d := depth - 1
	switch r.Intn(8) {
	case 0:
		return "(" + r.number(d) + " add " + r.number(d) + ")"
	case 1:
		return "(" + r.number(d) + " sub " + r.number(d) + ")"
	case 2:
		return "(" + r.number(d) + " mul " + r.number(d) + ")"
	case 3:
		return "(" + r.number(d) + " " + r.of("div", "divby", "mod") + " " + r.of("2", "3", "0.25", "stock", "id") + ")"
	case 4:
		return r.of("round", "floor", "ceiling") + "(" + r.number(d) + ")"
	case 5:
		return r.of("length(", "2 add length(") + r.text(d) + ")"
	case 6:
		return r.of("year", "month", "day", "hour", "minute", "second") + "(" + r.instant(0) + ")"
	}
	return "indexof(" + r.text(d) + "," + r.text(d) + ")"
}

func (r chance) text(depth int) string {
	if depth <= 0 {
		return r.of("name", "note", "sku", "category/name", "ship/city", "'am'", "'Hammer'", "''", "' '", "'%'", "'O''Neil'", "null")
	}
	d := depth - 1
	switch r.Intn(4) {
	case 0:
		return "concat(" + r.text(d) + "," + r.text(d) + ")"
	case 1:
		return r.of("tolower", "toupper", "trim") + "(" + r.text(d) + ")"
	case 2:
		return fmt.Sprintf("substring(%s,%d,%d)", r.text(d), r.Intn(4), r.Intn(4))
	}
	return fmt.Sprintf("substring(%s,%d)", r.text(d), r.Intn(9))
}

func (r chance) instant(depth int) string {
	if depth <= 0 {
		return r.of("released", "2024-01-15T10:30:00Z", "1999-12-31T00:00:00Z", "now()", "2024-01-15T10:30:00.25Z")
	}
	return "(" + r.instant(0) + " " + r.of("add", "sub") + " duration'" + r.of("PT1S", "P1D", "-PT1H30M", "PT0.5S") + "')"
}

// TestRandomQueriesAgree holds that a random request has one answer, whatever the database.
func TestRandomQueriesAgree(t *testing.T) {
	shops := map[string]*shop{}
	for _, d := range dialects() {
		shops[d] = openShop(t, d)
	}
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	r := chance{rand.New(rand.NewSource(9))}
	differ, refused := 0, 0
	for range rounds {
		target := "Products?$select=id&$filter=" + r.condition(3)
		if r.Intn(3) == 0 {
			target += "&$orderby=" + r.number(1) + r.of("", " desc") + "," + r.text(1) + r.of("", " desc")
		}
		answers := map[string][]string{}
		for _, d := range dialects() {
			got := shops[d].get(target)
			if strings.HasPrefix(got, "fault") {
				t.Errorf("%s on %s: %s", target, d, got)
			}
			answers[got] = append(answers[got], d)
		}
		if _, bad := answers["400"]; bad && len(answers) == 1 {
			refused++
		}
		if len(answers) > 1 {
			if differ++; differ <= 20 {
				t.Errorf("%s: %q", target, answers)
			}
		}
	}
	if refused > rounds/2 {
		t.Errorf("%d of %d requests are no requests at all", refused, rounds)
	}
	if differ > 0 {
		t.Errorf("%d of %d requests have different answers", differ, rounds)
	}
}
