package odatatest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/vestibule-dev/vestibule/v2/odata"
)

// UnderRules returns subjects whose sets have rules, which decide by the property note of a row: they refuse "refuse me", and amend
// "amend me".
func UnderRules(fresh func(testing.TB) Subject) func(testing.TB) Subject {
	return func(t testing.TB) Subject {
		s := fresh(t)
		for _, set := range s.Model.Sets {
			if set.Write != nil {
				set.Write.Validator = "rules"
			}
		}
		s.validate = judge
		return s
	}
}

// RunJudged checks what rules say about groups, and that rules which accept a change leave it as it is. fresh is as in RunWrites.
func RunJudged(t *testing.T, fresh func(testing.TB) Subject) {
	t.Helper()
	runRules(t, UnderRules(fresh), map[string][]rule{"judged groups": slices.Concat(judgedGroups(), judgedRows()), "groups": writeGroups(), "upsert": upserts(), "tags": entityTags()})
}

// RunJudgedLinks is RunJudged for links. fresh is as in RunLinkRules.
func RunJudgedLinks(t *testing.T, fresh func(testing.TB) Subject) {
	t.Helper()
	runRules(t, UnderRules(fresh), map[string][]rule{"bind": slices.Concat(binds(), bindsOfMany()), "deep inserts": deepInserts()})
}

// patchPart and postPart are requests of change sets.
func patchPart(target, body string) string {
	return single("PATCH "+target+" HTTP/1.1", jsonPart, "If-Match: *", "", body)
}

func postPart(target, body string) string {
	return single("POST "+target+" HTTP/1.1", jsonPart, "", body)
}

const refusedNote, amendedNote = `{"note":"refuse me"}`, `{"note":"amend me"}`

