package odata_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
	"github.com/vestibule-dev/vestibule/v2/odata/memory"
)

// TestTargetsAlike asks for targets whose plans are made from each other, in both orders: the answer is that of a service
// that has seen nothing else.
func TestTargetsAlike(t *testing.T) {
	t.Parallel()
	targets := []string{
		"Numbers", "Numbers?a=1", "Numbers?a=2&b", "Numbers?&a=1&", "Numbers?=1", "Numbers?a=%zz", "Numbers?@a=1", "Numbers?skip=9",
		"Numbers?$skip=0", "Numbers?$skip=7", "Numbers?$skip=249", "Numbers?$skip=250", "Numbers?$skip=9999", "Numbers?a=1&$skip=7&b=2",
		"Numbers?$skip=7&$skip=9", "Numbers?$skip=", "Numbers?$skip=-1", "Numbers?$skip=%37", "Numbers?$skip=7.5",
		"Numbers?$skip=9223372036854775807", "Numbers?$skip=99999999999999999999", "Numbers?$skip=999999999999999999",
		"Numbers?$skip=7&$top=3", "Numbers?$skip=9&$top=3", "Numbers?$skip=9&$top=0", "Numbers?$top=0&$skip=3", "Numbers?$skip=2&$count=true", "Numbers?$skip=3&$count=true",
		"Numbers?#skip&a=1", "Numbers?$skip=3#", "Numbers?#custom", "Numbers?$skip=3&b#c=1",
		"Numbers/$count?$skip=3", "Numbers/$count?$skip=4&a=1", "Numbers(3)?a=1", "Numbers(3)?$skip=1", "Numbers(3)?$skip=2", "Numbers(3)?a=1&$skip=2",
		"Numbers?$select=ID&a=1", "Numbers?$select=ID&a=2", "Numbers?$select=ID?a=1&x=1", "Numbers?x=1&$select=ID?a=1",
		"$metadata?a=1", "?a=1", "?a=2", "$entity?$id=Numbers(3)&a=1", "$entity?$id=Numbers(4)&a=1",
	}
	for _, version := range []string{"4.0", "4.01"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			answer := func(h http.Handler, target string) string {
				w := get(t, h, "/odata/"+target, "OData-MaxVersion", version)
				return fmt.Sprintln(w.Code, w.Header().Get("ETag"), w.Body)
			}
			fresh := func() *odata.Service {
				return service(t, &versioned{numbers: numbers{total: 250, version: "a"}}, func(o *odata.Options, _ *edm.Model) { o.Limits.PageSize = 100 })
			}
			used := fresh()
			for _, target := range append(targets, targets...) {
				if got, want := answer(used, target), answer(fresh(), target); withoutID(got) != withoutID(want) {
					t.Errorf("%s after others:\n%.300s\nalone:\n%.300s", target, got, want)
				}
			}
		})
	}
}

// withoutID cuts the number of a request out of its error.
func withoutID(answer string) string {
	before, after, found := strings.Cut(answer, `request_id":"`)
	if !found {
		return answer
	}
	_, after, _ = strings.Cut(after, `"`)
	return before + after
}

// TestFiltersAlike asks for rows with filters that differ in numbers, in both orders: the answer is that of a service that
// has seen nothing else.
func TestFiltersAlike(t *testing.T) {
	t.Parallel()
	type Product struct {
		ID, Stock int
		Small     int16
		Price     string `odata:",type=Decimal"`
		Rating    float64
		Name      string
	}
	var rows []Product
	for i := range 40 {
		rows = append(rows, Product{i, i % 7, int16(i), fmt.Sprint(i/3, ".50"), float64(i) / 4, fmt.Sprintf("N eq %d", i)})
	}
	source, err := memory.New(memory.Config{Guard: edm.GuardNone, Sets: []memory.Set{{Name: "Products", Rows: rows}}})
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() *odata.Service { return serviceOf(t, source.Model(), source) }
	var targets []string
	for _, filter := range []string{ // # stands for a number
		"ID eq #", "ID gt # and Stock lt #", "not (Price ge #) or ID eq #", "Price gt # and Rating lt 5", "Rating gt #", "Small eq #", "Small lt #",
		"Name eq 'N eq #'", "Name eq 'N' or ID le #", "contains(Name,'N eq #') or ID eq #", "ID eq # add 1", "ID eq # mod 3 or Stock eq #", "ID mod # eq 1",
		"ID eq 0#", "ID eq -#", "ID eq #.0", "Price eq #.50", "Price eq #e0", "ID in (1,#)", "# eq 7 and Price eq 7.0", "ID eq #  and Stock eq 3",
		"ID eq @p and Stock ge #&@p=7", "ID eq @p&@p=#", "ID eq #&$skip=1", "ID gt #&$skip=2&$count=true&x=#", "ID gt #&$top=0", "ID eq", "ID eq #)",
		"ID gt #&$apply=filter(Stock gt #)", "ID gt #&$compute=ID add 1 as More", "ID gt #&$filter=ID gt #",
	} {
		for _, n := range []string{"0", "3", "7", "12", "39", "999999999", "9999999999", "99999999999999999999"} {
			target := strings.NewReplacer(" ", "%20", "#", n).Replace("Products?$filter=" + filter)
			targets = append(targets, target, strings.Replace(target, "Products", "Products/$count", 1))
		}
	}
	backwards := slices.Clone(targets)
	slices.Reverse(backwards)
	answer := func(h http.Handler, target string) string {
		w := get(t, h, "/odata/"+target)
		return fmt.Sprintln(w.Code, w.Header().Get("ETag"), w.Body)
	}
	alone := map[string]string{}
	for _, target := range targets {
		alone[target] = withoutID(answer(fresh(), target))
	}
	for name, list := range map[string][]string{"forwards": targets, "backwards": backwards} {
		used := fresh()
		for _, target := range list {
			if got := withoutID(answer(used, target)); got != alone[target] {
				t.Errorf("%s: %s after others:\n%.300s\nalone:\n%.300s", name, target, got, alone[target])
			}
		}
	}
}

func serviceOf(t *testing.T, model *edm.Model, source odata.Source) *odata.Service {
	t.Helper()
	s, err := odata.New(model, source, odata.Options{Root: "/odata/", Limits: odata.Limits{PageSize: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
