package odatatest

import "slices"

// oneToOne are links to one whose foreign key the other row holds, in a column of which no two rows have the same value.
func oneToOne() []rule { return slices.Concat(oneToOneLinks(), oneToOneChanges()) }

func toEntity(id string) string { return `{"@odata.id":"` + id + `"}` }

// holderOf is a read of the foreign key of a row that one to one links.
func holderOf(row, holder string) step {
	return step{request: "GET " + row + "?$select=holder_id", has: []string{`"holder_id":` + holder}}
}

// oneToOneLinks are new entities with links, and requests to $ref.
func oneToOneLinks() []rule {
	wrong := []string{"If-Match", `W/"nope"`}
	return []rule{
		{"a new entity", []step{
			{request: "POST Holders", body: `{"id":"h4","name":"n"}`, status: 201},
			{
				request: "POST Holders", body: `{"id":"h5","name":"n","pass":{"text":"t"}}`, status: 201,
				want: `{"@odata.context":"~$metadata#Holders/$entity","id":"h5","name":"n","pass":{"id":5,"holder_id":"h5","text":"t"}}`,
			},
			{request: "POST Holders", body: `{"id":"h6","name":"n","pass@odata.bind":"Passes(2)","locker":{}}`, status: 201, has: []string{`"locker":{`, `"holder_id":"h6"`}},
			holderOf("Passes(2)", `"h6"`),
			{request: "POST Holders", body: `{"id":"h7","name":"n","profile":{"text":"t"}}`, status: 201, has: []string{`"profile":{"holder_id":"h7","text":"t"}`}},
			{request: "POST Holders", body: `{"id":"h8","name":"n","pass":null}`, status: 201, has: []string{`"pass":null`}},
			{request: "POST Holders?$expand=pass", body: `{"id":"h9","name":"n","pass@odata.bind":"Passes(1)"}`, status: 201, has: []string{`"pass":{`, `"id":1,"holder_id":"h9"`}},
			{request: "POST Holders", body: `{"id":"ha","name":"n","pass":{"text":"t","holder_id":"h1"}}`, status: 400, has: []string{`"target":"pass"`}},
			{request: "POST Holders", body: `{"id":"ha","name":"n","pass":{}}`, status: 422, has: []string{`"target":"pass/text"`}},
			{request: "POST Holders", body: `{"id":"ha","name":"n","pass":{"text":"locked"}}`, status: 403},
			{request: "POST Holders", body: `{"id":"ha","name":"n","pass@odata.bind":"Passes(99)"}`, status: 409, has: []string{`"code":"dead_link"`, `"target":"pass"`}},
			{request: "POST Holders", body: `{"id":"ha","name":"n","pass@odata.bind":"Passes(4)"}`, status: 403},
			{request: "POST Holders", body: `{"id":"ha","name":"n","pass":{"text":"t"},"pass@odata.bind":"Passes(2)"}`, status: 400},
			{request: "GET Holders('ha')", status: 404},
			{request: "POST Profiles", body: `{"text":"t","holder":{"id":"hb","name":"n","pass":{"text":"u"}}}`, status: 201, has: []string{`"holder_id":"hb"`, `"pass":{`}},
		}},
		{"a reference", []step{
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Passes(2)"), status: 428},
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Passes(2)"), header: wrong, status: 412},
			{request: "GET Passes(2)"},
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Passes(2)"), header: []string{"If-Match", "$tag"}, status: 204, want: "-"},
			holderOf("Passes(2)", `"h2"`),
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Passes(2)"), header: anyTag(), status: 204},
			holderOf("Passes(2)", `"h2"`),
			{request: "PUT Holders('h9')/pass/$ref", body: toEntity("Passes(2)"), header: anyTag(), status: 404},
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Holders('h1')"), header: anyTag(), status: 400},
			{request: "POST Holders('h2')/pass/$ref", body: toEntity("Passes(2)"), header: anyTag(), status: 405, has: []string{"Allow: GET, HEAD, PUT, DELETE"}},
			{request: "DELETE Holders('h2')/pass/$ref", status: 428},
			{request: "DELETE Holders('h2')/pass/$ref", header: wrong, status: 412},
			{request: "DELETE Holders('h2')/pass/$ref", header: anyTag(), status: 204, want: "-"},
			{request: "DELETE Holders('h2')/pass/$ref", header: anyTag(), status: 404},
			holderOf("Passes(2)", "null"),
		}},
		{"another one in its place", []step{
			{request: "PUT Holders('h1')/pass/$ref", body: toEntity("Passes(2)"), header: anyTag(), status: 204},
			holderOf("Passes(1)", "null"), holderOf("Passes(2)", `"h1"`),
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Holders('h1')/pass"), header: anyTag(), status: 204},
			holderOf("Passes(2)", `"h2"`),
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Holders('h2')/pass"), header: anyTag(), status: 204},
			holderOf("Passes(2)", `"h2"`),
		}},
	}
}

