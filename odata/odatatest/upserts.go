package odatatest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
)

// upserts are PATCH and PUT of an entity that is not there (OData-Protocol 11.4.4).
func upserts() []rule {
	return []rule{
		{"PATCH creates", []step{
			{
				request: "PATCH Parts('N')", body: `{"title":"New"}`, status: 201, has: []string{"Location: ~Parts('N')", `"kind":null`, `"stock":0`, `"changed":"2026-03-04T05:06:07.890123Z"`},
			},
			{request: "GET Parts('N')", has: []string{`"title":"New"`}},
			{request: "PATCH Parts('N')", body: `{"title":"Newer"}`, header: []string{"If-Match", "$tag"}, has: []string{`"title":"Newer"`}},
			{request: "PATCH Parts('N')", body: `{"title":"x"}`, status: 428},
			{request: "PATCH Teams('7')?$select=name", body: `{"name":"Grey"}`, status: 201, want: `{"@odata.context":"~$metadata#Teams(name)/$entity","@odata.id":"~Teams('7')","name":"Grey"}`},
		}},
		{"PUT creates", []step{
			{request: "PUT Teams('7')", body: `{"name":"Grey"}`, status: 400, has: []string{`"target":"city"`}},
			{request: "PUT Teams('7')", body: `{"name":"Grey","city":null}`, status: 201, want: `{"@odata.context":"~$metadata#Teams/$entity","id":"7","name":"Grey","city":null}`, has: []string{"Location: ~Teams('7')"}},
			{request: "PUT Teams('7')", body: `{"name":"Grey","city":null}`, status: 428},
			{request: "PUT Teams('8')", body: `{"name":"Pink","city":null}`, header: []string{"Prefer", "return=minimal"}, status: 204, want: "-", has: []string{"Location: ~Teams('8')", "OData-EntityId: ~Teams('8')"}},
		}},
		{"a key of two", []step{
			{request: "PATCH Notes(book='n',page=3)", body: `{"text":"t","open":true,"version":9}`, status: 201, has: []string{`"version":1`, `ETag: W/"1"`, "Location: ~Notes(book='n',page=3)"}},
		}},
		{"the key of the address counts", []step{
			{request: "PATCH Teams('7')", body: `{"id":"9","name":"Grey"}`, status: 201, has: []string{`"id":"7"`, "Location: ~Teams('7')"}},
			{request: "GET Teams('9')", status: 404},
		}},
		{"what is fixed", []step{
			{request: "PATCH Parts('N')", body: `{"title":"New","kind":"tool"}`, status: 201, has: []string{`"kind":"tool"`}},
			{request: "PATCH Parts('N')", body: `{"kind":"other"}`, header: anyTag(), has: []string{`"kind":"tool"`}},
		}},
		{"preconditions", []step{
			{request: "PATCH Teams('7')", body: `{"name":"Grey"}`, header: anyTag(), status: 412},
			{request: "PATCH Teams('7')", body: `{"name":"Grey"}`, header: []string{"If-Match", `W/"x"`}, status: 412},
			{request: "GET Teams('7')", status: 404},
			{request: "PATCH Teams('7')", body: `{"name":"Grey"}`, header: []string{"If-None-Match", "*"}, status: 201},
			{request: "PATCH Teams('7')", body: `{"name":"Grey"}`, header: []string{"If-None-Match", "*"}, status: 412},
			{request: "PUT Teams('1')", body: `{"name":"Grey","city":null}`, header: []string{"If-None-Match", "*"}, status: 412},
			{request: "PATCH Teams('8')", body: `{"name":"Pink"}`, header: []string{"If-Match", "*", "If-None-Match", "*"}, status: 412},
			{request: "GET Teams('8')", status: 404},
		}},
		{"what a creation may not be", []step{
			{request: "PATCH Teams('7')", body: `{"name":"Red"}`, status: 409, has: []string{`"code":"duplicate"`, `"target":"name"`}},
			{request: "PATCH Teams('7')", body: `{"city":"Bern"}`, status: 422, has: []string{`"target":"name"`, "is missing"}},
			{request: "PATCH Teams('7')", body: `{"name":null}`, status: 422, has: []string{`"target":"name"`, "cannot be null"}},
			{request: "PATCH Teams('7')", body: `{"name":1}`, status: 400},
			{request: "PATCH Teams('7')", body: `{"nope":1}`, status: 400},
			{request: "PATCH Parts('N')", body: `{"title":"T","maker_id":99}`, status: 409, has: []string{`"code":"dead_link"`, `"target":"maker_id"`}},
			{request: "PATCH Notes(book='n',page=1)", body: `{"open":false}`, status: 403},
			{request: "PATCH Notes(book='y',page=1)", body: `{"open":true}`, status: 409, has: []string{`"code":"duplicate"`, `"target":"book"`, `"target":"page"`}},
			{request: "PATCH Teams('" + strings.Repeat("ü", 81) + "')", body: `{"name":"Grey"}`, status: 400, has: []string{`"target":"id"`, "id has more than 80 characters"}},
			{request: "PUT Teams('" + strings.Repeat("x", 81) + "')", body: `{"name":"Grey","city":null}`, header: []string{"If-None-Match", "*"}, status: 400, has: []string{`"target":"id"`}},
			{request: "PATCH Parts('" + strings.Repeat("x", 81) + "')", body: `{"title":"T","maker_id":99}`, status: 400, has: []string{`"target":"code"`}},
			{request: "GET Teams/$count", want: "3"},
		}},
		{"where nobody may choose the key", []step{
			{request: "PATCH Makers(77)", body: `{"name":"New"}`, status: 404},
			{request: "PUT Makers(77)", body: `{"name":"x","country":"CH","note":null}`, status: 404},
			{request: "PATCH Replies(77)", body: `{"text":"x"}`, status: 405},
			{request: "PUT Units('m')", body: `{"name":"metre"}`, status: 405},
			{request: "PATCH Teams(name='Grey')", body: `{"city":"Bern"}`, status: 404},
			{request: "PATCH Badges('gold')/teams('7')", body: `{"name":"Grey"}`, status: 404},
			{request: "PUT Teams('7')/city", body: `{"value":"Bern"}`, status: 404},
			{request: "DELETE Teams('7')", status: 404},
		}},
	}
}

