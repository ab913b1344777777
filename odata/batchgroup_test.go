package odata_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vestibule-dev/vestibule/v2/odata"
	"github.com/vestibule-dev/vestibule/v2/odata/edm"
)

// The requests of an atomicity group succeed together or not at all, and what is
// behind the group knows (OData-JSON 19.4, 19.5).
func TestAtomicityGroup(t *testing.T) {
	t.Parallel()
	s := service(t, &numbers{total: 500, padding: 3000}, nil)
	get := func(id, url, rest string) string {
		return `{"id":"` + id + `","method":"get","url":"` + url + `"` + rest + `}`
	}
	const g = `,"atomicityGroup":"g"`
	tests := []struct {
		name, body string
		want       map[string]int
		message    string // of the request a
	}{
		{"all well", get("a", "Numbers(1)", g) + "," + get("b", "$a/ID", g+`,"dependsOn":["a"]`) + "," + get("c", "$a", `,"dependsOn":["g"]`), map[string]int{"a": 200, "b": 200, "c": 200}, ""},
		{"a reference to a reference", get("a", "Numbers(1)?$select=ID", "") + "," + get("b", "$a?$select=Text", "") + "," + get("c", "$b/Text", "") + "," + get("d", "$c/$value", ""), map[string]int{"a": 200, "b": 200, "c": 200, "d": 200}, ""},
		{"the last fails", get("a", "Numbers(1)", g) + "," + get("b", "Nope", g) + "," + get("c", "Numbers(1)", `,"dependsOn":["a"]`), map[string]int{"a": 424, "b": 404, "c": 424}, "depends on"},
		{"the first fails", get("a", "Nope", g) + "," + get("b", "Numbers(1)", g) + "," + get("c", "Numbers(1)", ""), map[string]int{"a": 404, "b": 424, "c": 200}, "Nope"},
		{"too much", get("a", "Numbers?$top=400", g) + "," + get("b", "Numbers(1)", g), map[string]int{"a": 501, "b": 424}, "1 MiB together"},
		{"too much later", get("a", "Numbers(1)", g) + "," + get("b", "Numbers?$top=400", g) + "," + get("c", "Numbers?$top=400", g), map[string]int{"a": 424, "b": 501, "c": 424}, "depends on"},
	}
	for _, tt := range tests {
		got := jsonBatch(t, s, `{"requests":[`+tt.body+`]}`)
		statuses := map[string]int{}
		for id, r := range got {
			statuses[id] = r.Status
		}
		if diff := cmp.Diff(tt.want, statuses); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if a := fmt.Sprint(got["a"].Body); !strings.Contains(a, tt.message) {
			t.Errorf("%s: %.300s", tt.name, a)
		}
	}
}

// What waits for the end of an atomicity group takes room, as all that waits for a client
// does, and gives it back; without room the group is 503.
func TestAtomicityGroupTakesRoom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		room   int64
		status []int
	}{
		{"room for all", 20, []int{200, 200, 200}},
		{"room for one block", 1, []int{424, 503, 424}},
	} {
		var held, most atomic.Int64
		s := service(t, &numbers{total: 500, padding: 3000}, func(o *odata.Options, _ *edm.Model) {
			o.Spool = func(odata.Caller) func() {
				if held.Add(1) > tt.room {
					held.Add(-1)
					return nil
				}
				most.Store(max(most.Load(), held.Load()))
				return func() { held.Add(-1) }
			}
		})
		var requests []string
		for i, url := range []string{"Numbers(1)", "Numbers?$top=60", "Numbers(2)"} {
			requests = append(requests, fmt.Sprintf(`{"id":"%d","method":"get","url":"%s","atomicityGroup":"g"}`, i, url))
		}
		got := jsonBatch(t, s, `{"requests":[`+strings.Join(requests, ",")+`]}`)
		for i, want := range tt.status {
			if is := got[fmt.Sprint(i)].Status; is != want {
				t.Errorf("%s: request %d is %d, want %d", tt.name, i, is, want)
			}
		}
		if held.Load() != 0 || most.Load() == 0 || tt.room > 1 && most.Load() < 2 {
			t.Errorf("%s: %d blocks are held after the answer, %d at most before", tt.name, held.Load(), most.Load())
		}
	}
}