// oneToOneChanges are changes with links, their faults, and groups.
func oneToOneChanges() []rule {
	wrong := []string{"If-Match", `W/"nope"`}
	return []rule{
		{"in a change", []step{
			{request: "PATCH Holders('h1')", body: `{"name":"x","pass@odata.bind":"Passes(2)"}`, header: anyTag(), status: 200, has: []string{`"name":"x"`}},
			holderOf("Passes(1)", "null"), holderOf("Passes(2)", `"h1"`),
			{request: "PATCH Holders('h1')?$expand=pass", body: `{"pass@odata.bind":null}`, header: anyTag(), status: 200, has: []string{`"pass":null`}},
			holderOf("Passes(2)", "null"),
			{request: "PATCH Holders('h1')", body: `{"pass@odata.bind":null}`, header: anyTag(), status: 200},
			{request: "PATCH Holders('h1')?$expand=pass", body: `{"pass":{"@id":"Passes(1)"}}`, header: append(anyTag(), "OData-Version", "4.01"), status: 200, has: []string{`"pass":{`, `"id":1`}},
			{request: "PATCH Holders('h1')", body: `{"pass@odata.bind":"Passes(99)"}`, status: 428},
			{request: "PATCH Holders('h1')", body: `{"pass@odata.bind":"Passes(99)"}`, header: anyTag(), status: 409, has: []string{`"target":"pass"`}},
			{request: "PATCH Holders('h1')", body: `{"pass":{"text":"t"}}`, header: anyTag(), status: 400},
			holderOf("Passes(1)", `"h1"`),
			{request: "PATCH Holders('hn')", body: `{"name":"n","pass@odata.bind":"Passes(2)"}`, status: 201},
			holderOf("Passes(2)", `"hn"`),
		}},
		{"faults in their order", []step{
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Passes(99)"), status: 428},
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Passes(99)"), header: anyTag(), status: 409, has: []string{`"code":"dead_link"`, `"target":"pass"`}},
			{request: "PUT Holders('h1')/pass/$ref", body: toEntity("Passes(99)"), header: anyTag(), status: 409},
			{request: "PUT Holders('h2')/pass/$ref", body: toEntity("Passes(4)"), header: anyTag(), status: 403},
			{request: "PUT Holders('h1')/pass/$ref", body: toEntity("Passes(4)"), header: wrong, status: 412},
			{request: "PUT Holders('h3')/pass/$ref", body: toEntity("Passes(2)"), status: 428},
			{request: "PUT Holders('h3')/pass/$ref", body: toEntity("Passes(2)"), header: wrong, status: 412},
			{request: "PUT Holders('h3')/pass/$ref", body: toEntity("Passes(2)"), header: anyTag(), status: 403},
			{request: "DELETE Holders('h3')/pass/$ref", header: anyTag(), status: 403},
			holderOf("Passes(1)", `"h1"`), holderOf("Passes(2)", "null"),
		}},
		{"a key that cannot be null", []step{
			{request: "PUT Holders('h2')/locker/$ref", body: toEntity("Lockers(1)"), header: anyTag(), status: 204},
			holderOf("Lockers(1)", `"h2"`),
			{request: "PUT Holders('h2')/locker/$ref", body: toEntity("Lockers(1)"), header: anyTag(), status: 204},
			{request: "PUT Holders('h2')/locker/$ref", body: toEntity("Lockers(2)"), status: 428},
			{request: "PUT Holders('h2')/locker/$ref", body: toEntity("Lockers(2)"), header: anyTag(), status: 422, has: []string{`"target":"locker"`}},
			{request: "DELETE Holders('h2')/locker/$ref", header: anyTag(), status: 422, has: []string{`"target":"locker"`}},
			{request: "PATCH Holders('h2')", body: `{"locker@odata.bind":null}`, header: anyTag(), status: 422, has: []string{`"target":"locker"`}},
			{request: "PATCH Holders('h1')", body: `{"locker@odata.bind":null}`, header: anyTag(), status: 200},
			holderOf("Lockers(1)", `"h2"`), holderOf("Lockers(2)", `"h3"`),
		}},
		{"a key that is the other's key", []step{
			{request: "PUT Holders('h2')/profile/$ref", body: toEntity("Profiles('h1')"), header: anyTag(), status: 405, has: []string{"Allow: GET, HEAD"}},
			{request: "PATCH Holders('h2')", body: `{"profile@odata.bind":"Profiles('h1')"}`, header: anyTag(), status: 400, has: []string{`"target":"profile"`}},
			{request: "POST Holders", body: `{"id":"h4","name":"n","profile@odata.bind":"Profiles('h1')"}`, status: 400, has: []string{`"target":"profile"`}},
			{request: "PATCH Holders('h1')", body: `{"profile@odata.bind":null}`, header: anyTag(), status: 400, has: []string{`"target":"profile"`}},
		}},
		{"what the model says", []step{
			{request: "GET $metadata?$format=json", has: []string{ // databases add the ways of foreign keys
				`"locker","profile"]`, `"pass":{"$Kind":"NavigationProperty","$Type":"Test.Pass","$Nullable":true}`,
			}},
			{request: "GET openapi.json", has: []string{`"pass@odata.bind":{"type":"string"`, `"locker@odata.bind":{"type":"string"`}},
		}},
		{"in a group", []step{
			inMultipart(changeSet(
				single("POST Holders HTTP/1.1", jsonPart, "", `{"id":"h4","name":"n"}`),
				single("PUT $1/pass/$ref HTTP/1.1", jsonPart, "If-Match: *", "", toEntity("Passes(2)")),
				single("POST Passes HTTP/1.1", jsonPart, "", `{"text":"new"}`),
				single("PATCH Holders('h1') HTTP/1.1", jsonPart, "If-Match: *", "", `{"pass@odata.bind":"$3"}`),
			)).showing("HTTP/1.1 201 ", "HTTP/1.1 204 "),
			holderOf("Passes(2)", `"h4"`), holderOf("Passes(1)", "null"), holderOf("Passes(5)", `"h1"`),
		}},
		{"in a group that changes the released row", []step{
			inMultipart(changeSet(
				single("PATCH Passes(1) HTTP/1.1", jsonPart, "If-Match: *", "", `{"text":"changed"}`),
				single("PUT Holders('h1')/pass/$ref HTTP/1.1", jsonPart, "If-Match: *", "", toEntity("Passes(2)")),
			)).showing("HTTP/1.1 200 ", "HTTP/1.1 204 "),
			holderOf("Passes(1)", "null"), holderOf("Passes(2)", `"h1"`),
		}},
		{"in a group that moves the link", []step{
			inMultipart(changeSet(
				single("POST Holders HTTP/1.1", jsonPart, "", `{"id":"h4","name":"n"}`),
				single("PUT $1/pass/$ref HTTP/1.1", jsonPart, "If-Match: *", "", toEntity("Passes(1)")),
				single("PATCH Holders('h1') HTTP/1.1", jsonPart, "If-Match: *", "", `{"pass@odata.bind":"Passes(2)"}`),
			)).showing("HTTP/1.1 201 ", "HTTP/1.1 204 ").unlessJudged(),
		}},
	}
}