// linkedUpserts are those of rows with links, and of several in a group.
func linkedUpserts() []rule {
	return []rule{
		{"with links", []step{
			{request: "PATCH Parts('N')", body: `{"title":"T","maker@odata.bind":"Makers(2)"}`, status: 201, has: []string{`"maker_id":2`}},
			{request: "PATCH Parts('M')", body: `{"title":"T","maker@odata.bind":"Makers(99)"}`, status: 409, has: []string{`"code":"dead_link"`}},
			{request: "PATCH Teams('7')", body: `{"name":"Grey","badges@odata.bind":["Badges('gold')"]}`, status: 201},
			{request: "GET Teams('7')/badges?$select=code", has: []string{`"code":"gold"`}},
		}},
		{"in a group", []step{
			{
				request: "POST $batch", body: `{"requests":[` +
					`{"id":"1","atomicityGroup":"g","method":"PATCH","url":"Teams('7')","body":{"name":"Grey"}},` +
					`{"id":"2","atomicityGroup":"g","method":"PATCH","url":"$1","headers":{"if-match":"*"},"body":{"city":"Bern"}},` +
					`{"id":"3","atomicityGroup":"g","method":"PUT","url":"Teams('8')","body":{"name":"Pink","city":null}}]}`,
				has: []string{`"id":"1","atomicityGroup":"g","status":201`, `"id":"2","atomicityGroup":"g","status":200`, `"id":"3","atomicityGroup":"g","status":201`},
			},
			{request: "GET Teams('7')/city/$value", want: "Bern"},
			{
				request: "POST $batch", body: `{"requests":[` +
					`{"id":"1","atomicityGroup":"g","method":"PATCH","url":"Teams('9')","body":{"name":"Black"}},` +
					`{"id":"2","atomicityGroup":"g","method":"PATCH","url":"Teams('1')","body":{"name":"x"}}]}`,
				has: []string{`"status":428`},
			},
			{request: "GET Teams('9')", status: 404},
		}},
	}
}

// RunUpserts checks that many who create one entity by a change at once get what they would get one after the other. fresh is as in
// RunWrites.
func RunUpserts(t *testing.T, fresh func(testing.TB) Subject) {
	t.Helper()
	h := handler(t, fresh(t), odata.Options{})
	for round := range 5 {
		target := fmt.Sprintf("Teams('%d')", 100+round)
		var all sync.WaitGroup
		codes := make([]int, 8)
		for i := range codes {
			header := []string{"Content-Type", "application/json"}
			if i%2 == 1 {
				header = append(header, "If-None-Match", "*")
			}
			all.Go(func() {
				codes[i] = send(h, http.MethodPatch, target, "ada", fmt.Sprintf(`{"name":"%d.%d"}`, round, i), header...).Code
			})
		}
		all.Wait()
		created := 0
		for i, code := range codes {
			switch want := []int{http.StatusPreconditionRequired, http.StatusPreconditionFailed}[i%2]; code {
			case http.StatusCreated:
				created++
			case want:
			default:
				t.Errorf("request %d of round %d gives %d, want 201 or %d", i, round, code, want)
			}
		}
		if created != 1 {
			t.Errorf("round %d: %d of %v created the entity", round, created, codes)
		}
		if body := get(h, target, "ada").Body.String(); !strings.Contains(body, fmt.Sprintf(`"name":"%d.`, round)) {
			t.Errorf("round %d left %s", round, body)
		}
	}
}
