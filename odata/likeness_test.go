package odata_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
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