func judgedGroups() []rule {
	return []rule{
		{"the second part is refused", []step{
			inMultipart(changeSet(patchPart("Makers(1)", `{"note":"n"}`), patchPart("Makers(2)", refusedNote), postPart("Makers", `{"name":"New"}`))).showing(
				"HTTP/1.1 422 Unprocessable Entity\r\n", `"details":[{"code":"refused","message":"No.","target":"note","@Common.numericSeverity":4,"@Core.ContentID":"2"}]`),
			{request: "GET Makers?$select=id,note", want: `{"@odata.context":"~$metadata#Makers(id,note)","value":[{"id":1,"note":null},{"id":2,"note":"second"},{"id":3,"note":null}]}`},
		}},
		{"several parts are refused", []step{
			inMultipart(changeSet(patchPart("Makers(1)", refusedNote), postPart("Makers", `{"name":"New"}`), patchPart("Makers(2)", refusedNote))).showing(
				`"message":"rules of the application refuse the change","details":[`, `"@Core.ContentID":"1"},{`, `"@Core.ContentID":"3"}]`),
			{
				request: "POST $batch", body: `{"requests":[
					{"id":"a","atomicityGroup":"g","method":"patch","url":"Makers(1)","headers":{"if-match":"*"},"body":` + refusedNote + `},
					{"id":"b","atomicityGroup":"g","method":"post","url":"Makers","body":{"name":"New"}},
					{"id":"c","atomicityGroup":"g","method":"get","url":"Makers(9)"},
					{"id":"d","atomicityGroup":"g","method":"patch","url":"Makers(2)","headers":{"if-match":"*"},"body":` + refusedNote + `},
					{"id":"e","dependsOn":["g"],"method":"get","url":"Makers"},
					{"id":"f","method":"get","url":"Makers/$count"}]}`,
				has: []string{`"id":"a","atomicityGroup":"g","status":422`, `"@Core.ContentID":"a"`, `"id":"b","atomicityGroup":"g","status":424`, `"id":"c","atomicityGroup":"g","status":424`, `"id":"d","atomicityGroup":"g","status":422`, `"@Core.ContentID":"d"`, `"id":"e","status":424`, `"body":"3"`},
			},
		}},
		{"parts are amended", []step{
			inMultipart(changeSet(
				postPart("Makers", `{"name":"New","note":"amend me"}`), patchPart("$1", `{"country":"CH"}`), patchPart("Makers(2)", amendedNote), postPart("Parts", `{"code":"C","title":"T","maker_id":2}`),
			)).showing(`"name":"New","country":"DE","note":"amended"`, `"name":"New","country":"CH","note":"amended"`, `"name":"Bolt","country":"CH","note":"amended"`, `"maker_id":2`),
			inMultipart(changeSet(postPart("Makers", `{"name":"Newer"}`), patchPart("$1", amendedNote))).showing(`"name":"Newer","country":"DE","note":null`, `"name":"Newer","country":"DE","note":"amended"`),
			{request: "GET Makers?$filter=id gt 1&$select=id,note", has: []string{`{"id":2,"note":"amended"},{"id":3,"note":null},{"id":4,"note":"amended"},{"id":5,"note":"amended"}`}},
		}},
		{"reads between writes", []step{
			{
				request: "POST $batch", body: `{"requests":[
					{"id":"a","atomicityGroup":"g","method":"post","url":"Makers","body":{"name":"New","note":"amend me"}},
					{"id":"b","atomicityGroup":"g","dependsOn":["a"],"method":"get","url":"$a/note/$value"},
					{"id":"c","atomicityGroup":"g","dependsOn":["a"],"method":"post","url":"$a/parts","body":{"code":"C","title":"T"}},
					{"id":"d","atomicityGroup":"g","dependsOn":["c"],"method":"get","url":"$a/parts/$count"},
					{"id":"e","atomicityGroup":"g","dependsOn":["a"],"method":"delete","url":"$c","headers":{"if-match":"*"}},
					{"id":"f","atomicityGroup":"g","method":"delete","url":"$a","headers":{"if-match":"*"}},
					{"id":"h","method":"get","url":"Makers/$count"}]}`,
				has: []string{`"id":"b","atomicityGroup":"g","status":200`, `"body":"amended"`, `"maker_id":4`, `"body":"1"`, `"id":"f","atomicityGroup":"g","status":204`, `"body":"3"`},
			},
		}},
		{"faults before and behind rules", []step{
			inMultipart(changeSet(patchPart("Makers(1)", refusedNote), patchPart("Makers(9)", `{}`))).showing("HTTP/1.1 412 ", `"@Core.ContentID":"2"`),
			inMultipart(changeSet(patchPart("Makers(1)", refusedNote), patchPart("Makers(2)", `{"name":5}`))).showing("HTTP/1.1 400 ", `"@Core.ContentID":"2"`),
			inMultipart(changeSet(patchPart("Makers(1)", `{"name":"Bolt"}`), patchPart("Makers(2)", refusedNote))).showing("HTTP/1.1 422 ", `"@Core.ContentID":"2"`),
			inMultipart(changeSet(patchPart("Makers(1)", `{"note":"n"}`), patchPart("Makers(2)", `{"name":"Acme"}`))).showing("HTTP/1.1 409 ", `"@Core.ContentID":"2"`),
			inMultipart(changeSet(postPart("Makers", `{"name":"New"}`), patchPart("$7", `{}`))).showing("HTTP/1.1 400 ", `"@Core.ContentID":"2"`),
			{request: "GET Makers?$filter=note eq 'n' or name eq 'New'&$count=true", has: []string{`"@odata.count":0`}},
		}},
	}
}

