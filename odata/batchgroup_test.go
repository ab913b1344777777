package odata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