// judgedRows are groups that write a row several times, or a row that they create.
func judgedRows() []rule {
	return []rule{
		{"one row twice", []step{
			inMultipart(changeSet(patchPart("Makers(1)", `{"note":"a"}`), patchPart("Makers(1)", refusedNote))).showing("422", `"@Core.ContentID":"2"`),
			inMultipart(changeSet(patchPart("Makers(1)", refusedNote), patchPart("Makers(1)", `{"note":"a"}`))).showing("422", `"@Core.ContentID":"1"`),
			inMultipart(changeSet(patchPart("Makers(1)", `{"note":"a"}`), patchPart("Makers(1)", `{"country":"CH"}`), single("DELETE Makers(3) HTTP/1.1", "If-Match: *", ""), patchPart("Makers(name='Acme')", `{"name":"Acme & Co"}`))).showing(`"id":1,"name":"Acme & Co","country":"CH","note":"a"`),
			{request: "GET Makers?$select=id,name", want: `{"@odata.context":"~$metadata#Makers(id,name)","value":[{"id":1,"name":"Acme & Co"},{"id":2,"name":"Bolt"}]}`},
			inMultipart(changeSet(single("DELETE Parts('A') HTTP/1.1", "If-Match: *", ""), postPart("Parts", `{"code":"A","title":"T"}`), patchPart("Parts('A')", `{"title":"U"}`))).showing(`"title":"T","price":null`, `"title":"U","price":null`),
			inMultipart(changeSet(single("DELETE Parts('A') HTTP/1.1", "If-Match: *", ""), patchPart("Parts('A')", `{"title":"U"}`))).showing("HTTP/1.1 412 "),
			inMultipart(changeSet(patchPart("Makers(2)", `{"note":"a"}`), single("PATCH Makers(2) HTTP/1.1", jsonPart, `If-Match: W/"old"`, "", `{"note":"b"}`))).showing("HTTP/1.1 412 ", `"@Core.ContentID":"2"`),
			{request: "GET Makers(2)", has: []string{`"note":"second"`}},
		}},
		{"upserts", []step{
			inMultipart(changeSet(
				single("PUT Parts('A') HTTP/1.1", jsonPart, "If-Match: *", "", `{}`),
			)).showing("HTTP/1.1 400 "),
			inMultipart(changeSet(
				single("PATCH Parts('N') HTTP/1.1", jsonPart, "", `{"title":"new"}`), patchPart("$1", `{"stock":4}`), patchPart("Parts('N')", `{"kind":"ignored","price":2}`),
				single("PATCH Parts('A') HTTP/1.1", jsonPart, "", `{"title":"no tag"}`),
			)).showing("HTTP/1.1 428 ", `"@Core.ContentID":"4"`),
			inMultipart(changeSet(
				single("PATCH Parts('N') HTTP/1.1", jsonPart, "", `{"title":"new"}`), patchPart("$1", `{"stock":4}`), patchPart("Parts('N')", `{"kind":"ignored","price":2}`),
			)).showing("HTTP/1.1 201 ", "Location: ~Parts('N')\r\n", `"title":"new","price":2.0000,"stock":4,"kind":null`),
			inMultipart(changeSet(
				single("DELETE Parts('N') HTTP/1.1", "If-Match: *", ""), single("PATCH Parts('N') HTTP/1.1", jsonPart, "", `{"title":"again"}`),
			)).showing("HTTP/1.1 201 ", `"title":"again","price":null`),
		}},
		{"links below a new row", []step{
			inMultipart(changeSet(
				postPart("Makers", `{"name":"New"}`), single("POST $1/parts/$ref HTTP/1.1", jsonPart, "If-Match: *", "", `{"@odata.id":"Parts('A')"}`), single("DELETE $1/parts('A')/$ref HTTP/1.1", "If-Match: *", ""),
				patchPart("Parts('A')", `{"maker@odata.bind":"$1"}`), single("DELETE $1/parts/$ref?$id=Parts('A') HTTP/1.1", "If-Match: *", ""),
				single("PUT Parts('A')/maker/$ref HTTP/1.1", jsonPart, "If-Match: *", "", `{"@odata.id":"$1"}`), patchPart("$1/parts('A')", `{"title":"new"}`),
			)).showing("HTTP/1.1 201 ", `"title":"new"`, `"maker_id":4`),
			inMultipart(changeSet(
				single("POST Teams HTTP/1.1", jsonPart, "", `{"id":"A","name":"New","badges@odata.bind":["Badges('gold')"]}`), single("POST $1/badges HTTP/1.1", jsonPart, "", `{"code":"B","locked":false}`),
				single("DELETE $1/badges('gold')/$ref HTTP/1.1", ""),
			)).showing("HTTP/1.1 201 ", "HTTP/1.1 204 "),
			{request: "GET Teams('A')/badges?$select=code", has: []string{`"code":"B"`}},
		}},
	}
}

func judge(_ context.Context, _ odata.Caller, list []odata.Proposal) (odata.Verdict, error) {
	var v odata.Verdict
	for i, p := range list {
		var row struct{ Note any }
		if p.New != nil {
			if err := json.Unmarshal(p.New, &row); err != nil {
				return v, err
			}
		}
		switch row.Note {
		case "refuse me":
			v.Refused = append(v.Refused, odata.Objection{Change: i, Property: "note", Message: "No."})
		case "amend me":
			v.Amended = append(v.Amended, odata.Amendment{Change: i, Property: "note", Value: json.RawMessage(`"amended"`)})
		}
	}
	return v, nil
}
